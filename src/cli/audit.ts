import { type Command, InvalidArgumentError } from 'commander'
import type { AuditHead } from '../domain/audit.ts'
import { toTimestamp } from '../domain/clock.ts'
import {
  type AuditEntry,
  type AuditFilter,
  entryToWire,
  readAudit,
  verifyAudit,
} from '../flows/read-audit.ts'
import { faint, MARKS, print, printJson, table } from './print.ts'
import { CommandFailure, type CommonOptions, jsonOption, projectOption, type Shell } from './shell.ts'
import { withBroker } from './with-broker.ts'

interface ListOptions extends CommonOptions {
  readonly user?: string
  readonly provider?: string
  readonly action?: string
  readonly tool?: string
  readonly key?: string
  readonly since?: number
  readonly until?: number
  readonly after?: number
  readonly limit?: number
}

export function addAudit(program: Command, shell: Shell): void {
  const audit = program
    .command('audit')
    .description('the audit trail: list, export, verify')
    .addHelpText('after', EXAMPLES)

  withFilter(audit.command('list').description('show the newest entries'))
    .option('--limit <n>', 'how many', parseCount, 50)
    .addOption(projectOption())
    .addOption(jsonOption())
    .addHelpText('after', EXAMPLES)
    .action(async (options: ListOptions) =>
      withBroker(shell, options, async ({ broker, project }) => {
        const entries: AuditEntry[] = []
        for await (const entry of readAudit(broker, project.id, toFilter(options), 'newest first')) {
          entries.push(entry)
          if (entries.length >= (options.limit ?? 50)) break
        }
        if (options.json) return printJson({ items: entries.map(entryToWire) })
        if (entries.length === 0) return print('Nothing was recorded.')
        const rows = entries.map((entry) => [
          String(entry.seq),
          toTimestamp(entry.at).replace('.000Z', 'Z'),
          entry.action,
          [entry.actor.kind, entry.actor.id].filter(Boolean).join(' '),
          aboutOf(entry),
        ])
        print(table(['#', 'at', 'action', 'by', 'about'], rows))
      }),
    )

  withFilter(audit.command('export').description('print entries as JSON lines, oldest first'))
    .option('--after <seq>', 'only entries after this number: where the last export ended', parseCount)
    .addOption(projectOption())
    .addHelpText('after', EXAMPLES)
    .action(async (options: ListOptions) =>
      withBroker(shell, options, async ({ broker, project }) => {
        for await (const entry of readAudit(broker, project.id, toFilter(options), 'oldest first'))
          print(JSON.stringify(entryToWire(entry)))
      }),
    )

  audit
    .command('verify')
    .description('check that nothing in the trail was altered, left out or cut off')
    .option(
      '--head <seq:hash>',
      'where the chain ended at an earlier time, as this command printed it',
      parseHead,
    )
    .option('--all', 'all projects, not only that of --project')
    .addOption(projectOption())
    .addOption(jsonOption())
    .addHelpText('after', EXAMPLES)
    .action(async (options: CommonOptions & { head?: AuditHead; all?: true }) =>
      withBroker(shell, options, async ({ broker, project }) => {
        const projects = options.all ? await broker.store.projects.list() : [project]
        const verdicts = await Promise.all(
          projects.map(async ({ id, name }) => ({ name, ...(await verifyAudit(broker, id, options.head)) })),
        )
        if (options.json)
          printJson({
            items: verdicts.map(({ name, entries, head, faults }) => ({
              project: name,
              entries,
              ...(head && { head: `${head.lastSeq}:${head.hash}` }),
              faults,
            })),
          })
        else
          for (const { name, entries, head, faults } of verdicts) {
            const end = head ? faint(`  head ${head.lastSeq}:${head.hash}`) : ''
            if (faults.length === 0) print(`${MARKS.ok} ${name}: ${entries} entries, none altered.${end}`)
            else print([`${MARKS.failed} ${name}:`, ...faults.map((fault) => `    ${fault}`)].join('\n'))
          }
        const broken = verdicts.filter(({ faults }) => faults.length > 0).map(({ name }) => name)
        if (broken.length > 0)
          throw new CommandFailure(`The audit trail of ${broken.join(', ')} is not what was recorded.`)
      }),
    )
}

function withFilter(command: Command): Command {
  return command
    .option('--user <id>', 'only of this user')
    .option('--provider <id>', 'only of this provider')
    .option('--action <action>', 'only this action, such as token.released')
    .option('--tool <id>', 'only for this tool')
    .option('--key <id>', 'only by this API key')
    .option('--since <time>', 'only from then on, such as 2026-11-21 or 2026-11-21T08:00:00Z', parseTime)
    .option('--until <time>', 'only until then', parseTime)
}

function toFilter({ user, provider, action, tool, key, since, until, after }: ListOptions): AuditFilter {
  return {
    ...(user !== undefined && { userId: user }),
    ...(provider !== undefined && { providerId: provider }),
    ...(action !== undefined && { action }),
    ...(tool !== undefined && { tool }),
    ...(key !== undefined && { actorId: key }),
    ...(since !== undefined && { since }),
    ...(until !== undefined && { until }),
    ...(after !== undefined && { after }),
  }
}

function aboutOf({ user_id, provider_id, tool, subject, reason }: AuditEntry): string {
  return [user_id, provider_id, tool, subject, reason].filter(Boolean).join(', ')
}

function parseTime(text: string): number {
  const at = Date.parse(text)
  if (Number.isNaN(at)) throw new InvalidArgumentError('Write a time such as 2026-11-21T08:00:00Z.')
  return Math.floor(at / 1000)
}

function parseCount(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('Write a whole number.')
  return Number(text)
}

function parseHead(text: string): AuditHead {
  const [, lastSeq, hash] = /^(\d{1,15}):([\w-]{43})$/.exec(text) ?? []
  if (lastSeq === undefined || hash === undefined)
    throw new InvalidArgumentError('Write it as `gatepass audit verify` printed it: <number>:<hash>.')
  return { lastSeq: Number(lastSeq), hash }
}

const EXAMPLES = `
Examples:
  $ gatepass audit list --user ada --action token.released
  $ gatepass audit export --since 2026-11-01 > november.jsonl
  $ gatepass audit verify --head 1042:6mYvT0cVb2Zc0X6zBqk2sVw5f3W4Q1p8u9r7t6y5e4w`
