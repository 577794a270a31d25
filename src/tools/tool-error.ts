import { asText } from './read-json.ts'

/** The kinds of error that a run may end with: Arcade's closed list, on which callers switch. */
export const ERROR_KINDS = [
  'TOOLKIT_LOAD_FAILED',
  'TOOL_DEFINITION_BAD_DEFINITION',
  'TOOL_DEFINITION_BAD_INPUT_SCHEMA',
  'TOOL_DEFINITION_BAD_OUTPUT_SCHEMA',
  'TOOL_REQUIREMENTS_NOT_MET',
  'TOOL_RUNTIME_BAD_INPUT_VALUE',
  'TOOL_RUNTIME_BAD_OUTPUT_VALUE',
  'TOOL_RUNTIME_RETRY',
  'TOOL_RUNTIME_CONTEXT_REQUIRED',
  'TOOL_RUNTIME_FATAL',
  'CONTEXT_CHECK_FAILED',
  'CONTEXT_DENIED',
  'UPSTREAM_RUNTIME_BAD_REQUEST',
  'UPSTREAM_RUNTIME_AUTH_ERROR',
  'UPSTREAM_RUNTIME_NOT_FOUND',
  'UPSTREAM_RUNTIME_VALIDATION_ERROR',
  'UPSTREAM_RUNTIME_RATE_LIMIT',
  'UPSTREAM_RUNTIME_SERVER_ERROR',
  'UPSTREAM_RUNTIME_UNMAPPED',
  'NETWORK_TRANSPORT_RUNTIME_TIMEOUT',
  'NETWORK_TRANSPORT_RUNTIME_UNREACHABLE',
  'NETWORK_TRANSPORT_RUNTIME_UNMAPPED',
  'UNKNOWN',
] as const

export type ErrorKind = (typeof ERROR_KINDS)[number]

/** How a run failed. */
export interface ToolError {
  readonly kind: ErrorKind
  /** For users and models. */
  readonly message: string
  /** Whether the same call can be repeated and does nothing twice. */
  readonly canRetry: boolean
  /** For developers: never shown to a model. */
  readonly developerMessage?: string
  /** Text that a caller adds to a model's prompt before it retries. */
  readonly additionalPromptContent?: string
  readonly retryAfterMs?: number
  /** The HTTP status of the worker, or of the API that the tool called. */
  readonly statusCode?: number
  /** For the log; callers see it only if they ask for it. */
  readonly stacktrace?: string
  /** Further members that the worker sent. */
  readonly extra?: Readonly<Record<string, unknown>>
  /** Which parameters of the input are wrong, and why. */
  readonly parameterErrors?: Readonly<Record<string, string>>
}

/** Kinds that only the broker may report; a worker that sends one of them would fake a refusal of the broker. */
const BROKER_KINDS: ReadonlySet<ErrorKind> = new Set([
  'TOOL_REQUIREMENTS_NOT_MET',
  'CONTEXT_CHECK_FAILED',
  'CONTEXT_DENIED',
])

/** Kinds that only arcade-mcp-ts has, and the nearest kind of the list. */
const ARCADE_MCP_TS_KINDS = new Map<string, ErrorKind>([
  ['TOOL_SERIALIZATION', 'TOOL_RUNTIME_BAD_OUTPUT_VALUE'],
  ['TOOL_RUNTIME_RESPONSE_EXTRACTION', 'TOOL_RUNTIME_BAD_OUTPUT_VALUE'],
  ['TOOL_RUNTIME_EXECUTION', 'TOOL_RUNTIME_FATAL'],
])

/** The kind that a worker sent, in upper or lower case. `UNKNOWN` for a kind that is not listed or that workers may not report. */
export function readErrorKind(kind: unknown): ErrorKind {
  const upper = typeof kind === 'string' ? kind.toUpperCase() : ''
  const known = ERROR_KINDS.find((candidate) => candidate === upper) ?? ARCADE_MCP_TS_KINDS.get(upper)
  return known === undefined || BROKER_KINDS.has(known) ? 'UNKNOWN' : known
}

/** The error for an answer that breaks the worker's protocol. */
export function badOutputError(developerMessage: string): ToolError {
  return {
    kind: 'TOOL_RUNTIME_BAD_OUTPUT_VALUE',
    message: 'The tool gave an answer that cannot be read.',
    canRetry: false,
    developerMessage,
  }
}

const STACK = /^(?:stack|stack_?trace|trace_?back)$/i

/** Separates stack traces from the further members of an error, because callers see stack traces only on request. */
export function withoutStacks(extra: Readonly<Record<string, unknown>>): {
  readonly extra: Readonly<Record<string, unknown>>
  readonly stacktrace?: string
} {
  const stacks: string[] = []
  const strip = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(strip)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value).flatMap(([name, member]) => {
        if (!STACK.test(name)) return [[name, strip(member)]]
        stacks.push(Array.isArray(member) ? member.map(asText).join('\n') : asText(member))
        return []
      }),
    )
  }
  const rest = strip(extra) as Readonly<Record<string, unknown>> // `strip` of an object returns an object
  return { extra: rest, ...(stacks.length > 0 && { stacktrace: stacks.join('\n') }) }
}
