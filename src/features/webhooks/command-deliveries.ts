import type { Command } from 'commander'
import { withApi } from '../../cli/api.ts'
import { CommandFailure } from '../../cli/failure.ts'
import { inputFlags } from '../../cli/input-flags.ts'
import { MARKS, print, printJson, sanitize, table, toMinute } from '../../cli/print.ts'
import {
  type CommonOptions,
  parseId,
  parseWholeNumber,
  type Shell,
  withCommonOptions,
} from '../../cli/shell.ts'
import { typesFlag } from './command-options.ts'

const DELIVERIES = inputFlags('listWebhookDeliveries', {
  state: { flags: '--state <state>', help: 'only deliveries in this state' },
})
const REPLAY = inputFlags('replayWebhook', {
  since: { flags: '--since <time>', help: 'from this time on (default: 14 days ago)' },
  until: { flags: '--until <time>', help: 'up to this time (default: now)' },
  types: typesFlag(undefined),
})

interface DeliveriesOptions extends CommonOptions {
  readonly limit: number
}

/** Defines the commands `test`, `deliveries` and `replay`. */
export function defineDeliveries(webhooks: Command, shell: Shell): void {
  withCommonOptions(
    webhooks
      .command('test')
      .description('send a test event now and show what the receiver answers')
      .argument('<id>', 'as webhooks list shows it', parseId),
  )
    .addHelpText('after', TEST_EXAMPLES)
    .action(async (id: string, options: CommonOptions) =>
      withApi(shell, options, async (api) => {
        const result = await api.call('testWebhook', { params: { id } })
        if (options.json) printJson(result)
        if (result.delivered) {
          if (!options.json) print(`${MARKS.ok} The receiver answered ${result.status}.`)
          return
        }
        throw new CommandFailure(
          result.status === undefined
            ? `No answer: ${sanitize(result.error ?? 'unknown')}.`
            : `The receiver answered ${result.status}; only 2xx counts as delivered.`,
        )
      }),
    )

  DELIVERIES.addTo(
    withCommonOptions(
      webhooks
        .command('deliveries')
        .description('list what was sent to a webhook in the last 14 days, newest first')
        .argument('<id>', 'as webhooks list shows it', parseId),
    ),
  )
    .option('--limit <n>', 'how many deliveries to list', parseWholeNumber, 50)
    .addHelpText('after', DELIVERIES_EXAMPLES)
    .action(async (id: string, options: DeliveriesOptions) =>
      withApi(shell, options, async (api) => {
        const parts = { params: { id }, query: DELIVERIES.read(options) }
        const items = await api.list('listWebhookDeliveries', parts, options.limit)
        if (options.json) return printJson({ items })
        if (items.length === 0) return print('No deliveries.')
        const rows = items.map((item) => [
          toMinute(item.created_at),
          item.type,
          item.subject,
          String(item.sequence),
          item.state,
          String(item.attempts),
          String(item.last_status ?? item.last_error ?? ''),
          item.next_attempt_at === undefined ? '' : toMinute(item.next_attempt_at),
        ])
        const heading = ['at', 'event', 'subject', 'no.', 'state', 'attempts', 'answer', 'next attempt']
        print(table(heading, rows))
      }),
    )

  REPLAY.addTo(
    withCommonOptions(
      webhooks
        .command('replay')
        .description('send past events again, with the same ids')
        .argument('<id>', 'as webhooks list shows it', parseId),
    ),
  )
    .addHelpText('after', REPLAY_EXAMPLES)
    .action(async (id: string, options: CommonOptions) =>
      withApi(shell, options, async (api) => {
        // `until` is the same for all pages, so that events which occur during the replay are left out
        const body = { until: new Date().toISOString(), ...REPLAY.read(options) }
        let replayed = 0
        let cursor: string | undefined
        do {
          const part = await api.call('replayWebhook', {
            params: { id },
            body: { ...body, cursor },
          })
          replayed += part.replayed
          cursor = part.next_cursor
        } while (cursor !== undefined)
        if (options.json) return printJson({ replayed })
        print(`${MARKS.ok} ${replayed} ${replayed === 1 ? 'event is' : 'events are'} being sent again.`)
      }),
    )
}

const TEST_EXAMPLES = `
Examples:
  $ gatepass webhooks test wh_0199…
  $ gatepass webhooks test wh_0199… --json`

const DELIVERIES_EXAMPLES = `
Examples:
  $ gatepass webhooks deliveries wh_0199…
  $ gatepass webhooks deliveries wh_0199… --state waiting --limit 200 --json`

const REPLAY_EXAMPLES = `
Examples:
  $ gatepass webhooks replay wh_0199… --only-failed
  $ gatepass webhooks replay wh_0199… --since 2026-11-21T08:00:00Z --types connection.deleted`
