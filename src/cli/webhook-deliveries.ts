import { type Command, Option } from 'commander'
import { DELIVERY_STATES, type DeliveryState, type EventType } from '../domain/webhook.ts'
import type { WebhookDelivery, WebhookReplay, WebhookTest } from '../sdk/generated/wire.ts'
import { withApi } from './api.ts'
import { CommandFailure } from './failure.ts'
import { MARKS, print, printJson, sanitize, table, toMinute } from './print.ts'
import {
  type CommonOptions,
  parseId,
  parseMoment,
  parseWholeNumber,
  type Shell,
  withCommonOptions,
} from './shell.ts'
import { withTypes } from './webhook-options.ts'

interface ReplayOptions extends CommonOptions {
  readonly since?: string
  readonly until?: string
  readonly types?: readonly EventType[]
  readonly onlyFailed?: true
}

interface DeliveriesOptions extends CommonOptions {
  readonly state?: DeliveryState
  readonly limit: number
}

/** Defines the commands `test`, `deliveries` and `replay`. */
export function defineDeliveries(webhooks: Command, shell: Shell): void {
  withCommonOptions(
    webhooks
      .command('test')
      .description('send a test event now, and show what the receiver answers')
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

  withCommonOptions(
    webhooks
      .command('deliveries')
      .description('list what was sent to a webhook in the last 14 days, newest first')
      .argument('<id>', 'as webhooks list shows it', parseId),
  )
    .addOption(new Option('--state <state>', 'only deliveries in this state').choices(DELIVERY_STATES))
    .option('--limit <n>', 'the most deliveries to list', parseWholeNumber, 50)
    .addHelpText('after', DELIVERIES_EXAMPLES)
    .action(async (id: string, { state, limit, ...options }: DeliveriesOptions) =>
      withApi(shell, options, async (api) => {
        const items = await api.list('listWebhookDeliveries', { params: { id }, query: { state } }, limit)
        if (options.json) return printJson({ items })
        if (items.length === 0) return print('No deliveries.')
        const rows = items.map((one) => [
          toMinute(one.created_at),
          one.type,
          one.subject,
          String(one.sequence),
          one.state,
          String(one.attempts),
          String(one.last_status ?? one.last_error ?? ''),
          one.next_attempt_at === undefined ? '' : toMinute(one.next_attempt_at),
        ])
        const heading = ['at', 'event', 'subject', 'no.', 'state', 'attempts', 'answer', 'next attempt']
        print(table(heading, rows))
      }),
    )

  withTypes(
    withCommonOptions(
      webhooks
        .command('replay')
        .description('send past events once more, with the ids that they had')
        .argument('<id>', 'as webhooks list shows it', parseId),
    ),
  )
    .option('--since <time>', 'from this time on (default: 14 days ago)', parseMoment)
    .option('--until <time>', 'up to this time (default: now)', parseMoment)
    .option('--only-failed', 'only events whose last attempt has failed')
    .addHelpText('after', REPLAY_EXAMPLES)
    .action(async (id: string, { since, types, onlyFailed, until, ...options }: ReplayOptions) =>
      withApi(shell, options, async (api) => {
        // `until` is the same for all pages, so that events which occur during the replay are left out
        const body = {
          until: until ?? new Date().toISOString(),
          ...(since !== undefined && { since }),
          ...(types && { types }),
          ...(onlyFailed && { only_failed: true }),
        }
        let replayed = 0
        let cursor: string | undefined
        do {
          const part = await api.call('replayWebhook', {
            params: { id },
            body: { ...body, ...(cursor !== undefined && { cursor }) },
          })
          replayed += part.replayed
          cursor = part.next_cursor
        } while (cursor !== undefined)
        if (options.json) return printJson({ replayed })
        print(`${MARKS.ok} ${replayed} ${replayed === 1 ? 'event is' : 'events are'} sent once more.`)
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
