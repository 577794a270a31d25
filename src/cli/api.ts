import { CommandFailure, EXIT, exitCodeOf } from './failure.ts'
import type { CommonOptions, Shell } from './shell.ts'
import type { Method, OpenApiOptions, Transport } from './transport.ts'
import type { Opened } from './with-broker.ts'

/**
 * What commands that administer speak to: Gatepass's own HTTP API, of a server (`--url`) or of an app in this process
 * on the database itself. Each command is written once, against the wire.
 */
export interface Api {
  /** The installation, in words for messages. */
  readonly place: string
  /** Where the installation's own database is open, beside a server that may be running. */
  readonly opened?: Opened
  /** Throws `CommandFailure` with the API's own message for every answer that is not 2xx. */
  send<Answer>(method: Method, path: string, options?: ApiRequest): Promise<Answer>
  /** As `send`, and returns the status and the body of any answer of the API's. */
  ask(method: Method, path: string, options?: ApiRequest): Promise<ApiAnswer>
  /** The lines of a long answer, as they come. */
  lines(path: string, query: Query): AsyncIterable<string>
}

export type Query = Readonly<Record<string, string | number | undefined>>

export interface ApiRequest {
  readonly query?: Query
  readonly body?: unknown
  readonly deadlineMs?: number
}

export interface ApiAnswer {
  readonly status: number
  readonly body: unknown
}

const DEADLINE_MS = 60_000
/** The most that one page of a list holds. */
const PAGE = 100

/** Runs the command against the server that is named, or else on the database of the settings. */
export async function withApi(
  shell: Shell,
  options: OpenApiOptions,
  run: (api: Api) => Promise<void>,
): Promise<void> {
  const url = serverOf(shell, options)
  if (url === undefined) {
    if (options.key !== undefined)
      throw new CommandFailure('--key goes with --url (or GATEPASS_URL), the server to ask.', EXIT.usage)
    const { withLocalTransport } = await import('./local-transport.ts')
    return withLocalTransport(shell, options, (transport) => run(apiOver(transport)))
  }
  if (options.project !== undefined && options.makes !== 'project')
    throw new CommandFailure(
      'With --url the API key chooses the project: leave --project out, and use a key of that project.',
      EXIT.usage,
    )
  const key = options.key ?? (shell.environment.GATEPASS_API_KEY?.trim() || undefined)
  if (key === undefined)
    throw new CommandFailure(`${url} wants an API key: give --key, or set GATEPASS_API_KEY.`, EXIT.usage)
  const { withServerTransport } = await import('./server-transport.ts')
  return withServerTransport(url, key, (transport) => run(apiOver(transport)))
}

/** The server that `--url` or `GATEPASS_URL` names. */
export function serverOf({ environment }: Shell, { url }: Pick<CommonOptions, 'url'>): string | undefined {
  return url ?? (environment.GATEPASS_URL?.trim() || undefined)
}

/** Every item of a list, page by page. */
export async function listAll<Item>(api: Api, path: string, query: Query = {}): Promise<Item[]> {
  const all: Item[] = []
  for (;;) {
    const page = await api.send<{ readonly items: readonly Item[]; readonly total_count: number }>(
      'GET',
      path,
      { query: { ...query, offset: all.length, limit: PAGE } },
    )
    all.push(...page.items)
    if (page.items.length === 0 || all.length >= page.total_count) return all
  }
}

function apiOver(transport: Transport): Api {
  const ask: Api['ask'] = async (method, path, { query = {}, body, deadlineMs = DEADLINE_MS } = {}) => {
    const json = body === undefined ? undefined : JSON.stringify(body)
    const { status, text } = await transport.fetch(method, targetOf(path, query), json, deadlineMs)
    return { status, body: read(text, status, transport.place) }
  }
  return {
    place: transport.place,
    ...(transport.opened && { opened: transport.opened }),
    ask,
    async send<Answer>(method: Method, path: string, options?: ApiRequest) {
      const { status, body } = await ask(method, path, options)
      if (status >= 200 && status < 300) return body as Answer // the wire's contract says so
      throw refusal(status, body, transport.place)
    },
    async *lines(path, query) {
      const { status, body } = await transport.stream(targetOf(path, query))
      const decoder = new TextDecoder()
      let rest = ''
      for await (const piece of body) {
        const lines = (rest + decoder.decode(piece, { stream: true })).split('\n')
        rest = lines.pop() ?? ''
        if (status === 200) yield* lines
      }
      if (status !== 200) throw refusal(status, read(rest, status, transport.place), transport.place)
      if (rest !== '') yield rest
    },
  }
}

/** The failure that an answer of the API's stands for. */
export function refusal(status: number, body: unknown, place: string): CommandFailure {
  const { name, message } = isRecord(body) ? body : {}
  return new CommandFailure(
    typeof message === 'string'
      ? message.replaceAll(/\s+/g, ' ')
      : `${place} answered with status ${status}.`,
    exitCodeOf(name, status),
  )
}

function read(text: string, status: number, place: string): unknown {
  if (text === '') return undefined
  try {
    return JSON.parse(text)
  } catch {
    throw new CommandFailure(
      `${place} answered with status ${status} and no JSON, so it is no Gatepass, or something stands before it.`,
      exitCodeOf(undefined, status),
    )
  }
}

function targetOf(path: string, query: Query): string {
  const said = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  )
  return said.length === 0 ? path : `${path}?${new URLSearchParams(said)}`
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
