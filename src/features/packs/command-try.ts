import { createServer } from 'node:net'
import type { Command } from 'commander'
import { type Api, apiOver } from '../../cli/api.ts'
import { waitForAnswer } from '../../cli/connect.ts'
import { CommandFailure, EXIT } from '../../cli/failure.ts'
import { bold, dim, print, printJson, quantity, sanitize } from '../../cli/print.ts'
import { parseJsonText } from '../../cli/read-json-file.ts'
import { jsonOption, parseId, type Shell } from '../../cli/shell.ts'
import type { SimulatedServer } from '../../cli/simulated-server.ts'
import { cookiesOf, walkThroughConsent } from '../../dev-provider/simulator/simulated-browser.ts'
import { didYouMean } from '../../domain/nearest.ts'
import { VALUE_PREFIX } from '../../http/pages/connect-page.ts'
import { isRecord } from '../../parsing/json-record.ts'
import type { ExecuteError, Operations, RequiredAuthorization } from '../../sdk/generated/wire.ts'
import type { ServedRequest, SimulatedPacks } from './simulated-packs.ts'
import type { Pack, PackTool } from './wire-format.ts'

interface TryOptions {
  readonly tool?: string
  readonly input?: string
  readonly open?: true
  readonly json?: true
}

/** A line of the report, and the lines below it. */
interface Step {
  readonly step: string
  readonly lines: readonly string[]
}

type Answer = Operations['executeTool']['answer']
type Input = NonNullable<Operations['executeTool']['body']['input']>

const USER = 'ada'
const MAX_LINES = 40
const WIDTH = 66
const silent = { debug() {}, info() {}, warn() {}, error() {} }

export function defineTry(packs: Command, shell: Shell): void {
  packs
    .command('try')
    .description('call a tool of a pack without an account, and show every step')
    .argument('<id>', "the pack's id", parseId)
    .option('--tool <name>', 'this tool (default: one that reads)')
    .option('--input <json>', "the tool's input (default: that of its example)")
    .option('--open', 'let me approve in my browser, in place of a simulated user')
    .addOption(jsonOption())
    .addHelpText('after', EXAMPLES)
    .action((id: string, options: TryOptions) => tryPack(shell, id, options))
}

async function tryPack(shell: Shell, id: string, options: TryOptions): Promise<void> {
  const { simulatePacks } = await import('./command-simulation.ts')
  const folder = shell.environment.GATEPASS_PACKS?.trim() || undefined
  const planned = await simulatePacks([id], folder)
  const [pack] = planned.all
  if (pack === undefined) return
  const tool = chosenTool(pack, options.tool)
  const input = inputOf(tool, options.input)
  const environment = {
    GATEPASS_PORT: String(await freePort()),
    ...(folder !== undefined && { GATEPASS_PACKS: folder }),
    ...(options.open === undefined && { GATEPASS_CONNECT_PAGE: 'pass' }),
  }
  const server = await shell.startSimulated(environment, planned, () => ({ log: silent }))
  try {
    if (!options.json) {
      print(`${bold(sanitize(pack.name))}, simulated`)
      print(dim('No account is needed, and no request leaves this machine.\n'))
    }
    const attempt = new Attempt({ server, packs: planned.packs }, { pack, tool, input }, options)
    const { steps, value } = await attempt.run()
    if (options.json) printJson({ pack: id, tool: tool.name, input, steps, value })
  } finally {
    await server.close()
  }
}

class Attempt {
  readonly #server: SimulatedServer
  readonly #packs: SimulatedPacks
  readonly #api: Api
  readonly #pack: Pack
  readonly #tool: PackTool
  readonly #input: Input
  readonly #options: TryOptions
  readonly #steps: Step[] = []
  readonly #served: ServedRequest[] = []

  constructor(
    { server, packs }: { readonly server: SimulatedServer; readonly packs: SimulatedPacks },
    { pack, tool, input }: { readonly pack: Pack; readonly tool: PackTool; readonly input: Input },
    options: TryOptions,
  ) {
    this.#server = server
    this.#packs = packs
    this.#api = apiOver(server.transport)
    this.#pack = pack
    this.#tool = tool
    this.#input = input
    this.#options = options
    packs.onServed = (served) => this.#served.push(served)
  }

  async run(): Promise<{ readonly steps: readonly Step[]; readonly value: unknown }> {
    this.#show('call', `${this.#name} for the user ${USER}`, ...shown(this.#input))
    let answer = await this.#call()
    for (;;) {
      const need = outputOf(answer).requires_authorization
      if (need === undefined) break
      if (need.id?.startsWith('appr_')) await this.#approval(need)
      else await this.#consent(need)
      answer = await this.#call()
    }
    this.#show('call again', 'the same call: now it runs')
    this.#showRequest()
    const { value, error } = outputOf(answer)
    if (error !== undefined) {
      this.#show('error', String(error.message))
      throw new CommandFailure(`The call of ${this.#name} failed.`)
    }
    this.#show('answer', 'what the tool returns to the agent', ...shown(value))
    return { steps: this.#steps, value }
  }

  get #name(): string {
    return `${this.#pack.namespace}_${this.#tool.name}`
  }

  get #provider(): string {
    return this.#tool.provider ?? this.#pack.provider
  }

  async #call(): Promise<Answer> {
    this.#served.length = 0
    const body = { tool_name: this.#name, user_id: USER, input: this.#input }
    return this.#api.call('executeTool', { body })
  }

  async #consent(need: Need): Promise<void> {
    const scopes = need.scopes ?? []
    this.#show(
      'consent',
      `held: ${USER} must connect an account at ${this.#provider} first`,
      ...scopes.map((scope) => `scope ${scope}`),
      `link  ${need.url}`,
    )
    if (this.#options.open) await waitForAnswer(this.#api, linkOf(need), { user: USER, open: true })
    else {
      const typed = this.#packs.typedAt(this.#provider)
      await (Object.keys(typed).length > 0
        ? this.#type(linkOf(need).url, typed)
        : this.#walk(linkOf(need).url))
    }
    const { items } = await this.#api.call('listConnections', { query: { user_id: USER } })
    const connection = items.find(({ provider_id }) => provider_id === this.#provider) ?? items[0]
    if (connection === undefined) throw new CommandFailure('The consent was not given.', EXIT.consentNeeded)
    this.#show(
      'token',
      `${this.#options.open ? 'you' : 'a simulated user'} approved; Gatepass keeps the token, encrypted`,
      ...(connection.account.name === '' ? [] : [`account ${connection.account.name}`]),
    )
  }

  /** As the user's browser, which goes from the link to the consent page and back. */
  async #walk(url: string): Promise<void> {
    const consents = this.#packs.consentsOf(this.#provider)
    if (consents === undefined) throw new Error(`${this.#provider} has no authorization server.`)
    await walkThroughConsent({ browse: this.#browse }, consents, {
      url,
      usersValues: {},
      comesBackBy: 'redirect',
    })
  }

  async #type(url: string, typed: Readonly<Record<string, string>>): Promise<void> {
    const page = await this.#browse(url, {})
    const form = new URLSearchParams(
      Object.entries(typed).map(([name, value]) => [VALUE_PREFIX + name, value]),
    )
    await this.#browse(url, { cookie: cookiesOf(page), form: form.toString() })
  }

  readonly #browse = (
    url: string,
    { cookie, form }: { readonly cookie?: string; readonly form?: string },
  ): Promise<Response> => {
    const headers = {
      ...(cookie !== undefined && { cookie }),
      ...(form !== undefined && {
        'content-type': 'application/x-www-form-urlencoded',
        origin: this.#server.config.publicUrl.origin,
      }),
    }
    return this.#server.fetch(
      new Request(url, { headers, ...(form !== undefined && { method: 'POST', body: form }) }),
    )
  }

  /** A key of the role `approver` decides for the user, as an application of the operator would. */
  async #approval(need: Need): Promise<void> {
    const { id, url } = linkOf(need)
    this.#show(
      'approval',
      `held: ${USER} must approve this call, which ${this.#tool.annotations?.destructiveHint ? 'destroys something' : 'reaches other people'}`,
      `link  ${url}`,
    )
    if (this.#options.open) await waitForAnswer(this.#api, linkOf(need), { user: USER, open: true })
    else {
      const { key } = await this.#api.call('createApiKey', { body: { role: 'approver' } })
      const approvers = apiOver({ ...this.#server.transport, key })
      const { digest } = await approvers.call('getApproval', { params: { id } })
      await approvers.call('decideApproval', {
        params: { id },
        body: { decision: 'approve', digest, approver: USER },
      })
    }
    this.#show('approved', 'for this one call: another letter in it would be another question')
  }

  #showRequest(): void {
    const { request, response } = this.#served.at(-1) ?? {}
    if (request === undefined || response === undefined) return
    const { origin, pathname, searchParams } = request.url
    this.#show(
      'request',
      `${request.method} ${origin}${pathname}`,
      ...[...searchParams].map(([name, value], at) => `${at === 0 ? '?' : '&'}${name}=${value}`),
      ...(request.body === '' ? [] : shown(readableBody(request.body))),
    )
    this.#show('response', `${response.status}, ${response.body.length} bytes`)
  }

  #show(step: string, ...lines: readonly string[]): void {
    this.#steps.push({ step, lines })
    if (this.#options.json) return
    for (const [index, line] of lines.entries())
      print(`${bold((index === 0 ? step : '').padEnd(12))}${sanitize(line)}`)
  }
}

type Need = RequiredAuthorization

/** The members of which an output has one. */
interface Output {
  readonly value?: unknown
  readonly artifact?: unknown
  readonly error?: ExecuteError
  readonly requires_authorization?: Need
}

function outputOf({ output }: Answer): Output {
  return { ...output }
}

function linkOf({ id, url, scopes }: Need): { id: string; url: string; scopes: readonly string[] } {
  if (id === undefined || url === undefined) throw new CommandFailure('The call is held without a link.')
  return { id, url, scopes: scopes ?? [] }
}

function chosenTool({ id, tools }: Pack, name: string | undefined): PackTool {
  const named = tools.find((tool) => tool.name === name)
  if (named !== undefined) return named
  if (name !== undefined)
    throw new CommandFailure(
      `The pack "${id}" has no tool "${name}".${didYouMean(
        name,
        tools.map((tool) => tool.name),
      )}`,
      EXIT.notFound,
    )
  const reading = tools.filter(({ annotations }) => annotations?.readOnlyHint === true)
  const beginning = ['Search', 'List', 'Find', 'Get'].flatMap((verb) =>
    reading.filter((tool) => tool.name.startsWith(verb)),
  )
  const [first] = [...beginning, ...reading, ...tools]
  if (first === undefined) throw new CommandFailure(`The pack "${id}" has no tools.`, EXIT.usage)
  return first
}

function inputOf({ examples = [], name }: PackTool, given: string | undefined): Input {
  if (given === undefined) return (examples[0]?.input ?? {}) as Input // its file is JSON
  const value = parseJsonText(given, '--input')
  if (isRecord(value)) return value as Input // as above
  throw new CommandFailure(`--input must be a JSON object: the input of ${name}.`, EXIT.usage)
}

/** JSON for people: long lines are cut, and long values end early. */
function shown(value: unknown): string[] {
  const lines = (JSON.stringify(value, null, 2) ?? 'nothing').split('\n')
  const cut = lines
    .slice(0, MAX_LINES)
    .map((line) => (line.length > WIDTH ? `${line.slice(0, WIDTH - 1)}…` : line))
  const left = lines.length - cut.length
  return left > 0 ? [...cut, `… ${quantity(left, 'more line')}: --json prints all`] : cut
}

function readableBody(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return body
  }
}

/** A free port. */
async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  return typeof address === 'object' && address !== null ? address.port : 0
}

const EXAMPLES = `
Examples:
  $ gatepass packs try gmail
  $ gatepass packs try slack --tool SendMessage
  $ gatepass packs try google-calendar --tool ListEvents --open
  $ gatepass packs try github --tool GetIssue \\
      --input '{"owner": "octo", "repository": "demo", "number": 12}'

A Gatepass with an empty database does it in this process. The service and its authorization server are simulated: they are
made of the pack's own requests and of its example answers, and keep nothing. \`gatepass dev --pack\` lets an agent use them.`
