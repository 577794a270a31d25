import { type Command, Option } from 'commander'
import { withApi } from '../../cli/api.ts'
import { CommandFailure, EXIT } from '../../cli/failure.ts'
import { inputFlags } from '../../cli/input-flags.ts'
import { outputLines, outputTable } from '../../cli/output-table.ts'
import { bold, MARKS, print, printJson, sanitize, shortened, toDay, toMinute } from '../../cli/print.ts'
import { type CommonOptions, parseId, type Shell, withCommonOptions } from '../../cli/shell.ts'
import { omitted } from '../../operations/omitted.ts'
import type { Webhook, WebhookWithSecret } from '../../sdk/generated/wire.ts'
import { defineDeliveries } from './command-deliveries.ts'
import { typesFlag } from './command-options.ts'

const DAY_SECONDS = 24 * 3600

interface SetOptions extends CommonOptions {
  readonly enable?: true
  readonly disable?: true
}

const ADD = inputFlags('createWebhook', {
  url: false, // the argument
  description: 'what it is for',
  types: typesFlag(undefined),
  enabled: false,
})
const SET = inputFlags('updateWebhook', {
  url: { flags: '--to <url>', help: 'another URL' },
  description: 'what it is for',
  types: typesFlag(null),
  enabled: false, // --enable, --disable
})
const ROTATE = inputFlags('rotateWebhookSecret', {
  overlap_seconds: {
    flags: '--overlap <seconds>',
    help: 'how long the previous secret also signs',
    default: DAY_SECONDS,
  },
})

const WEBHOOKS = outputTable('listWebhooks', {
  id: 'id',
  state: 'state',
  url: ['url', ({ url }) => shortened(url)],
  types: ['events', ({ types }) => (types === undefined ? 'all' : shortened(types.join(', ')))],
  description: ['description', ({ description = '' }) => shortened(description)],
  // in the state
  ...omitted('enabled', 'disabled_reason', 'disabled_at', 'failures', 'failing_since'),
  ...omitted('previous_secret_until', 'created_at', 'updated_at'),
})

export function defineWebhooks(webhooks: Command, shell: Shell): void {
  webhooks.addHelpText('after', EXAMPLES)

  withCommonOptions(
    webhooks.command('list', { isDefault: true }).description('list webhooks, without their secrets'),
  )
    .addHelpText('after', EXAMPLES)
    .action(async (options: CommonOptions) =>
      withApi(shell, options, async (api) => {
        const items = await api.list('listWebhooks')
        if (options.json) return printJson({ items })
        if (items.length === 0) return print('No webhooks. Register one: gatepass webhooks add <url>')
        print(WEBHOOKS(items))
      }),
    )

  withCommonOptions(
    webhooks
      .command('show')
      .description('show one webhook and whether its deliveries succeed')
      .argument('<id>', "the webhook's id, as webhooks list shows it", parseId),
  )
    .addHelpText('after', SHOW_EXAMPLES)
    .action(async (id: string, options: CommonOptions) =>
      withApi(shell, options, async (api) => {
        const webhook = await api.call('getWebhook', { params: { id } })
        if (options.json) return printJson(webhook)
        printWebhook(webhook)
      }),
    )

  ADD.addTo(
    withCommonOptions(
      webhooks
        .command('add')
        .description('register a receiver of events; its secret is shown only once')
        .argument('<url>', 'the URL that receives events by POST', parseId),
    ),
  )
    .addHelpText('after', ADD_EXAMPLES)
    .action(async (url: string, options: CommonOptions) =>
      withApi(shell, options, async (api) => {
        const body = { url, ...ADD.read(options) }
        const webhook = await api.call('createWebhook', { body })
        if (options.json) return printJson(webhook)
        printSecret(webhook)
        print(`${MARKS.ok} ${webhook.id} is registered. Try it: gatepass webhooks test ${webhook.id}`)
      }),
    )

  SET.addTo(
    withCommonOptions(
      webhooks
        .command('set')
        .description('change a webhook')
        .argument('<id>', "the webhook's id, as webhooks list shows it", parseId),
    ),
  )
    .addOption(
      new Option('--enable', 'enable it again; waiting events are sent at once').conflicts('disable'),
    )
    .option('--disable', 'disable it; no events are sent')
    .addHelpText('after', SET_EXAMPLES)
    .action(async (id: string, { enable, disable, ...options }: SetOptions) => {
      const body = {
        ...SET.read(options),
        ...(enable && { enabled: true }),
        ...(disable && { enabled: false }),
      }
      if (Object.keys(body).length === 0)
        throw new CommandFailure(
          'Say what to change: --to, --types, --description, --enable, or --disable.',
          EXIT.usage,
        )
      return withApi(shell, options, async (api) => {
        const webhook = await api.call('updateWebhook', { params: { id }, body })
        if (options.json) return printJson(webhook)
        printWebhook(webhook)
      })
    })

  ROTATE.addTo(
    withCommonOptions(
      webhooks
        .command('rotate')
        .description('replace the secret of a webhook; the previous secret also signs for a while')
        .argument('<id>', "the webhook's id, as webhooks list shows it", parseId),
    ),
  )
    .addHelpText('after', ROTATE_EXAMPLES)
    .action(async (id: string, options: CommonOptions) =>
      withApi(shell, options, async (api) => {
        const body = ROTATE.read(options)
        const webhook = await api.call('rotateWebhookSecret', { params: { id }, body })
        if (options.json) return printJson(webhook)
        printSecret(webhook)
        const until = webhook.previous_secret_until
        if (until !== undefined) print(`The previous secret also signs until ${toMinute(until)}.`)
      }),
    )

  defineDeliveries(webhooks, shell)

  withCommonOptions(
    webhooks
      .command('delete')
      .description('delete a webhook; events waiting for it are not sent')
      .argument('<id>', "the webhook's id, as webhooks list shows it", parseId),
  )
    .addHelpText('after', DELETE_EXAMPLES)
    .action(async (id: string, options: CommonOptions) =>
      withApi(shell, options, async (api) => {
        await api.call('deleteWebhook', { params: { id } })
        if (options.json) return printJson({ id, deleted: true })
        print(`${MARKS.ok} ${sanitize(id)} is deleted.`)
      }),
    )
}

function printSecret({ secret }: WebhookWithSecret): void {
  print(`\n  ${bold(secret)}\n`)
  print('The secret is not shown again: give it to the receiver now.')
}

/** What `printWebhook` does not say in words of its own. */
const OTHERS = outputLines('getWebhook', {
  ...omitted('id', 'url', 'state', 'enabled', 'types', 'description', 'failures', 'failing_since'),
  ...omitted('disabled_reason', 'disabled_at', 'previous_secret_until', 'created_at', 'updated_at'),
})

const DISABLED_BECAUSE = {
  operator: 'by an administrator',
  failing: 'because nothing was delivered for three days',
  gone: 'because the receiver answered 410',
} as const

function printWebhook(webhook: Webhook): void {
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
  for (const [heading, text] of OTHERS(webhook)) print(`  ${heading.padEnd(8)}  ${sanitize(text)}`)
}

const EXAMPLES = `
Examples:
  $ gatepass webhooks                                          list them
  $ gatepass webhooks add https://app.example.com/gatepass     register a receiver
  $ gatepass webhooks test wh_0199…                            send it a test event
  $ gatepass webhooks deliveries wh_0199… --state failed       what did not arrive
  $ gatepass webhooks replay wh_0199… --only-failed            send it again

docs/guides/webhooks.md describes events, signatures, and retries.`

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
  $ gatepass webhooks set wh_0199… --enable                    after the receiver is fixed
  $ gatepass webhooks set wh_0199… --to https://other.example.com/gatepass --types all`

const ROTATE_EXAMPLES = `
Examples:
  $ gatepass webhooks rotate wh_0199…                          both secrets sign for a day
  $ gatepass webhooks rotate wh_0199… --overlap 0              when others know the previous secret`

const DELETE_EXAMPLES = `
Examples:
  $ gatepass webhooks delete wh_0199…
  $ gatepass webhooks delete wh_0199… --json`
