import type { AnyJson } from '../any-json.ts'
import type { Gatepass } from '../gatepass.ts'
import { headersOf } from './clients.ts'

export interface RawAnswer {
  readonly status: number
  readonly headers: Headers
  /** The messages of the answer: one of JSON, or each event of a stream that has ended. */
  readonly messages: readonly AnyJson[]
  /** The last message, or the body when it is no JSON. */
  readonly body: AnyJson
}

export interface RawOptions {
  readonly path?: string
  readonly method?: string
  readonly key?: string | null
  readonly user?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

export const MODERN = '2026-07-28'
export const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion'
export const CAPABILITIES_KEY = 'io.modelcontextprotocol/clientCapabilities'

/** Sends one HTTP request to `/mcp` with the headers that MCP needs, and no others. */
export async function send(
  { url, apiKey }: Pick<Gatepass, 'url' | 'apiKey'>,
  body: unknown,
  options: RawOptions = {},
): Promise<Response> {
  const { path = '/mcp', method = 'POST', key = apiKey, user = 'ada', headers, signal } = options
  return fetch(new URL(path, url), {
    method,
    headers: {
      accept: 'application/json, text/event-stream',
      ...(key !== null && headersOf(key, user)),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    ...(signal && { signal }),
  })
}

/** As `send`, and reads the whole answer. */
export async function exchange(
  gatepass: Pick<Gatepass, 'url' | 'apiKey'>,
  body: unknown,
  options?: RawOptions,
): Promise<RawAnswer> {
  const response = await send(gatepass, body, options)
  const { status, headers } = response
  const text = await response.text()
  const type = headers.get('content-type') ?? ''
  const messages = type.startsWith('text/event-stream')
    ? eventsOf(text)
    : type.startsWith('application/json')
      ? [JSON.parse(text)]
      : []
  return { status, headers, messages, body: messages.at(-1) ?? text }
}

export function eventsOf(text: string): AnyJson[] {
  return text.split('\n\n').flatMap((event) => {
    const data = event.split('\n').flatMap((line) => (line.startsWith('data: ') ? [line.slice(6)] : []))
    return data.length === 0 ? [] : [JSON.parse(data.join('\n'))]
  })
}

/** A request of MCP 2026-07-28 and the headers that belong to it. */
export function modern(method: string, params: Record<string, unknown> = {}, capabilities: object = {}) {
  const { _meta, ...rest } = params as { _meta?: object }
  return {
    body: {
      jsonrpc: '2.0',
      id: 1,
      method,
      params: { ...rest, _meta: { [VERSION_KEY]: MODERN, [CAPABILITIES_KEY]: capabilities, ..._meta } },
    },
    headers: {
      'mcp-protocol-version': MODERN,
      'mcp-method': method,
      ...(typeof params.name === 'string' && { 'mcp-name': params.name }),
    },
  }
}

export function legacy(method: string, params?: Record<string, unknown>, id: unknown = 1) {
  return { jsonrpc: '2.0', id, method, ...(params && { params }) }
}

export function initialize(version = '2025-11-25', capabilities: object = {}) {
  return legacy('initialize', {
    protocolVersion: version,
    capabilities,
    clientInfo: { name: 'test', version: '1' },
  })
}

/** Opens a session and returns the headers of its later requests. */
export async function openSession(
  gatepass: Pick<Gatepass, 'url' | 'apiKey'>,
  { version = '2025-11-25', capabilities = {}, ...options }: RawOptions & SessionOptions = {},
): Promise<Record<string, string>> {
  const { headers } = await exchange(gatepass, initialize(version, capabilities), options)
  return { 'mcp-session-id': headers.get('mcp-session-id') ?? '', 'mcp-protocol-version': version }
}

interface SessionOptions {
  readonly version?: string
  readonly capabilities?: object
}
