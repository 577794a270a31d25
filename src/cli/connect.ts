import type { Command } from 'commander'
import type { Authorization, Connection, ToolDetail } from '../sdk/generated/wire.ts'
import { type Api, withApi } from './api.ts'
import { CommandFailure, EXIT, faultsOf } from './failure.ts'
import { inputFlags } from './input-flags.ts'
import { bold, dim, MARKS, print, printJson, sanitize } from './print.ts'
import { FIELDS, readFields } from './read-fields.ts'
import { type CommonOptions, parseId, parseNames, type Shell, withCommonOptions } from './shell.ts'

interface ConnectOptions extends CommonOptions {
  readonly user: string
  readonly scopes?: string[]
  readonly open: boolean
  readonly fields?: true
  readonly device?: true
}

const AUTHORIZE = inputFlags('authorize', {
  auth_requirement: false, // made of the argument and the scopes
  user_id: { flags: '--user <id>', help: 'the user' },
  account: "which of the user's accounts, or `new` to add another one",
  next_uri: false, // the browser shows the end
})

interface StartedAuthorization {
  readonly authorization: Authorization
  /** The providers whose consent is asked for. */
  readonly providers: readonly string[]
}

const WAIT_SECONDS = 50

export function defineConnect(command: Command, shell: Shell): void {
  AUTHORIZE.addTo(
    withCommonOptions(
      command.argument(
        '<provider or tool>',
        'a provider such as github, or a tool (asks for every provider the tool needs)',
        parseId,
      ),
    ),
  )
    .option('--scopes <scopes>', 'scopes to ask a provider for, comma-separated', parseNames)
    .option('--no-open', 'print the link without opening it')
    .option(
      '--device',
      'connect here by a code that the user enters on any device, for providers with device codes',
    )
    .option(...FIELDS)
    .addHelpText('after', EXAMPLES)
    .action(async (name: string, options: ConnectOptions) =>
      withApi(shell, options, async (api) => {
        if (options.fields && options.device)
          throw new CommandFailure('--fields and --device exclude each other.', EXIT.usage)
        if (options.fields) return connectByFields(api, name, options)
        const before = await connectionsOf(api, options)
        const begun = await begin(api, name, options)
        if (begun.authorization.status === 'completed') return reportCovered(api, name, begun, options)
        if (api.local !== undefined) {
          const { requireServer } = await import('./require-server.ts')
          await requireServer(api.local, begun.authorization)
        }
        const { authorization } = begun
        const settled = options.device
          ? await (await import('./connect-device.ts')).connectByCode(api, authorization, options)
          : await waitForAnswer(api, authorization, options)
        await report(api, { ...begun, authorization: settled }, { before, options })
      }),
    )
}

/** Stores what the user would type on the page. Secrets are no arguments: other users of the machine see those. */
async function connectByFields(api: Api, name: string, options: ConnectOptions): Promise<void> {
  const fields = await readFields(api, name)
  const body = { user_id: options.user, provider_id: name, fields }
  const connection = await api.call('createConnection', { body })
  if (options.json)
    return printJson({ status: 'completed', user_id: options.user, connections: [toJson(connection)] })
  reportConnection(connection, 'is connected to')
}

async function begin(api: Api, name: string, options: ConnectOptions): Promise<StartedAuthorization> {
  const { scopes = [] } = options
  const given = AUTHORIZE.read(options)
  const auth_requirement = { provider_id: name, oauth2: { scopes } }
  try {
    const authorization = await api.call('authorize', { body: { ...given, auth_requirement } })
    return { authorization, providers: [authorization.provider_id] }
  } catch (error) {
    if (!(error instanceof CommandFailure) || error.exitCode !== EXIT.notFound) throw error
    const tool = await api.find('getTool', { params: { name }, query: { user_id: given.user_id } })
    if (tool !== undefined) return beginForTool(api, name, tool, options)
    const isAmbiguous = faultsOf(error).some(({ code }) => code === 'conflict') // the refusal lists the providers of that name
    throw isAmbiguous ? error : await unknownName(api, name, error)
  }
}

async function beginForTool(
  api: Api,
  name: string,
  { tool_id: tool_name, requirements }: ToolDetail,
  options: ConnectOptions,
): Promise<StartedAuthorization> {
  if (options.scopes !== undefined)
    throw new CommandFailure(
      `"${name}" is a tool, which defines the scopes it needs: leave out --scopes.`,
      EXIT.usage,
    )
  const { authorizations, authorization } = requirements
  const needs = authorizations ?? (authorization === undefined ? [] : [authorization])
  return {
    authorization: await api.call('authorizeTool', { body: { ...AUTHORIZE.read(options), tool_name } }),
    providers: needs.flatMap(({ id, provider_id }) => id ?? provider_id ?? []),
  }
}

async function unknownName(api: Api, name: string, refused: CommandFailure): Promise<CommandFailure> {
  const catalogued = faultsOf(refused).find(({ code }) => code === 'unknown')?.catalogued
  const definition =
    catalogued === undefined
      ? ''
      : ` The catalogue has ${catalogued === name ? 'it' : `"${catalogued}"`}: gatepass providers add ${catalogued}.`
  const items = await api.list('listAuthProviders')
  return new CommandFailure(
    `There is no provider or tool "${name}" at ${api.place}.${definition} ${
      items.length > 0
        ? `Its providers: ${items.map(({ id }) => id).join(', ')}.`
        : '`gatepass import <file>` adds tools with their providers.'
    }`,
    EXIT.notFound,
  )
}

function isWebPage(url: string): boolean {
  return /^https?:$/.test(URL.parse(url)?.protocol ?? '')
}

/** What a link is shown of. */
type BegunAuthorization = Pick<Authorization, 'id' | 'url' | 'scopes' | 'expires_at'>

/** Shows the link and waits until the user has answered or the link has expired. */
export async function waitForAnswer(
  api: Api,
  authorization: BegunAuthorization,
  options: Pick<ConnectOptions, 'user' | 'open' | 'json'>,
): Promise<Authorization> {
  const { id, url = '', scopes, expires_at } = authorization
  if (options.json) printJson({ id, user_id: options.user, status: 'pending', url, scopes, expires_at })
  else
    print(
      `Open this link and approve${options.open ? '; your browser should open it' : ''}:\n\n  ${bold(url)}\n`,
    )
  // a server that is not trusted names the link: only a page is opened, no other program
  if (options.open && isWebPage(url)) {
    const { default: open } = await import('open')
    await open(url).catch(() => {}) // without a browser, the printed link is enough
  }
  if (!options.json && process.stderr.isTTY) {
    const end = expires_at === undefined ? '' : `, until ${clockTime(expires_at)}`
    process.stderr.write(dim(`Waiting for ${sanitize(options.user)} to approve${end}\n`))
  }
  for (;;) {
    const query = { id, wait: WAIT_SECONDS }
    const options = { timeoutMs: (WAIT_SECONDS + 10) * 1000 }
    const now = await api.call('getAuthorizationStatus', { query, options })
    if (now.status === 'completed' || now.status === 'failed') return now
  }
}

async function report(
  api: Api,
  { authorization, providers }: StartedAuthorization,
  { before, options }: { readonly before: readonly Connection[]; readonly options: ConnectOptions },
): Promise<void> {
  const { id, status, reason = 'failed', message = 'Run the command again.', scopes } = authorization
  const who = { id, user_id: options.user, status }
  if (status !== 'completed') {
    if (options.json) printJson({ ...who, reason, message })
    throw new CommandFailure(
      `${sanitize(options.user)} is not connected (${reason}): ${sanitize(message)}`,
      reason === 'provider_unavailable' ? EXIT.unreachable : EXIT.consentNeeded,
    )
  }
  const known = new Set(before.map((connection) => JSON.stringify(connection)))
  const after = await connectionsOf(api, options)
  const changed = after.filter(
    (connection) => providers.includes(connection.provider_id) && !known.has(JSON.stringify(connection)),
  )
  const connections = changed.length > 0 ? changed : defaultsAt(after, providers)
  if (options.json) return printJson({ ...who, connections: connections.map(toJson) })
  for (const connection of connections) reportConnection(connection, 'is connected to')
  const granted = new Set([...scopes, ...connections.flatMap((connection) => connection.scopes)])
  const refused = (options.scopes ?? []).filter((scope) => !granted.has(scope))
  if (refused.length > 0)
    print(`${MARKS.warning} Asked for but not granted under that name: ${refused.map(sanitize).join(' ')}`)
}

async function reportCovered(
  api: Api,
  name: string,
  { authorization, providers }: StartedAuthorization,
  options: ConnectOptions,
): Promise<void> {
  const all = await connectionsOf(api, options)
  const covering = all.filter(({ id }) => id === authorization.id)
  const connections = providers.length === 1 ? covering : defaultsAt(all, providers)
  if (options.json)
    printJson({ status: 'completed', user_id: options.user, connections: connections.map(toJson) })
  else if (connections.length === 0) print(`${MARKS.ok} ${sanitize(name)} needs no consent.`)
  else for (const connection of connections) reportConnection(connection, 'is already connected to')
}

async function connectionsOf(api: Api, { user }: ConnectOptions): Promise<Connection[]> {
  return api.list('listConnections', { query: { user_id: user } })
}

function defaultsAt(all: readonly Connection[], providers: readonly string[]): Connection[] {
  return all.filter((connection) => connection.default && providers.includes(connection.provider_id))
}

function toJson({ id, provider_id, account, scopes }: Connection) {
  return { id, provider_id, account, scopes }
}

function reportConnection(connection: Connection, verb: string): void {
  const { id, user_id, provider_id, account, scopes } = connection
  const name = account.name || account.id
  print(
    `${MARKS.ok} ${sanitize(user_id)} ${verb} ${sanitize(provider_id)}${name === '' ? '' : ` as ${bold(sanitize(name))}`}\n` +
      `  ${dim('scopes')}      ${scopes.length === 0 ? '-' : scopes.map(sanitize).join(' ')}\n` +
      `  ${dim('connection')}  ${id}`,
  )
}

function clockTime(timestamp: string): string {
  return new Date(timestamp).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' })
}

const EXAMPLES = `
Examples:
  $ gatepass connect github --user ada --scopes repo,read:user
  $ gatepass connect Sandbox_Profile --user ada
  $ gatepass connect google --user ada --account new --no-open --json
  $ gatepass connect github --user ada --device
  $ cat fields.json | gatepass connect freshdesk --user ada --fields

A server must be running (\`gatepass dev\` or \`gatepass serve\`), on the same database or at --url.
With --json there are two lines: first {"status": "pending", "url", ...}, then the outcome.
With --device this terminal takes the place of the browser: it shows the code, where it is entered (with --json "user_code" and
"verification_uri" in place of "url"), and asks "Is this your account?" (y or n) before anything is stored. Where users log in
first, or the provider has no device codes, only the link in a browser connects them.
Exit code 5 when the user did not approve.`
