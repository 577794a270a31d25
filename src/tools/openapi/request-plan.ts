import type { AuthorizationRequirement } from '../../domain/tool.ts'
import type { JsonRecord } from '../read-json.ts'

// How a tool's input becomes one HTTP request: what an OpenAPI operation or a request description comes down to. It is
// kept with the tool, as JSON, so that a call need not read the document again.

export const METHODS = ['GET', 'PUT', 'POST', 'DELETE', 'PATCH'] as const
export type Method = (typeof METHODS)[number]

export interface RequestPlan {
  readonly method: Method
  /** Absolute; `{name}` stands for a path parameter, and only in its path. */
  readonly url: string
  readonly parameters: readonly PlannedParameter[]
  /** Sent with every request; names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string>>
  readonly body?: PlannedBody
  /** The alternatives: the first for which everything is there is used. Empty: none is needed. */
  readonly credentials: readonly (readonly Credential[])[]
}

/** As OpenAPI has them; `json` is a parameter with `content`. */
export type ParameterStyle = 'simple' | 'form' | 'spaceDelimited' | 'pipeDelimited' | 'deepObject' | 'json'

export interface ParameterForm {
  readonly style: ParameterStyle
  readonly explode: boolean
}

export interface PlannedParameter extends ParameterForm {
  /** What the tool's input calls it. */
  readonly property: string
  readonly in: 'path' | 'query' | 'header'
  /** What the request calls it. */
  readonly name: string
}

export interface PlannedBody {
  readonly contentType: string
  readonly encoding: 'json' | 'form'
  /** Any JSON in which the text `{property}` stands for that property of the input. */
  readonly template: unknown
  /** Whether one is sent when nothing is put in. */
  readonly isRequired: boolean
  /** Of members of a form that are lists or objects. */
  readonly forms?: Readonly<Record<string, ParameterForm>>
}

export type Credential =
  | {
      readonly kind: 'token'
      readonly requirement: Pick<AuthorizationRequirement, 'id' | 'providerId'>
      /** In lower case. In `authorization` it is written as the provider wants it, in any other as it is. */
      readonly header: string
    }
  | {
      readonly kind: 'secret'
      /** The secret's. */
      readonly key: string
      readonly in: 'header' | 'query'
      readonly name: string
      /** `basic`: the secret is `user:password` (RFC 7617). */
      readonly scheme: 'plain' | 'bearer' | 'basic'
    }

const MEMBER = 'request'

export function toToolDocument(plan: RequestPlan): JsonRecord {
  return { [MEMBER]: plan }
}

export function planOf(document: JsonRecord): RequestPlan {
  return document[MEMBER] as RequestPlan // a tool of such a worker has what `toToolDocument` made
}

/** What an input property is called in a body's template. */
export function placeholder(property: string): string {
  return `{${property}}`
}

/** The property that a text stands for, if it is nothing but a placeholder. */
export function placeholderOf(text: string): string | undefined {
  return /^\{([^{}]+)\}$/.exec(text)?.[1]
}

/** Header names that are the connection's or the broker's, never a parameter's. */
const RESERVED_HEADERS = new Set([
  ...['accept-encoding', 'authorization', 'connection', 'content-length', 'content-type', 'cookie', 'expect'],
  ...['forwarded', 'host', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'via'],
  ...['x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto'],
])

export function isReservedHeader(name: string): boolean {
  const lower = name.toLowerCase()
  return RESERVED_HEADERS.has(lower) || lower.startsWith('proxy-')
}

/** Whether a token or a key may stand there. */
export function isCredentialHeader(name: string): boolean {
  return isHeaderName(name) && (name.toLowerCase() === 'authorization' || !isReservedHeader(name))
}

export function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}

/** RFC 9110 section 5.1. */
export function isHeaderName(name: string): boolean {
  return /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/.test(name)
}

/** RFC 9110 section 5.5, without what would end the line or the field. */
export function isHeaderValue(value: string): boolean {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(value)
}
