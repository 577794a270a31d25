import { type Command, InvalidArgumentError, Option } from 'commander'
import { type ApiKey, isExpired, issueApiKey, ROLES, type Role, successor } from '../domain/api-key.ts'
import { type EpochSeconds, toTimestamp } from '../domain/clock.ts'
import { faint, MARKS, print, printJson, strong, table } from './print.ts'
import { CommandFailure, type CommonOptions, jsonOption, projectOption, type Shell } from './shell.ts'
import { withBroker } from './with-broker.ts'

interface CreateOptions extends CommonOptions {
  readonly role: Role
  readonly name: string
  /** Seconds. */
  readonly expires?: number
  readonly rateLimit?: number
}

interface RotateOptions extends CommonOptions {
  /** Seconds. */
  readonly grace: number
}

export function addKeys(program: Command, shell: Shell): void {
  const keys = program
    .command('keys')
    .description('API keys: create, list, rotate, revoke')
    .addHelpText('after', EXAMPLES)

  keys
    .command('create')
    .description('make an API key, shown this once; a project that is not there is made with it')
    .addOption(projectOption())
    .addOption(
      new Option('--role <role>', 'admin may do everything, caller uses tools and tokens, readonly looks')
        .choices(ROLES)
        .makeOptionMandatory(),
    )
    .option('--name <name>', 'what it is for, to know it by later', parseName, '')
    .option(
      '--expires <time>',
      'refused from then on, such as 12h or 90d; without, it never expires',
      parseTime,
    )
    .option(
      '--rate-limit <n>',
      'requests a second, in place of GATEPASS_RATE_LIMIT; 0 is any number',
      parseRate,
    )
    .addOption(jsonOption())
    .addHelpText('after', CREATE_EXAMPLES)
    .action(async (options: CreateOptions) =>
      withBroker(shell, { ...options, makes: 'project' }, async ({ broker, project }) => {
        const { role, name, expires, rateLimit } = options
        const createdAt = broker.now()
        const { key, record } = issueApiKey({
          projectId: project.id,
          name,
          role,
          createdAt,
          ...(expires !== undefined && { expiresAt: createdAt + expires }),
          ...(rateLimit !== undefined && { rateLimit }),
        })
        await broker.store.apiKeys.add(
          record,
          broker.audit.of(project.id, { action: 'key.created', subject: record.id }),
        )
        const { id } = record
        if (options.json) return printJson({ id, key, project: project.name, role, ...limitsOf(record) })
        print(`\n  ${strong(key)}\n`)
        print(`This is its only showing: keep it now. (${id}, ${role} of the project "${project.name}")`)
      }),
    )

  keys
    .command('list')
    .description('list API keys, never the keys themselves')
    .addOption(projectOption())
    .addOption(jsonOption())
    .addHelpText('after', LIST_EXAMPLES)
    .action(async (options: CommonOptions) =>
      withBroker(shell, options, async ({ broker, project }) => {
        const found = await broker.store.apiKeys.list(project.id)
        if (options.json) return printJson({ items: found.map((one) => toWire(one, project.name)) })
        if (found.length === 0) return print('No API keys.')
        const rows = found.map((one) => [
          one.id,
          project.name,
          one.role,
          statusOf(one, broker.now()),
          day(one.createdAt),
          one.lastUsedAt === undefined ? 'never' : day(one.lastUsedAt),
          one.rateLimit === undefined ? '' : one.rateLimit === 0 ? 'none' : `${one.rateLimit}/s`,
          one.name,
        ])
        print(table(['id', 'project', 'role', 'status', 'created', 'last used', 'limit', 'name'], rows))
      }),
    )

  keys
    .command('rotate')
    .description('make a key that takes the place of another; both are good until the old one ends')
    .argument('<id>', "the old key's id, as keys list shows it")
    .addOption(projectOption())
    .option('--grace <time>', 'how long the old key stays good, such as 30m or 7d', parseTime, DAY)
    .addOption(jsonOption())
    .addHelpText('after', ROTATE_EXAMPLES)
    .action(async (id: string, options: RotateOptions) =>
      withBroker(shell, options, async ({ broker, project }) => {
        const { apiKeys } = broker.store
        const now = broker.now()
        const old = (await apiKeys.list(project.id)).find((one) => one.id === id)
        if (old === undefined || old.revokedAt !== undefined || isExpired(old, now))
          throw new CommandFailure(
            `There is no live API key "${id}" in the project "${project.name}". \`gatepass keys list\` shows those there are.`,
          )
        const { key, record } = successor(old, now)
        const end = Math.min(old.expiresAt ?? Number.POSITIVE_INFINITY, now + options.grace)
        const entries = broker.audit.of(project.id, { action: 'key.rotated', subject: id })
        if (!(await apiKeys.rotate(old, end, record, entries)))
          throw new CommandFailure(
            `"${id}" was rotated already: ${old.replacedBy ?? 'another key'} takes its place. Rotate that one.`,
          )
        if (options.json)
          return printJson({
            id: record.id,
            key,
            project: project.name,
            role: record.role,
            ...limitsOf(record),
            replaces: { id, expires_at: toTimestamp(end) },
          })
        print(`\n  ${strong(key)}\n`)
        print(`This is its only showing: keep it now. (${record.id})`)
        print(`${id} stays good until ${toTimestamp(end)}: give the new key to all who use the old one.`)
      }),
    )

  keys
    .command('revoke')
    .description('revoke an API key: it is refused from now on')
    .argument('<id>', "the key's id, as keys list shows it")
    .addOption(projectOption())
    .addOption(jsonOption())
    .addHelpText('after', REVOKE_EXAMPLES)
    .action(async (id: string, options: CommonOptions) =>
      withBroker(shell, options, async ({ broker, project }) => {
        const entries = broker.audit.of(project.id, { action: 'key.revoked', subject: id })
        if (!(await broker.store.apiKeys.revoke(project.id, id, broker.now(), entries)))
          throw new CommandFailure(
            `There is no unrevoked API key "${id}" in the project "${project.name}". \`gatepass keys list\` shows those there are.`,
          )
        if (options.json) return printJson({ id, revoked: true })
        print(`${MARKS.ok} ${id} is revoked. ${faint('Requests with it answer 401 from now on.')}`)
      }),
    )
}

function toWire(key: ApiKey, project: string) {
  const { id, name, role, createdAt, lastUsedAt, revokedAt, replacedBy } = key
  return {
    id,
    name,
    project,
    role,
    created_at: toTimestamp(createdAt),
    ...limitsOf(key),
    ...(lastUsedAt !== undefined && { last_used_at: toTimestamp(lastUsedAt) }),
    ...(replacedBy !== undefined && { replaced_by: replacedBy }),
    ...(revokedAt !== undefined && { revoked_at: toTimestamp(revokedAt) }),
  }
}

function limitsOf({ expiresAt, rateLimit }: ApiKey) {
  return {
    ...(expiresAt !== undefined && { expires_at: toTimestamp(expiresAt) }),
    ...(rateLimit !== undefined && { rate_limit: rateLimit }),
  }
}

function statusOf(key: ApiKey, now: EpochSeconds): string {
  const { revokedAt, expiresAt } = key
  if (revokedAt !== undefined) return `revoked ${day(revokedAt)}`
  if (expiresAt === undefined) return 'active'
  return `${isExpired(key, now) ? 'expired' : 'until'} ${day(expiresAt)}`
}

const DAY = 24 * 3600
const UNITS = { s: 1, m: 60, h: 3600, d: DAY, w: 7 * DAY } as const

/** Seconds, out of `30m`, `24h`, `90d`. */
function parseTime(text: string): number {
  const [, amount = '', unit = ''] = /^(\d{1,9})([smhdw])$/.exec(text) ?? []
  const seconds = Number(amount) * (UNITS[unit as keyof typeof UNITS] ?? Number.NaN) // the pattern has only these
  if (amount === '' || seconds > 100 * 365 * DAY)
    throw new InvalidArgumentError('Say a number and a unit (s, m, h, d, w), such as 12h or 90d.')
  return seconds
}

function parseName(text: string): string {
  if (text.length > 200 || !text.isWellFormed() || /\p{Cc}/u.test(text))
    throw new InvalidArgumentError('Say a name of at most 200 characters, none of them control characters.')
  return text
}

function parseRate(text: string): number {
  if (!/^\d{1,7}$/.test(text) || Number(text) > 1_000_000)
    throw new InvalidArgumentError(
      'Say a whole number of requests a second, at most 1000000; 0 is any number.',
    )
  return Number(text)
}

function day(at: EpochSeconds): string {
  return toTimestamp(at).slice(0, 10)
}

const EXAMPLES = `
Examples:
  $ gatepass keys create --role caller --name "the support agent"
  $ gatepass keys create --project acme --role admin --json
  $ gatepass keys list
  $ gatepass keys rotate key_0199d1c2a5b37c53b6a1f2e0d4c3b2a1 --grace 7d
  $ gatepass keys revoke key_0199d1c2a5b37c53b6a1f2e0d4c3b2a1`

const CREATE_EXAMPLES = `
Examples:
  $ gatepass keys create --role caller --name "the support agent"
  $ gatepass keys create --project acme --role admin --json
  $ gatepass keys create --role readonly --expires 90d --rate-limit 20 --name "the status page"`

const ROTATE_EXAMPLES = `
Examples:
  $ gatepass keys rotate key_0199d1c2a5b37c53b6a1f2e0d4c3b2a1
  $ gatepass keys rotate key_0199d1c2a5b37c53b6a1f2e0d4c3b2a1 --grace 7d --json`

const LIST_EXAMPLES = `
Examples:
  $ gatepass keys list
  $ gatepass keys list --project acme --json`

const REVOKE_EXAMPLES = `
Examples:
  $ gatepass keys revoke key_0199d1c2a5b37c53b6a1f2e0d4c3b2a1
  $ gatepass keys revoke key_0199d1c2a5b37c53b6a1f2e0d4c3b2a1 --project acme`
