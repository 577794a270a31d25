import { GatepassError } from '../sdk/client/errors.ts'
import { createTransport, type PartsArgument, parseJson } from '../sdk/client/transport.ts'
import type { Operations } from '../sdk/generated/wire.ts'
import { CommandFailure, EXIT, exitCodeOf, refusalOf } from './failure.ts'
import type { LocalInstallation } from './installation.ts'
import type { CommonOptions, OpenApiOptions, Shell } from './shell.ts'
import type { Transport } from './transport.ts'

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
  /** Sends a request of the operation and yields the lines of a long response, as they arrive. */
  linesOf<Id extends keyof Operations>(id: Id, ...parts: PartsArgument<Id>): AsyncIterable<string>
  /** The URL that the server has in its own links, which may differ from `--url`. */
  publicUrl(): Promise<string>
}

/** The operations that answer a page of a list. */
export type ListId = {
  [Id in keyof Operations]: Operations[Id]['answer'] extends ListPage<unknown> ? Id : never
}[keyof Operations]

export type ItemOf<Id extends ListId> = Operations[Id]['answer']['items'][number]

/** The path parameters and the filters of a list. */
type ListParts<Id extends ListId> = {
  readonly params?: Operations[Id]['params']
  readonly query?: Omit<NonNullable<Operations[Id]['query']>, 'offset' | 'limit' | 'cursor'>
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
        '--key needs --url (or GATEPASS_URL): the server the key belongs to.',
        EXIT.usage,
      )
    return shell.withLocalTransport(shell, options, (transport) => run(apiOver(transport)))
  }
  if (options.project !== undefined && options.creates !== 'project')
    throw new CommandFailure(
      'With --url the API key chooses the project: leave out --project and use a key of that project.',
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
  return shell.withCatalogueTransport(shell, (transport) => run(apiOver(transport)))
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

/** The commands' access to the API that `transport` reaches. */
export function apiOver(transport: Transport): Api {
  const { place, baseUrl, key, local, fetch, stream = fetch } = transport
  const shared = {
    baseUrl,
    apiKey: key,
    timeoutMs: DEADLINE_MS,
    maxRetries: 0,
    headers: {},
    logger: undefined,
  }
  const client = createTransport({ ...shared, fetch })
  const streams = createTransport({ ...shared, fetch: stream })
  const fail = (error: unknown): never => {
    throw failureOf(error, place)
  }
  const call: Api['call'] = (id, ...parts) => client.call(id, ...parts).catch(fail)
  return {
    place,
    ...(local && { local }),
    call,
    find: (id, ...parts) =>
      call(id, ...parts).catch((error: unknown) => {
        if (refusalOf(error)?.code === 'not_found') return undefined
        throw error
      }),
    async list(id, parts = {}, most = Number.POSITIVE_INFINITY) {
      const all: ItemOf<typeof id>[] = []
      let position: { readonly cursor?: string; readonly offset?: number } = {}
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
    async *linesOf(id, ...parts) {
      const { body } = await streams.open(id, ...parts).catch(fail)
      let rest = ''
      for await (const text of body?.pipeThrough(new TextDecoderStream()) ?? []) {
        const lines = (rest + text).split('\n')
        rest = lines.pop() ?? ''
        yield* lines
      }
      if (rest !== '') yield rest
    },
    async publicUrl() {
      if (local !== undefined) return local.config.publicUrl.href
      const read = async (response: Response) => parseJson(await response.text())
      const document = await client.send(`${baseUrl}/openapi.json`, {}, {}, read).catch(fail)
      return (document as { readonly servers: readonly [{ readonly url: string }] }).servers[0].url // as OpenAPI has it
    },
  }
}

/** The failure of the command for an error of the SDK. */
function failureOf(error: unknown, place: string): unknown {
  if (!(error instanceof GatepassError)) return error
  if (error.cause instanceof CommandFailure) return error.cause // the transport says what is wrong
  const { status, code, message } = error
  if (status === undefined) return new CommandFailure(message, EXIT.unreachable)
  if (code !== 'unexpected_answer')
    return new CommandFailure(message.replaceAll(/\s+/g, ' '), exitCodeOf(code, status), error)
  return new CommandFailure(
    `${place} answered with status ${status} and no JSON: it is not a Gatepass server, or a proxy in front of it answered.`,
    exitCodeOf(undefined, status),
  )
}
