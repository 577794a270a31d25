import { createHash } from 'node:crypto'
import { BrokerError } from '../domain/errors.ts'
import { isRecord } from '../parsing/json-record.ts'
import type { ApiTarget } from '../providers/api-target.ts'
import type { ProviderEntry } from '../providers/provider-entry.ts'
import type { ShownUse } from './release-tokens.ts'

// What people are shown of a request that is forwarded, before they approve it.

/** Methods that only read (RFC 9110 section 9.2.1). */
const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS'])
/** Whether the same request may be sent twice without doing anything twice (RFC 9110 section 9.2.2). */
export function isSafelyRepeated(method: string): boolean {
  return SAFE_METHODS.has(method) || method === 'PUT' || method === 'DELETE'
}

/** Headers that describe the program that sends the request or name this one sending of it. They are not bound. */
const UNBOUND = new Set([
  'user-agent',
  'content-length',
  'date',
  'priority',
  'idempotency-key',
  'x-request-id',
  'x-correlation-id',
])
const CREDENTIAL = /key|token|secret|signature|password|auth/i

interface Request {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Uint8Array | AsyncIterable<Uint8Array>
}

/** Throws `request_too_large` for a body that is streamed, because people can be shown nothing before it is sent. */
export function shownRequest(
  { method, headers, body }: Request,
  { url, path }: ApiTarget,
  entry: ProviderEntry,
): ShownUse {
  if (body !== undefined && !(body instanceof Uint8Array))
    throw new BrokerError(
      'request_too_large',
      'A person must approve this request, and its body is larger than 256 KiB. Send less, or let an administrator exempt it from the policy.',
    )
  const [pathname = '', query] = splitOnce(path, '?')
  const own = Object.entries(headers)
    .map(([name, value]) => [name.toLowerCase(), value] as const)
    .filter(([name]) => !UNBOUND.has(name) && !name.startsWith('sec-'))
  return {
    subject: entry.id,
    title: `${method} ${url.host}`,
    hints: SAFE_METHODS.has(method) ? ['read_only', 'open_world'] : ['destructive', 'open_world'],
    hosts: [url.host],
    input: {
      method,
      path: pathname,
      ...(query !== undefined && { query }),
      ...(body && shownBody(body, headers['content-type'])),
      ...Object.fromEntries(own.map(([name, value]) => [`header.${name}`, shownHeader(name, value)])),
    },
    always: ['method', 'path'],
    ...(body && { exact: digestOf(body) }),
  }
}

function splitOnce(text: string, separator: string): readonly [string, string?] {
  const at = text.indexOf(separator)
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)]
}

/** A header that holds a credential of the caller is compared, and neither shown nor stored. */
function shownHeader(name: string, value: string): string {
  return CREDENTIAL.test(name) ? `SHA-256 ${digestOf(value)}` : value
}

/** JSON is shown by its members, and a form as text. Of another body people learn its type, size and digest. */
function shownBody(body: Uint8Array, type = ''): Record<string, unknown> {
  const text = /^[^;]*[/+](json|x-www-form-urlencoded)\s*(;|$)/i.test(type) ? textOf(body) : undefined
  if (text === undefined) return { body: { content_type: type, size: body.length, sha256: digestOf(body) } }
  const json = /json/i.test(type) ? exactJson(text) : undefined
  if (json === undefined) return { body: text }
  if (!isRecord(json) || Object.keys(json).length === 0) return { body: json }
  return Object.fromEntries(Object.entries(json).map(([name, value]) => [`body.${name}`, value]))
}

function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/** The levels of arrays and objects of a body that is shown by its members; all that reads it later recurses. */
const MAX_JSON_DEPTH = 64
const TOKENS = /"(?:[^"\\]|\\.)*"|\s+|-?\d[\d.eE+-]*/g

/**
 * The value of a JSON text; `undefined` where the value does not show all of the text, as with repeated members or numbers
 * of many digits, which servers may read differently, and with more levels than people can read.
 */
function exactJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    if (isDeeperThan(MAX_JSON_DEPTH, value)) return undefined
    let isExact = true
    const written = text.replaceAll(TOKENS, (token) => {
      if (token.startsWith('"')) return JSON.stringify(JSON.parse(token))
      if (token.trim() === '') return ''
      if (!Number.isSafeInteger(Number(token)) && !token.includes('.')) isExact = false
      return token
    })
    return isExact && written === JSON.stringify(value) ? value : undefined
  } catch {
    return undefined
  }
}

function isDeeperThan(levels: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((member) => isDeeperThan(levels - 1, member))
}

function digestOf(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex')
}
