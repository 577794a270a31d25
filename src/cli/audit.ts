import type { Command } from 'commander'
import { omitted } from '../operations/omitted.ts'
import type { AuditEntry, Operations } from '../sdk/generated/wire.ts'
import { type Api, withApi } from './api.ts'
import { defineVerify } from './audit-verify.ts'
import { inputFlags } from './input-flags.ts'
import { outputTable } from './output-table.ts'
import { isOutputClosed, print, printJson } from './print.ts'
import { type CommonOptions, parseWholeNumber, type Shell, withCommonOptions } from './shell.ts'

const FILTER = {
  user_id: { flags: '--user <id>', help: 'only for this user' },
  provider_id: { flags: '--provider <id>', help: 'only for this provider' },
  connection_id: { flags: '--connection <id>', help: 'only for this connection' },
  action: { flags: '--action <action>', help: 'only this action, for example token.released' },
  tool: { flags: '--tool <id>', help: 'only for this tool' },
  subject: {
    flags: '--subject <id>',
    help: 'only for this subject, such as a worker, a policy, or a secret',
  },
  actor_id: { flags: '--actor <id>', help: 'only by this API key' },
  since: {
    flags: '--since <time>',
    help: 'only from this time on, for example 2026-11-21 or 2026-11-21T08:00:00Z',
  },
  until: { flags: '--until <time>', help: 'only until this time' },
} as const
const LIST = inputFlags('listAuditEntries', { ...FILTER, before: false })
const EXPORT = inputFlags('exportAuditEntries', {
  ...FILTER,
  after: {
    flags: '--after <seq>',
    help: 'only entries after this number, such as the last one of an earlier export',
  },
})

const ENTRIES = outputTable('listAuditEntries', {
  seq: '#',
  at: ['at', ({ at }) => at.replace('.000Z', 'Z')],
  action: 'action',
  actor: ['by', ({ actor: { kind, id, client } }) => [kind, id, client].filter(Boolean).join(' ')],
  subject: ['about', aboutOf],
  // in what it is about
  ...omitted('user_id', 'provider_id', 'tool', 'reason', 'connection_id', 'authorization_id', 'scopes'),
  ...omitted('detail', 'fingerprint', 'purpose', 'request_id'),
})

interface ListOptions extends CommonOptions {
  readonly limit?: number
}

/** The limit of the API for one page. */
const MAX_PAGE_ENTRIES = 1000

export function defineAudit(audit: Command, shell: Shell): void {
  audit.addHelpText('after', EXAMPLES)

  LIST.addTo(withCommonOptions(audit.command('list').description('show the newest entries')))
    .option('--limit <n>', 'how many', parseWholeNumber, 50)
    .addHelpText('after', EXAMPLES)
    .action(async (options: ListOptions) =>
      withApi(shell, options, async (api) => {
        const items = await newestEntries(api, options)
        if (options.json) return printJson({ items })
        if (items.length === 0) return print('No entries.')
        print(ENTRIES(items))
      }),
    )

  EXPORT.addTo(
    withCommonOptions(audit.command('export').description('print entries as JSON lines, oldest first')),
  )
    .addHelpText('after', EXAMPLES)
    .action(async (options: CommonOptions) =>
      withApi(shell, options, async (api) => {
        const query = EXPORT.read(options)
        for await (const line of api.linesOf('exportAuditEntries', { query })) {
          print(line)
          if (isOutputClosed()) return
        }
      }),
    )

  defineVerify(audit, shell)
}

async function newestEntries(api: Api, options: ListOptions): Promise<AuditEntry[]> {
  const { limit = 50 } = options
  const items: AuditEntry[] = []
  let before: number | undefined
  do {
    const query = { ...LIST.read(options), before, limit: Math.min(MAX_PAGE_ENTRIES, limit - items.length) }
    const page: Operations['listAuditEntries']['answer'] = await api.call('listAuditEntries', { query })
    items.push(...page.items)
    before = page.next_before
  } while (before !== undefined && items.length < limit)
  return items
}

function aboutOf({ user_id, provider_id, tool, subject, reason }: AuditEntry): string {
  return [user_id, provider_id, tool, subject, reason].filter(Boolean).join(', ')
}

const EXAMPLES = `
Examples:
  $ gatepass audit list --user ada --action token.released
  $ gatepass audit export --since 2026-11-01 > november.jsonl
  $ gatepass audit verify --head 1042:6mYvT0cVb2Zc0X6zBqk2sVw5f3W4Q1p8u9r7t6y5e4w`
