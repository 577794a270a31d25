import { type Command, Option } from 'commander'
import { type ApiKey, issueApiKey, ROLES, type Role } from '../domain/api-key.ts'
import { type EpochSeconds, toTimestamp } from '../domain/clock.ts'
import { faint, MARKS, print, printJson, strong, table } from './print.ts'
import { CommandFailure, type CommonOptions, jsonOption, projectOption, type Shell } from './shell.ts'
import { withBroker } from './with-broker.ts'

interface CreateOptions extends CommonOptions {
  readonly role: Role
  readonly name: string
}

export function addKeys(program: Command, shell: Shell): void {
  const keys = program
    .command('keys')
    .description('API keys: create, list, revoke')
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
    .option('--name <name>', 'what it is for, to know it by later', '')
    .addOption(jsonOption())
    .addHelpText('after', CREATE_EXAMPLES)
    .action(async (options: CreateOptions) =>
      withBroker(shell, { ...options, makes: 'project' }, async ({ broker, project }) => {
        const { role, name } = options
        const { key, record } = issueApiKey({ projectId: project.id, name, role, createdAt: broker.now() })
        await broker.store.apiKeys.add(record)
        if (options.json) return printJson({ id: record.id, key, project: project.name, role })
        print(`\n  ${strong(key)}\n`)
        print(
          `This is its only showing: keep it now. (${record.id}, ${role} of the project "${project.name}")`,
        )
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
        if (options.json) return printJson({ items: found.map(toWire) })
        if (found.length === 0) return print('No API keys.')
        const rows = found.map((one) => [
          one.id,
          one.role,
          one.revokedAt === undefined ? 'active' : `revoked ${day(one.revokedAt)}`,
          day(one.createdAt),
          one.lastUsedAt === undefined ? 'never' : day(one.lastUsedAt),
          one.name,
        ])
        print(table(['id', 'role', 'status', 'created', 'last used', 'name'], rows))
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
        if (!(await broker.store.apiKeys.revoke(project.id, id, broker.now())))
          throw new CommandFailure(
            `There is no unrevoked API key "${id}" in the project "${project.name}". \`gatepass keys list\` shows those there are.`,
          )
        if (options.json) return printJson({ id, revoked: true })
        print(`${MARKS.ok} ${id} is revoked. ${faint('Requests with it answer 401 from now on.')}`)
      }),
    )
}

function toWire({ id, name, role, createdAt, lastUsedAt, revokedAt }: ApiKey) {
  return {
    id,
    name,
    role,
    created_at: toTimestamp(createdAt),
    ...(lastUsedAt !== undefined && { last_used_at: toTimestamp(lastUsedAt) }),
    ...(revokedAt !== undefined && { revoked_at: toTimestamp(revokedAt) }),
  }
}

function day(at: EpochSeconds): string {
  return toTimestamp(at).slice(0, 10)
}

const EXAMPLES = `
Examples:
  $ gatepass keys create --role caller --name "the support agent"
  $ gatepass keys create --project acme --role admin --json
  $ gatepass keys list
  $ gatepass keys revoke key_0199d1c2a5b37c53b6a1f2e0d4c3b2a1`

const CREATE_EXAMPLES = `
Examples:
  $ gatepass keys create --role caller --name "the support agent"
  $ gatepass keys create --project acme --role admin --json`

const LIST_EXAMPLES = `
Examples:
  $ gatepass keys list
  $ gatepass keys list --project acme --json`

const REVOKE_EXAMPLES = `
Examples:
  $ gatepass keys revoke key_0199d1c2a5b37c53b6a1f2e0d4c3b2a1
  $ gatepass keys revoke key_0199d1c2a5b37c53b6a1f2e0d4c3b2a1 --project acme`
