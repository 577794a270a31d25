import { type Command, InvalidArgumentError } from 'commander'
import type { AuditHead } from '../domain/audit.ts'
import { type Api, type Query, serverOf, withApi } from './api.ts'
import { CommandFailure, EXIT } from './failure.ts'
import { dim, isOutputClosed, MARKS, print, printJson, table } from './print.ts'
import {
  type CommonOptions,
  jsonOption,
  parseId,
  parseWholeNumber,
  projectOption,
  type Shell,
  withCommonOptions,
} from './shell.ts'

interface ListOptions extends CommonOptions {
  readonly user?: string
  readonly provider?: string
  readonly connection?: string
  readonly subject?: string
  readonly action?: string
  readonly tool?: string
  readonly actor?: string
  readonly since?: string
  readonly until?: string
  readonly after?: number
  readonly limit?: number
}

interface EntryWire {
  readonly seq: number
  readonly at: string
  readonly action: string
  readonly actor: { readonly kind: string; readonly id?: string; readonly client?: string }
  readonly user_id?: string
  readonly provider_id?: string
  readonly tool?: string
  readonly subject?: string
  readonly reason?: string
}

const PATH = '/v1/admin/audit'
/** The largest page of the API. */
const PAGE = 1000

export function defineAudit(audit: Command, shell: Shell): void {
  audit.addHelpText('after', EXAMPLES)

  withFilter(withCommonOptions(audit.command('list').description('show the newest entries')))
    .option('--limit <n>', 'how many', parseWholeNumber, 50)
    .addHelpText('after', EXAMPLES)
    .action(async (options: ListOptions) =>
      withApi(shell, options, async (api) => {
        const items = await newestEntries(api, options)
        if (options.json) return printJson({ items })
        if (items.length === 0) return print('No entries.')
        const rows = items.map((entry) => [
          String(entry.seq),
          entry.at.replace('.000Z', 'Z'),
          entry.action,
          [entry.actor.kind, entry.actor.id, entry.actor.client].filter(Boolean).join(' '),
          aboutOf(entry),
        ])
        print(table(['#', 'at', 'action', 'by', 'about'], rows))
      }),
    )

  withFilter(
    withCommonOptions(audit.command('export').description('print entries as JSON lines, oldest first')),
  )
    .option(
      '--after <seq>',
      'only entries after this number, such as the last one of an earlier export',
      parseWholeNumber,
    )
    .addHelpText('after', EXAMPLES)
    .action(async (options: ListOptions) =>
      withApi(shell, options, async (api) => {
        const query = { ...toQuery(options), after: options.after }
        for await (const line of api.lines(`${PATH}/export`, query)) {
          print(line)
          if (isOutputClosed()) return
        }
      }),
    )

  defineReindex(audit, shell)

  audit
    .command('verify')
    .description('check that no entry of the trail was altered, removed or cut off')
    .option(
      '--head <seq:hash>',
      'the head of the chain at an earlier time, as this command printed it',
      parseHead,
    )
    .option('--index', 'check too that the search index has every entry')
    .option('--all', 'all projects, not only that of --project')
    .addOption(projectOption())
    .addOption(jsonOption())
    .addHelpText('after', EXAMPLES)
    .action(async (options: CommonOptions & { head?: AuditHead; index?: true; all?: true }) => {
      refuseServer(shell, options, 'audit verify checks')
      const [{ withBroker }, { verifyAudit }, { verifyIndex }, { findAlteredRows, nameOfRow }] =
        await Promise.all([
          import('./with-broker.ts'),
          import('../flows/audit/verify-audit.ts'),
          import('../flows/audit/verify-index.ts'),
          import('../services/altered-rows.ts'),
        ])
      return withBroker(shell, options, async ({ broker, project }) => {
        const projects = options.all ? await broker.store.projects.list() : [project]
        const verdicts = await Promise.all(
          projects.map(async ({ id, name }) => ({
            id,
            name,
            ...(await verifyAudit(broker, id, options.head)),
            ...(options.index && { index: await verifyIndex(broker, id) }),
          })),
        )
        const altered = await findAlteredRows(broker)
        const rowsOf = (id: string) => altered.filter(({ projectId }) => projectId === id).map(nameOfRow)
        if (options.json)
          printJson({
            items: verdicts.map(({ id, name, entries, head, faults, index }) => ({
              project: name,
              entries,
              ...(head && { head: `${head.lastSeq}:${head.hash}` }),
              faults,
              ...(index && { index_faults: index }),
              altered_rows: rowsOf(id),
            })),
          })
        else
          for (const { id, name, entries, head, faults, index = [] } of verdicts) {
            const end = head ? dim(`  head ${head.lastSeq}:${head.hash}`) : ''
            if (faults.length === 0) print(`${MARKS.ok} ${name}: ${entries} entries, none altered.${end}`)
            else print([`${MARKS.failed} ${name}:`, ...faults.map((fault) => `    ${fault}`)].join('\n'))
            for (const fault of index) print(`${MARKS.failed} ${name}: ${fault}.`)
            for (const row of rowsOf(id))
              print(
                `${MARKS.failed} ${name}: ${row} was written by another program than Gatepass, and is ignored.`,
              )
          }
        const broken = verdicts.filter(({ faults }) => faults.length > 0).map(({ name }) => name)
        if (broken.length > 0)
          throw new CommandFailure(
            `The audit trail of ${broken.join(', ')} does not match what was recorded.`,
          )
        if (verdicts.some(({ index = [] }) => index.length > 0))
          throw new CommandFailure(
            'Searches of the audit trail may miss entries: make the index again with `gatepass audit reindex`.',
          )
        if (projects.some(({ id }) => rowsOf(id).length > 0))
          throw new CommandFailure('Rows that grant access were written by another program than Gatepass.')
      })
    })
}

function defineReindex(audit: Command, shell: Shell): void {
  audit
    .command('reindex')
    .description('make the search index again from the trail; searches are slower until it is done')
    .addOption(projectOption())
    .addOption(jsonOption())
    .action(async (options: CommonOptions) => {
      refuseServer(shell, options, 'audit reindex reads')
      const [{ withBroker }, { remakeIndex }] = await Promise.all([
        import('./with-broker.ts'),
        import('../flows/audit/verify-index.ts'),
      ])
      return withBroker(shell, options, async ({ broker, project }) => {
        await remakeIndex(broker, project.id)
        if (options.json) printJson({ project: project.name })
        else print(`${MARKS.ok} ${project.name}: the search index was made again.`)
      })
    })
}

function refuseServer(shell: Shell, options: CommonOptions, what: string): void {
  if (serverOf(shell, options) !== undefined)
    throw new CommandFailure(
      `${what} the database itself, not what a server says of it: run it where the database is, without GATEPASS_URL.`,
      EXIT.usage,
    )
}

async function newestEntries(api: Api, options: ListOptions): Promise<EntryWire[]> {
  const { limit = 50 } = options
  const items: EntryWire[] = []
  let before: number | undefined
  do {
    const query = { ...toQuery(options), before, limit: Math.min(PAGE, limit - items.length) }
    const page: { readonly items: readonly EntryWire[]; readonly next_before?: number } = await api.send(
      'GET',
      PATH,
      { query },
    )
    items.push(...page.items)
    before = page.next_before
  } while (before !== undefined && items.length < limit)
  return items
}

function withFilter(command: Command): Command {
  return command
    .option('--user <id>', 'only of this user', parseId)
    .option('--provider <id>', 'only of this provider', parseId)
    .option('--connection <id>', 'only of this connection', parseId)
    .option('--subject <id>', 'only of this subject, such as a worker, a policy or a secret', parseId)
    .option('--action <action>', 'only this action, such as token.released', parseId)
    .option('--tool <id>', 'only for this tool', parseId)
    .option('--actor <id>', 'only by this API key', parseId)
    .option('--since <time>', 'only from this time on, such as 2026-11-21 or 2026-11-21T08:00:00Z', parseTime)
    .option('--until <time>', 'only until this time', parseTime)
}

function toQuery(options: ListOptions): Query {
  const { user, provider, connection, subject, action, tool, actor, since, until } = options
  return {
    user_id: user,
    provider_id: provider,
    connection_id: connection,
    subject,
    action,
    tool,
    actor_id: actor,
    since,
    until,
  }
}

function aboutOf({ user_id, provider_id, tool, subject, reason }: EntryWire): string {
  return [user_id, provider_id, tool, subject, reason].filter(Boolean).join(', ')
}

function parseTime(text: string): string {
  const at = Date.parse(text)
  if (Number.isNaN(at)) throw new InvalidArgumentError('Write a time such as 2026-11-21T08:00:00Z.')
  return new Date(at).toISOString()
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
