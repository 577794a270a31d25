import { OPERATIONS } from '../generated/operations.ts'
import type { Operations } from '../generated/wire.ts'
import { isRecord } from '../is-record.ts'
import { ConnectionError, GatepassError, InvalidRequest, TimeoutError } from './errors.ts'
import { refusalOf, toRefusal } from './refusal.ts'
import { LONGEST_TIMER_MS, pause, type Repetition, retryPauseMs } from './retry.ts'

/** The signature of `fetch` of the web standards. */
export type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>

/** Is called for each request and each repetition; never with a key, a token or a body. `console` fits. */
export interface Logger {
  debug(message: string): void
  warn(message: string): void
}

/** What methods that send a request take besides their own options. */
export interface RequestOptions {
  /** Ends the request; the method then throws the signal's reason. */
  readonly signal?: AbortSignal | undefined
  /** How long one attempt may take, in milliseconds. */
  readonly timeoutMs?: number | undefined
  /** How often a failed request is repeated. */
  readonly maxRetries?: number | undefined
  /** The W3C `traceparent` of your span: Gatepass continues the trace, if it exports traces. */
  readonly traceparent?: string | undefined
}

type OperationId = keyof Operations
type Part = 'params' | 'query' | 'body'

/** The parts of a request of the operation; one that may be empty is optional. */
type PartsOf<Operation extends Record<Part, unknown>> = {
  readonly [Name in Part as IsOptional<Operation[Name]> extends true ? never : Name]: Operation[Name]
} & {
  readonly [Name in Part as IsOptional<Operation[Name]> extends true ? Name : never]?:
    | Operation[Name]
    | undefined
}

type IsOptional<T> = undefined extends T ? true : Record<never, never> extends T ? true : false

/** The input of a request, with the types of the operation in openapi.json. */
export type Parts<Id extends OperationId> = PartsOf<Operations[Id]> & {
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** In place of that of the operation. */
  readonly repetition?: Repetition | undefined
  readonly options?: RequestOptions | undefined
}

/** Optional if every part is. */
export type PartsArgument<Id extends OperationId> =
  Record<never, never> extends Parts<Id> ? [parts?: Parts<Id>] : [parts: Parts<Id>]

/** A request whose types were checked as `Parts`. */
interface ApiRequest {
  readonly method: string
  readonly path: string
  readonly params?: Readonly<Record<string, string>> | undefined
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>> | undefined
  readonly body?: object | null | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly repetition?: Repetition | undefined
  readonly options?: RequestOptions | undefined
}

export interface Answer<T> {
  readonly body: T
  readonly headers: Headers
}

/** Sends requests to one Gatepass with one API key. */
export interface Transport {
  readonly baseUrl: string
  /** Sends a request of the operation and reads the JSON of the answer. */
  call<Id extends OperationId>(id: Id, ...parts: PartsArgument<Id>): Promise<Operations[Id]['answer']>
  /** The same, with the headers of the answer. */
  callWithHeaders<Id extends OperationId>(
    id: Id,
    ...parts: PartsArgument<Id>
  ): Promise<Answer<Operations[Id]['answer']>>
  /** Sends a request and returns the response as soon as its headers are there; its body has no deadline. */
  open<Id extends OperationId>(id: Id, ...parts: PartsArgument<Id>): Promise<Response>
  /** Sends one request that is built already. The deadline covers what `read` does with the response, of any status. */
  send<T>(
    url: string,
    init: RequestInit,
    options: RequestOptions,
    read: (response: Response) => Promise<T>,
  ): Promise<T>
  /** Repeats `attempt` after failures as `repetition` allows. */
  repeated<T>(attempt: () => Promise<T>, request: Repeatable): Promise<T>
  /** The headers that every request carries. */
  headers(): Record<string, string>
}

type Repeatable = Pick<ApiRequest, 'method' | 'path' | 'options'> & { readonly repetition: Repetition }

export interface TransportOptions {
  readonly baseUrl: string
  readonly apiKey: string
  readonly timeoutMs: number
  readonly maxRetries: number
  readonly fetch: Fetch
  readonly headers: Readonly<Record<string, string>>
  readonly logger: Logger | undefined
}

export function createTransport(options: TransportOptions): Transport {
  const { baseUrl, apiKey, logger, fetch: fetchWith } = options
  // `Headers` makes the names lower-case, so that the client's own headers replace those of `options`
  const headers = () => ({
    ...Object.fromEntries(new Headers(options.headers)),
    authorization: `Bearer ${apiKey}`,
  })

  /** One attempt, whose deadline covers what `read` does with the response. */
  async function attempt<T>(
    url: string,
    init: RequestInit,
    { signal, timeoutMs = options.timeoutMs }: RequestOptions,
    read: (response: Response) => Promise<T>,
  ): Promise<T> {
    signal?.throwIfAborted()
    const deadline = new AbortController()
    const timer = setTimeout(() => deadline.abort(), Math.min(timeoutMs, LONGEST_TIMER_MS))
    const ending = signal ? AbortSignal.any([signal, deadline.signal]) : deadline.signal
    try {
      return await read(await fetchWith(url, { ...init, signal: ending }))
    } catch (cause) {
      signal?.throwIfAborted()
      if (deadline.signal.aborted)
        throw new TimeoutError('timeout', `There was no answer within ${timeoutMs} ms.`, { cause })
      if (cause instanceof GatepassError) throw cause
      throw new ConnectionError('connection_error', `${new URL(baseUrl).origin} could not be reached.`, {
        cause,
      })
    } finally {
      clearTimeout(timer)
    }
  }

  async function repeated<T>(
    once: () => Promise<T>,
    { method, path, repetition, options: { signal, maxRetries = options.maxRetries } = {} }: Repeatable,
  ): Promise<T> {
    for (let retries = 0; ; retries++) {
      const begun = Date.now()
      try {
        const result = await once()
        logger?.debug(`${method} ${path} answered in ${Date.now() - begun} ms`)
        return result
      } catch (error) {
        const pauseMs = retries < maxRetries ? retryPauseMs(error, repetition, retries) : undefined
        const what = error instanceof GatepassError ? error.code : 'aborted'
        if (pauseMs === undefined) {
          logger?.debug(`${method} ${path} failed in ${Date.now() - begun} ms: ${what}`)
          throw error
        }
        logger?.warn(`${method} ${path} failed: ${what}; attempt ${retries + 2} in ${pauseMs} ms`)
        await pause(pauseMs, signal)
      }
    }
  }

  function prepare(request: ApiRequest) {
    const { method, params = {}, query = {}, body, repetition = 'safe', options: requested = {} } = request
    const path = request.path.replaceAll(/\{(\w+)\}/g, (_, name) => pathSegment(name, params[name]))
    const sent: Record<string, string> = {
      accept: 'application/json',
      ...(body && { 'content-type': 'application/json' }),
      ...(requested.traceparent !== undefined && { traceparent: requested.traceparent }),
      ...(repetition === 'by_key' && { 'idempotency-key': crypto.randomUUID() }),
      ...headers(),
      ...request.headers,
    }
    const init = {
      method,
      headers: new Headers(sent), // throws for an invalid value: here, because retries would not help
      redirect: 'manual' as const, // the API never redirects; another server could get the input
      ...(body && { body: JSON.stringify(body) }),
    }
    return {
      attempt: <T>(read: (response: Response) => Promise<T>) =>
        attempt(`${baseUrl}${path}${toQuery(query)}`, init, requested, read),
      repeatable: { method, path, repetition, options: requested },
    }
  }

  /** All `Parts` are parts of an `ApiRequest`. */
  function prepareCall<Id extends OperationId>(id: Id, parts: Parts<Id> | undefined) {
    const [method, path, repetition] = OPERATIONS[id]
    return prepare({ method, path, repetition, ...parts } as ApiRequest)
  }

  async function callWithHeaders<Id extends OperationId>(
    id: Id,
    ...[parts]: PartsArgument<Id>
  ): Promise<Answer<Operations[Id]['answer']>> {
    const { attempt: once, repeatable } = prepareCall(id, parts)
    return repeated(() => once(readJson<Operations[Id]['answer']>), repeatable)
  }

  return {
    baseUrl,
    headers,
    repeated,
    callWithHeaders,
    call: async (id, ...parts) => (await callWithHeaders(id, ...parts)).body,
    open(id, ...[parts]) {
      const { attempt: once, repeatable } = prepareCall(id, parts)
      return repeated(() => once(asOpened), repeatable)
    },
    send: attempt,
  }
}

/** Refuses `.`, `..` (which `fetch` resolves) and an empty id (the whole list): they would reach another operation. */
function pathSegment(name: string, value = ''): string {
  if (!['', '.', '..'].includes(value)) return encodeURIComponent(value)
  throw new InvalidRequest('invalid_request', `${JSON.stringify(value)} is no ${name}.`, {})
}

/**
 * Returns a header value with the UTF-8 bytes of the text, each as one character, because header values are bytes.
 * Throws `invalid_request` for white space at either end, which HTTP strips: the header would name another user,
 * account or key.
 */
export function toHeader(text: string): string {
  if (!/^[ \t\r\n]|[ \t\r\n]$/.test(text)) return String.fromCharCode(...new TextEncoder().encode(text))
  throw new InvalidRequest(
    'invalid_request',
    `${JSON.stringify(text)} begins or ends with white space, which no header carries.`,
    {},
  )
}

async function asOpened(response: Response): Promise<Response> {
  if (!response.ok) throw await toRefusal(response)
  return response
}

/** The status of an import whose tools were all refused: `items` say why. Other refusals of this status have none. */
const ALL_REFUSED = 422

async function readJson<T>(response: Response): Promise<Answer<T>> {
  if (!response.ok && response.status !== ALL_REFUSED) throw await toRefusal(response)
  const { status, headers } = response
  const text = await response.text()
  const body = text === '' ? undefined : parseJson(text)
  const isAnswer = response.ok || (isRecord(body) && 'items' in body)
  if (!isAnswer) throw refusalOf(response, body)
  if ((typeof body !== 'object' || body === null) && status !== 204)
    throw new GatepassError(
      'unexpected_answer',
      `The answer is no JSON object (${headers.get('content-type') ?? 'without a type'}). Is this the URL of a Gatepass?`,
      { status },
    )
  return { body: body as T, headers } // the caller knows the type of each answer from openapi.json
}

/** Returns `undefined` if the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function toQuery(query: NonNullable<ApiRequest['query']>): string {
  const present = Object.entries(query).filter(([, value]) => value !== undefined)
  if (present.length === 0) return ''
  return `?${new URLSearchParams(present.map(([name, value]): [string, string] => [name, String(value)]))}`
}
