import { type Command, InvalidArgumentError, Option } from 'commander'
import { DELIVERY_STATES, type DeliveryState, EVENT_TYPES, type EventType } from '../domain/webhook.ts'
import { listAll, withApi } from './api.ts'
import { CommandFailure, EXIT } from './failure.ts'
import { bold, MARKS, print, printJson, sanitize, shortened, table, toDay, toMinute } from './print.ts'
import {
  type CommonOptions,
  parseId,
  parseMoment,
  parseWholeNumber,
  type Shell,
  withCommonOptions,
} from './shell.ts'

const PATH = '/v1/webhooks'
const DAY = 24 * 3600

interface WebhookWire {
  readonly id: string
  readonly url: string
  readonly description?: string
  readonly types?: readonly EventType[]
  readonly enabled: boolean
  readonly state: 'active' | 'failing' | 'disabled'
  readonly disabled_reason?: 'operator' | 'failing' | 'gone'
  readonly disabled_at?: string
  readonly failures: number
  readonly failing_since?: string
  readonly previous_secret_until?: string
  readonly created_at: string
  readonly secret?: string
}

interface DeliveryWire {
  readonly event_id: string
  readonly type: string
  readonly subject: string
  readonly sequence: number
  readonly state: DeliveryState
  readonly attempts: number
  readonly next_attempt_at?: string
  readonly last_status?: number
  readonly last_error?: string
  readonly created_at: string
}

interface SetOptions extends CommonOptions {
  readonly url?: string
  readonly to?: string
  readonly types?: readonly EventType[]
  readonly description?: string
  readonly enable?: true
  readonly disable?: true
}

interface AddOptions extends CommonOptions {
  readonly types?: readonly EventType[]
  readonly description?: string
}

interface ReplayOptions extends CommonOptions {
  readonly since?: string
  readonly until?: string
  readonly types?: readonly EventType[]
  readonly onlyFailed?: true
}

export function defineWebhooks(webhooks: Command, shell: Shell): void {
  webhooks.addHelpText('after', EXAMPLES)

  withCommonOptions(
    webhooks.command('list', { isDefault: true }).description('list webhooks, without their secrets'),
  )
    .addHelpText('after', EXAMPLES)
    .action(async (options: CommonOptions) =>
      withApi(shell, options, async (api) => {
        const items = await listAll<WebhookWire>(api, PATH)
        if (options.json) return printJson({ items })
        if (items.length === 0) return print('No webhooks: gatepass webhooks add <url> registers one.')
        const rows = items.map(({ id, url, state, types, description }) => [
          id,
          state,
          shortened(url),
          types === undefined ? 'all' : shortened(types.join(', ')),
          shortened(description ?? ''),
        ])
        print(table(['id', 'state', 'url', 'events', 'description'], rows))
      }),
    )

  withCommonOptions(
    webhooks
      .command('show')
      .description('show one webhook, and whether it takes what it is sent')
      .argument('<id>', 'as webhooks list shows it', parseId),
  )
    .addHelpText('after', SHOW_EXAMPLES)
    .action(async (id: string, options: CommonOptions) =>
      withApi(shell, options, async (api) => {
        const webhook = await api.send<WebhookWire>('GET', pathOf(id))
        if (options.json) return printJson(webhook)
        printWebhook(webhook)
      }),
    )

  withTypes(
    withCommonOptions(
      webhooks
        .command('add')
        .description('register a receiver of events; its secret is shown only once')
        .argument('<url>', 'where events are sent, by POST', parseId),
    ),
  )
    .option('--description <text>', 'what it is for', parseId)
    .addHelpText('after', ADD_EXAMPLES)
    .action(async (url: string, { types, description, ...options }: AddOptions) =>
      withApi(shell, options, async (api) => {
        const body = { url, ...(types && { types }), ...(description !== undefined && { description }) }
        const webhook = await api.send<WebhookWire>('POST', PATH, { body })
        if (options.json) return printJson(webhook)
        printSecret(webhook)
        print(`${MARKS.ok} ${webhook.id} is registered. Try it: gatepass webhooks test ${webhook.id}`)
      }),
    )

  withTypes(
    withCommonOptions(
      webhooks
        .command('set')
        .description('change a webhook')
        .argument('<id>', 'as webhooks list shows it', parseId),
    ),
  )
    .option('--to <url>', 'another URL', parseId)
    .option('--description <text>', 'what it is for', parseId)
    .addOption(new Option('--enable', 'send again; what waits for it is sent at once').conflicts('disable'))
    .option('--disable', 'send nothing more')
    .addHelpText('after', SET_EXAMPLES)
    .action(async (id: string, { to, types, description, enable, disable, ...options }: SetOptions) => {
      const body = {
        ...(to !== undefined && { url: to }),
        ...(types && { types: types.length === EVENT_TYPES.length ? null : types }),
        ...(description !== undefined && { description }),
        ...(enable && { enabled: true }),
        ...(disable && { enabled: false }),
      }
      if (Object.keys(body).length === 0)
        throw new CommandFailure(
          'Say what to change: --to, --types, --description, --enable or --disable.',
          EXIT.usage,
        )
      return withApi(shell, options, async (api) => {
        const webhook = await api.send<WebhookWire>('PATCH', pathOf(id), { body })
        if (options.json) return printJson(webhook)
        printWebhook(webhook)
      })
    })

  withCommonOptions(
    webhooks
      .command('rotate')
      .description('replace the secret of a webhook; for a while both sign')
      .argument('<id>', 'as webhooks list shows it', parseId),
  )
    .option('--overlap <seconds>', 'how long the former secret signs too', parseWholeNumber, DAY)
    .addHelpText('after', ROTATE_EXAMPLES)
    .action(async (id: string, { overlap, ...options }: CommonOptions & { readonly overlap: number }) =>
      withApi(shell, options, async (api) => {
        const body = { overlap_seconds: overlap }
        const webhook = await api.send<WebhookWire>('POST', `${pathOf(id)}/rotate`, { body })
        if (options.json) return printJson(webhook)
        printSecret(webhook)
        const until = webhook.previous_secret_until
        if (until !== undefined) print(`The former secret signs too until ${toMinute(until)}.`)
      }),
    )

  withCommonOptions(
    webhooks
      .command('test')
      .description('send a test event now, and show what the receiver answers')
      .argument('<id>', 'as webhooks list shows it', parseId),
  )
    .addHelpText('after', TEST_EXAMPLES)
    .action(async (id: string, options: CommonOptions) =>
      withApi(shell, options, async (api) => {
        const result = await api.send<TestWire>('POST', `${pathOf(id)}/test`)
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
    .addOption(new Option('--state <state>', 'only those').choices(DELIVERY_STATES))
    .option('--limit <n>', 'how many at most', parseWholeNumber, 50)
    .addHelpText('after', DELIVERIES_EXAMPLES)
    .action(async (id: string, { state, limit, ...options }: DeliveriesOptions) =>
      withApi(shell, options, async (api) => {
        const items = await listAll<DeliveryWire>(api, `${pathOf(id)}/deliveries`, { state }, limit)
        if (options.json) return printJson({ items })
        if (items.length === 0) return print('Nothing was sent.')
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
        .description('send past events once more, with their ids')
        .argument('<id>', 'as webhooks list shows it', parseId),
    ),
  )
    .option('--since <time>', 'from this time on (default: 14 days ago)', parseMoment)
    .option('--until <time>', 'up to this time (default: now)', parseMoment)
    .option('--only-failed', 'only those whose last attempt has failed')
    .addHelpText('after', REPLAY_EXAMPLES)
    .action(async (id: string, { since, types, onlyFailed, until, ...options }: ReplayOptions) =>
      withApi(shell, options, async (api) => {
        // fixed before the first page, so that events of the meantime are not sent twice
        const body = {
          until: until ?? new Date().toISOString(),
          ...(since !== undefined && { since }),
          ...(types && { types }),
          ...(onlyFailed && { only_failed: true }),
        }
        let replayed = 0
        let cursor: string | undefined
        do {
          const part = await api.send<ReplayWire>('POST', `${pathOf(id)}/replay`, {
            body: { ...body, ...(cursor !== undefined && { cursor }) },
          })
          replayed += part.replayed
          cursor = part.next_cursor
        } while (cursor !== undefined)
        if (options.json) return printJson({ replayed })
        print(`${MARKS.ok} ${replayed} ${replayed === 1 ? 'event is' : 'events are'} sent once more.`)
      }),
    )

  withCommonOptions(
    webhooks
      .command('delete')
      .description('delete a webhook; what waits for it is not sent')
      .argument('<id>', 'as webhooks list shows it', parseId),
  )
    .addHelpText('after', DELETE_EXAMPLES)
    .action(async (id: string, options: CommonOptions) =>
      withApi(shell, options, async (api) => {
        await api.send('DELETE', pathOf(id))
        if (options.json) return printJson({ id, deleted: true })
        print(`${MARKS.ok} ${sanitize(id)} is deleted.`)
      }),
    )
}

interface DeliveriesOptions extends CommonOptions {
  readonly state?: DeliveryState
  readonly limit: number
}

interface TestWire {
  readonly delivered: boolean
  readonly status?: number
  readonly error?: string
}

interface ReplayWire {
  readonly replayed: number
  readonly next_cursor?: string
}

const pathOf = (id: string) => `${PATH}/${encodeURIComponent(id)}`

function withTypes(command: Command): Command {
  return command.option(
    '--types <types>',
    'only these events, separated by commas; all: every event',
    parseTypes,
  )
}

function parseTypes(text: string): readonly EventType[] {
  if (text.trim() === 'all') return EVENT_TYPES
  const names = text.split(/[\s,]+/).filter(Boolean)
  const unknown = names.find((name) => !EVENT_TYPES.some((type) => type === name))
  if (names.length === 0 || unknown !== undefined)
    throw new InvalidArgumentError(
      `${unknown === undefined ? 'Name at least one' : `There is no event "${unknown}"`}: ${EVENT_TYPES.join(', ')}.`,
    )
  return EVENT_TYPES.filter((type) => names.includes(type))
}

function printSecret({ secret = '' }: WebhookWire): void {
  print(`\n  ${bold(secret)}\n`)
  print('The secret is not shown again: give it to the receiver now.')
}

const DISABLED_BECAUSE = {
  operator: 'by an administrator',
  failing: 'since nothing was delivered for three days',
  gone: 'since the receiver answered 410',
} as const

function printWebhook(webhook: WebhookWire): void {
  const { id, url, state, types, description, failures } = webhook
  const { disabled_reason: why, disabled_at: at, failing_since: since } = webhook
  print(`${bold(sanitize(id))}  ${sanitize(url)}`)
  if (description !== undefined) print(`  ${sanitize(description)}`)
  print(`  events    ${types === undefined ? 'all' : types.join(', ')}`)
  if (state === 'disabled')
    print(
      `  ${MARKS.failed} disabled ${why === undefined ? '' : DISABLED_BECAUSE[why]}${at ? `, ${toMinute(at)}` : ''}`,
    )
  else if (state === 'failing')
    print(
      `  ${MARKS.warning} failing: ${failures} attempts in a row${since ? `, since ${toMinute(since)}` : ''}`,
    )
  else print(`  ${MARKS.ok} active${failures > 0 ? `, though the last ${failures} attempts failed` : ''}`)
  print(`  created   ${toDay(webhook.created_at)}`)
}

const EXAMPLES = `
Examples:
  $ gatepass webhooks                                          list them
  $ gatepass webhooks add https://app.example.com/gatepass     register a receiver
  $ gatepass webhooks test wh_0199…                            send it a test event
  $ gatepass webhooks deliveries wh_0199… --state failed       what did not arrive
  $ gatepass webhooks replay wh_0199… --only-failed            send that once more

docs/webhooks.md describes events, signatures and retries.`

const SHOW_EXAMPLES = `
Examples:
  $ gatepass webhooks show wh_0199…
  $ gatepass webhooks show wh_0199… --json`

const ADD_EXAMPLES = `
Examples:
  $ gatepass webhooks add https://app.example.com/gatepass
  $ gatepass webhooks add https://app.example.com/gatepass --types connection.needs_authorization,connection.deleted`

const SET_EXAMPLES = `
Examples:
  $ gatepass webhooks set wh_0199… --enable                    after the receiver was repaired
  $ gatepass webhooks set wh_0199… --to https://other.example.com/gatepass --types all`

const ROTATE_EXAMPLES = `
Examples:
  $ gatepass webhooks rotate wh_0199…                          both secrets sign for a day
  $ gatepass webhooks rotate wh_0199… --overlap 0              the former secret is known to others`

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

const DELETE_EXAMPLES = `
Examples:
  $ gatepass webhooks delete wh_0199…
  $ gatepass webhooks delete wh_0199… --json`
