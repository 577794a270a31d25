import type { AuthorizationRequirement } from '../../domain/tool.ts'
import type { JsonRecord } from '../../parsing/json-record.ts'
import type { AnswerPlan } from './answers/answer-plan.ts'

// A request plan says how a tool's input becomes one HTTP request. It is made from an OpenAPI operation or a request
// description, and stored with the tool as JSON, so that a call need not read the document again.

export const METHODS = ['GET', 'PUT', 'POST', 'DELETE', 'PATCH'] as const
export type Method = (typeof METHODS)[number]

export interface RequestPlan {
  readonly method: Method
  /**
   * Absolute; `{name}` is a path parameter and occurs in the path only. `{{name}}` is a value of the connection, also in the
   * host.
   */
  readonly url: string
  readonly parameters: readonly PlannedParameter[]
  /** Sent with every request; names are in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string>>
  readonly body?: PlannedBody
  /** Redirects are followed, without the credentials (follow-redirects.ts). */
  readonly followsRedirects?: true
  /** Alternatives: the first whose credentials are all available is used. Empty: none is needed. */
  readonly credentials: readonly (readonly Credential[])[]
  /** The values of properties that the input does not have. */
  readonly defaults?: Readonly<Record<string, unknown>>
  /** How the answer is read. Absent: all of it is the tool's value. */
  readonly answer?: AnswerPlan
  /** The request for the pages after the first. Absent: the same as for the first. */
  readonly nextPages?: RequestPlan
}

/** OpenAPI's styles, and `json` for a parameter with `content`. */
export type ParameterStyle = 'simple' | 'form' | 'spaceDelimited' | 'pipeDelimited' | 'deepObject' | 'json'

export interface ParameterForm {
  readonly style: ParameterStyle
  readonly explode: boolean
}

export interface PlannedParameter extends ParameterForm {
  /** The parameter's name in the tool's input. */
  readonly property: string
  readonly in: 'path' | 'query' | 'header'
  /** The parameter's name in the request. */
  readonly name: string
  /** The value, in place of the property's own (`fillTemplate`). `property` is then the first that it names. */
  readonly template?: unknown
  /** Whether slashes in the value separate segments of the path. */
  readonly isSegments?: true
}

export interface PlannedBody {
  /** A media type, or `{property}` for one that the input names. */
  readonly contentType: string
  /** `text`: the filled template is the body. `parts`: it is a list of parts (RFC 2387). */
  readonly encoding: 'json' | 'form' | 'text' | 'parts'
  /** Any JSON with placeholders (`fillTemplate`). */
  readonly template: unknown
  /** Whether its objects may be conversions. Absent: a member that begins with `$` is an ordinary one. */
  readonly hasConversions?: boolean
  /** Whether a body is sent even if no input is put into it. */
  readonly isRequired: boolean
  /** How list and object members of a form are serialized. */
  readonly forms?: Readonly<Record<string, ParameterForm>>
}

export type Credential =
  | {
      readonly kind: 'token'
      readonly requirement: Pick<AuthorizationRequirement, 'id' | 'providerId'>
      /**
       * In lower case. In `authorization` the token is written as the provider requires, in any other header
       * unchanged.
       */
      readonly header: string
    }
  | {
      readonly kind: 'secret'
      /** The secret's key. */
      readonly key: string
      readonly in: 'header' | 'query'
      readonly name: string
      /** `basic`: the secret is `user:password` (RFC 7617). */
      readonly scheme: 'plain' | 'bearer' | 'basic'
    }

const MEMBER = 'request'

/** The document of a tool that contains its request plan. */
export function toToolDocument(plan: RequestPlan): JsonRecord {
  return { [MEMBER]: plan }
}

/** Reads the request plan from a tool's document. */
export function planOf(document: JsonRecord): RequestPlan {
  return document[MEMBER] as RequestPlan // every tool of such a worker has a document made by `toToolDocument`
}

/** The placeholder of an input property in a body template. */
export function placeholder(property: string): string {
  return `{${property}}`
}

/** The property named by a text that is nothing but a placeholder. */
export function placeholderOf(text: string): string | undefined {
  return /^\{([^{}]+)\}$/.exec(text)?.[1]
}

/** Headers that only the connection or the broker sets, never a parameter. */
const RESERVED_HEADERS = new Set([
  ...[
    'accept-encoding',
    'authorization',
    'connection',
    'content-length',
    'content-type',
    'cookie',
    'dpop',
    'expect',
  ],
  ...['forwarded', 'host', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'via'],
  ...['x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto'],
])

export function isReservedHeader(name: string): boolean {
  const lower = name.toLowerCase()
  return RESERVED_HEADERS.has(lower) || lower.startsWith('proxy-')
}

/** Whether a header may carry a token or key. */
export function isCredentialHeader(name: string): boolean {
  return isHeaderName(name) && (name.toLowerCase() === 'authorization' || !isReservedHeader(name))
}

export function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}

/** Whether the text is a field name (RFC 9110 section 5.1). */
export function isHeaderName(name: string): boolean {
  return /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/.test(name)
}

/** Whether the text is a field value (RFC 9110 section 5.5) without line breaks or control characters. */
export function isHeaderValue(value: string): boolean {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(value)
}
