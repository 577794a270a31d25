import { isRecord } from '../parsing/json-record.ts'
import { GatepassError } from '../sdk/client/errors.ts'
import { createTransport, type PartsArgument } from '../sdk/client/transport.ts'
import { OPERATIONS } from '../sdk/generated/operations.ts'
import type { Operations } from '../sdk/generated/wire.ts'
import { CommandFailure, EXIT, exitCodeOf } from './failure.ts'
import type { CommonOptions, Shell } from './shell.ts'
import type { Method, OpenApiOptions, Transport } from './transport.ts'
import type { LocalInstallation } from './with-broker.ts'

/**
 * The HTTP API, as administration commands use it. The requests go to a server (`--url`), or to the same API in this
 * process, which works on the database. So the code of a command is the same in both cases.
 */
export interface Api {
  /** The installation's name in messages: the server's origin, or the database. */
  readonly place: string
  /** The open database, if the command works on it directly. */
  readonly local?: LocalInstallation
  /** Sends a request of the operation. Throws `CommandFailure` with the API's message for a refusal. */
  call<Id extends keyof Operations>(id: Id, ...parts: PartsArgument<Id>): Promise<Operations[Id]['answer']>
  /** The same, but returns `undefined` where the API answers `not_found`. */
  find<Id extends keyof Operations>(
    id: Id,
    ...parts: PartsArgument<Id>
  ): Promise<Operations[Id]['answer'] | undefined>
  /** Requests the items of a list page by page: all of them, or the first `most`. */
  list<Id extends ListId>(id: Id, parts?: ListParts<Id>, most?: number): Promise<ItemOf<Id>[]>
  /** Sends a GET request of the operation and yields the lines of a long response, as they arrive. */
  linesOf(id: keyof Operations, query: Query): AsyncIterable<string>
  /** Sends a request. Throws `CommandFailure` with the API's message for every status but 2xx. */
  send<Answer>(method: Method, path: string, options?: ApiRequest): Promise<Answer>
  /** Sends a request and returns the response of any status. */
  request(method: Method, path: string, options?: ApiRequest): Promise<ApiResponse>
  /** Sends a GET request and yields the lines of a long response, as they arrive. */
  lines(path: string, query: Query): AsyncIterable<string>
}

/** The operations that answer a page of a list. */
type ListId = {
  [Id in keyof Operations]: Operations[Id]['answer'] extends ListPage<unknown> ? Id : never
}[keyof Operations]

type ItemOf<Id extends ListId> = Operations[Id]['answer']['items'][number]

/** The path parameters and the filters of a list. */
type ListParts<Id extends ListId> = {
  readonly params?: Operations[Id]['params']
  readonly query?: Omit<NonNullable<Operations[Id]['query']>, 'offset' | 'limit' | 'cursor'>
}

export type Query = Readonly<Record<string, string | number | undefined>>

export interface ApiRequest {
  readonly query?: Query
  readonly body?: unknown
  readonly deadlineMs?: number
}

export interface ApiResponse {
  readonly status: number
  readonly body: unknown
}

const DEADLINE_MS = 60_000
/** The number of items to request in one page of a list. */
const PAGE_SIZE = 100

/** Runs the command against the server of `--url` or `GATEPASS_URL`, else on the database of the settings. */
export async function withApi(
  shell: Shell,
  options: OpenApiOptions,
  run: (api: Api) => Promise<void>,
): Promise<void> {
  const url = serverOf(shell, options)
  if (url === undefined) {
    if (options.key !== undefined)
      throw new CommandFailure(
        '--key needs --url (or GATEPASS_URL), the server that the key is for.',
        EXIT.usage,
      )
    const { withLocalTransport } = await import('./local-transport.ts')
    return withLocalTransport(shell, options, (transport) => run(apiOver(transport)))
  }
  if (options.project !== undefined && options.creates !== 'project')
    throw new CommandFailure(
      'With --url the API key chooses the project: leave --project out, and use a key of that project.',
      EXIT.usage,
    )
  const key = options.key ?? (shell.environment.GATEPASS_API_KEY?.trim() || undefined)
  if (key === undefined)
    throw new CommandFailure(`${url} requires an API key: give --key, or set GATEPASS_API_KEY.`, EXIT.usage)
  const { withServerTransport } = await import('./server-transport.ts')
  return withServerTransport(url, key, (transport) => run(apiOver(transport)))
}

/** Runs the command on the files of the catalogue: for commands that need neither a server nor a database. */
export async function withCatalogueFiles(shell: Shell, run: (api: Api) => Promise<void>): Promise<void> {
  const { withCatalogueTransport } = await import('./catalogue-transport.ts')
  return withCatalogueTransport(shell, (transport) => run(apiOver(transport)))
}

/** The URL of the server that `--url` or `GATEPASS_URL` names; `undefined` if neither is set. */
export function serverOf({ environment }: Shell, { url }: Pick<CommonOptions, 'url'>): string | undefined {
  return url ?? (environment.GATEPASS_URL?.trim() || undefined)
}

interface ListPage<Item> {
  readonly items: readonly Item[]
  readonly total_count: number
  /** Absent on the last page, in lists that have no cursors, and from servers of version 0.1.0. */
  readonly next_cursor?: string
}

/** Fetches the items of a list page by page: all of them, or the first `most`. */
export async function listAll<Item>(
  api: Api,
  path: string,
  query: Query = {},
  most = Number.POSITIVE_INFINITY,
): Promise<Item[]> {
  const all: Item[] = []
  let position: Query = {}
  for (;;) {
    const page = await api.send<ListPage<Item>>('GET', path, {
      query: { ...query, ...position, limit: Math.min(PAGE_SIZE, most - all.length) },
    })
    const { items, total_count, next_cursor: cursor } = page
    all.push(...items)
    if (all.length >= most) return all
    if (cursor !== undefined) position = { cursor }
    else if (position.cursor !== undefined || items.length === 0 || all.length >= total_count) return all
    else position = { offset: all.length }
  }
}

function apiOver(transport: Transport): Api {
  const request: Api['request'] = async (
    method,
    path,
    { query = {}, body, deadlineMs = DEADLINE_MS } = {},
  ) => {
    const json = body === undefined ? undefined : JSON.stringify(body)
    const { status, text } = await transport.fetch(
      method,
      targetOf(path, query),
      json,
      AbortSignal.timeout(deadlineMs),
    )
    return { status, body: parseBody(text, status, transport.place) }
  }
  const { place } = transport
  const client = createTransport({
    baseUrl: transport.baseUrl,
    apiKey: transport.key,
    timeoutMs: DEADLINE_MS,
    maxRetries: 0,
    headers: {},
    logger: undefined,
    async fetch(url, { method = 'GET', body, signal } = {}) {
      const target = String(url).slice(transport.baseUrl.length)
      const { status, text } = await transport.fetch(method as Method, target, body as string, signal)
      return new Response(text === '' ? null : text, { status })
    },
  })
  const call: Api['call'] = (id, ...parts) =>
    client.call(id, ...parts).catch((error: unknown) => {
      throw failureOf(error, place)
    })
  return {
    place,
    ...(transport.local && { local: transport.local }),
    call,
    find: (id, ...parts) =>
      call(id, ...parts).catch((error: unknown) => {
        if (error instanceof CommandFailure && error.refusal?.code === 'not_found') return undefined
        throw error
      }),
    async list(id, parts = {}, most = Number.POSITIVE_INFINITY) {
      const all: ItemOf<typeof id>[] = []
      let position: Query = {}
      for (;;) {
        const query = { ...parts.query, ...position, limit: Math.min(PAGE_SIZE, most - all.length) }
        const sent = [{ params: parts.params, query }] as unknown as PartsArgument<typeof id> // all lists have pages
        const page: ListPage<ItemOf<typeof id>> = await call(id, ...sent)
        const { items, total_count, next_cursor: cursor } = page
        all.push(...items)
        if (all.length >= most) return all
        if (cursor !== undefined) position = { cursor }
        else if (position.cursor !== undefined || items.length === 0 || all.length >= total_count) return all
        else position = { offset: all.length }
      }
    },
    linesOf: (id, query) => lines(OPERATIONS[id][1], query),
    request,
    async send<Answer>(method: Method, path: string, options?: ApiRequest) {
      const { status, body } = await request(method, path, options)
      if (status >= 200 && status < 300) return body as Answer // the API guarantees this type
      throw refusal(status, body, transport.place)
    },
    lines,
  }

  async function* lines(path: string, query: Query): AsyncGenerator<string, void> {
    const { status, body } = await transport.stream(targetOf(path, query))
    const decoder = new TextDecoder()
    let rest = ''
    for await (const piece of body) {
      const lines = (rest + decoder.decode(piece, { stream: true })).split('\n')
      rest = lines.pop() ?? ''
      if (status === 200) yield* lines
    }
    if (status !== 200) throw refusal(status, parseBody(rest, status, transport.place), transport.place)
    if (rest !== '') yield rest
  }
}

/** The failure of the command for an error of the SDK. */
function failureOf(error: unknown, place: string): unknown {
  if (!(error instanceof GatepassError)) return error
  if (error.cause instanceof CommandFailure) return error.cause // the transport says what is wrong
  const { status, code, message } = error
  if (status === undefined) return new CommandFailure(message, EXIT.unreachable)
  if (code === 'unexpected_answer') return notGatepass(status, place)
  return new CommandFailure(message.replaceAll(/\s+/g, ' '), exitCodeOf(code, status), error)
}

/** Converts an error response of the API to a failure of the command. */
export function refusal(status: number, body: unknown, place: string): CommandFailure {
  const { name, message } = isRecord(body) ? body : {}
  return new CommandFailure(
    typeof message === 'string'
      ? message.replaceAll(/\s+/g, ' ')
      : `${place} answered with status ${status}.`,
    exitCodeOf(name, status),
  )
}

function parseBody(text: string, status: number, place: string): unknown {
  if (text === '') return undefined
  try {
    return JSON.parse(text)
  } catch {
    throw notGatepass(status, place)
  }
}

function notGatepass(status: number, place: string): CommandFailure {
  return new CommandFailure(
    `${place} answered with status ${status} and no JSON: it is not a Gatepass server, or a proxy in front of it answered.`,
    exitCodeOf(undefined, status),
  )
}

function targetOf(path: string, query: Query): string {
  const parameters = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  )
  return parameters.length === 0 ? path : `${path}?${new URLSearchParams(parameters)}`
}
