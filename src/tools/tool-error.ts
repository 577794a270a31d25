/** The kinds of error a tool run may end with (reference/arcade.md section 1.4), a closed list for callers to switch on. */
const ERROR_KINDS = [
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

/** How a tool run failed, as the wire has it. `message` may be shown to a user or a model, `developer_message` not. */
export interface ToolError {
  readonly kind: ErrorKind
  readonly message: string
  /** Whether the same call may be made again without doing anything twice. */
  readonly can_retry: boolean
  readonly developer_message?: string
  readonly additional_prompt_content?: string
  readonly retry_after_ms?: number
  readonly status_code?: number
  readonly stacktrace?: string
  readonly extra?: Readonly<Record<string, unknown>>
}

/** What only the broker itself says: a worker that does would pass off its failure as a refusal of ours. */
const OWN_KINDS: ReadonlySet<ErrorKind> = new Set([
  'TOOL_REQUIREMENTS_NOT_MET',
  'CONTEXT_CHECK_FAILED',
  'CONTEXT_DENIED',
])

/** Kinds of arcade-mcp-ts alone, and the contract's nearest. */
const OTHER_KINDS = new Map<string, ErrorKind>([
  ['TOOL_SERIALIZATION', 'TOOL_RUNTIME_BAD_OUTPUT_VALUE'],
  ['TOOL_RUNTIME_RESPONSE_EXTRACTION', 'TOOL_RUNTIME_BAD_OUTPUT_VALUE'],
  ['TOOL_RUNTIME_EXECUTION', 'TOOL_RUNTIME_FATAL'],
])

/** The kind that a worker says, in any case; what is no known kind, or none of a worker's to say, is `UNKNOWN`. */
export function readErrorKind(kind: unknown): ErrorKind {
  const upper = typeof kind === 'string' ? kind.toUpperCase() : ''
  const known = ERROR_KINDS.find((one) => one === upper) ?? OTHER_KINDS.get(upper)
  return known === undefined || OWN_KINDS.has(known) ? 'UNKNOWN' : known
}

/** What runs the tool gave an answer that is none. */
export function badOutputError(developer_message: string): ToolError {
  return {
    kind: 'TOOL_RUNTIME_BAD_OUTPUT_VALUE',
    message: 'The tool gave an answer that cannot be read.',
    can_retry: false,
    developer_message,
  }
}

const STACK = /^(?:stack|stack_?trace|trace_?back)$/i

/** What a worker says besides of an error, and the stack trace in it, which is not for callers. */
export function withoutStacks(extra: Readonly<Record<string, unknown>>): {
  readonly extra: Readonly<Record<string, unknown>>
  readonly stacktrace?: string
} {
  const stacks: string[] = []
  const strip = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(strip)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value).flatMap(([name, one]) => {
        if (!STACK.test(name)) return [[name, strip(one)]]
        stacks.push(Array.isArray(one) ? one.map(String).join('\n') : String(one))
        return []
      }),
    )
  }
  const rest = strip(extra) as Readonly<Record<string, unknown>> // an object stays one
  return { extra: rest, ...(stacks.length > 0 && { stacktrace: stacks.join('\n') }) }
}
