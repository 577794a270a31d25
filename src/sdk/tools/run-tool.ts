import { authName, authRequirements, type ToolAuth } from './auth.ts'
import { buildContext, type Running } from './build-context.ts'
import { type CallToolResult, isCallToolResult } from './content.ts'
import { errorDetails } from './error-details.ts'
import type { ErrorKind } from './errors.ts'
import { NotJson, toJsonText } from './json-value.ts'
import type { ConsentMissing, RunnableTool, ToolResult, ToolRun } from './run.ts'
import { isTypedSchema, parseValue } from './schema.ts'
import { timeLimit } from './time-limit.ts'
import type { AnyToolOptions } from './tool.ts'

export const DEFAULT_TIMEOUT_SECONDS = 30

/**
 * Runs a handler until it returns, its time limit passes, the caller cancels, or a tool that it calls lacks the user's
 * consent, whichever comes first. What the handler sends afterwards is dropped. Never rejects.
 */
export async function runTool(tool: RunnableTool, input: unknown, run: ToolRun): Promise<ToolResult> {
  const { timeoutSeconds = tool.options.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS } = tool
  const ending = new AbortController()
  const ended = Promise.withResolvers<ToolResult>()
  const limit = timeLimit(timeoutSeconds * 1000, () => ending.abort(new Error('The time limit has passed.')))
  const cancel = () => ending.abort(new Error('The caller has cancelled.'))
  run.signal?.addEventListener('abort', cancel)
  if (run.signal?.aborted === true) cancel()
  ending.signal.addEventListener('abort', () => ended.resolve(timedOut))
  try {
    if (ending.signal.aborted) return timedOut
    const running: Running = {
      signal: ending.signal,
      whileAsking: limit.pausedDuring,
      lacksConsent(missing: ConsentMissing) {
        ended.resolve(missing)
        ending.abort(new Error('The user must approve another tool first.'))
      },
    }
    return await Promise.race([resultOf(tool, input, run, running), ended.promise])
  } finally {
    limit.clear()
    run.signal?.removeEventListener('abort', cancel)
    ending.abort(new Error('The run has ended.'))
  }
}

async function resultOf(
  tool: RunnableTool,
  input: unknown,
  run: ToolRun,
  running: Running,
): Promise<ToolResult> {
  const { options } = tool
  try {
    // a copy, because a handler may change its input and callers keep the original
    const parsed = await parseValue(options.input, structuredClone(input))
    if (parsed.outcome === 'refused') return failed('TOOL_RUNTIME_BAD_INPUT_VALUE', parsed.reason)
    const unmet = unmetRequirement(tool, run)
    if (unmet !== undefined) return failed('TOOL_REQUIREMENTS_NOT_MET', unmet)
    const { value } = parsed
    // the schema has parsed the value
    const returned = await options.handler(buildContext(tool, value as never, run, running))
    return isCallToolResult(returned)
      ? await checkedContent(options, returned)
      : await checkedValue(options, returned)
  } catch (error) {
    if (error instanceof NotJson) return badOutput(error.message)
    return { outcome: 'error', error: errorDetails(error, options.adapters) }
  }
}

/** Returns a sentence that names a requirement which the call does not meet; `undefined` if it meets all. */
function unmetRequirement({ name, options }: RunnableTool, run: ToolRun): string | undefined {
  const { all, alternatives } = authRequirements(options.requiresAuth)
  const isHeld = (auth: ToolAuth) => run.authorizations[authName(auth)] !== undefined
  const lacking = all.find((auth) => !isHeld(auth))
  if (lacking !== undefined) return `The tool "${name}" needs a token of ${authName(lacking)}, and got none.`
  if (alternatives.length > 0 && !alternatives.some((group) => group.every(isHeld)))
    return `The tool "${name}" needs a token of one of its providers, and got none.`
  const unset = options.requiresSecrets?.find((key) => run.secret(key) === undefined)
  return unset === undefined ? undefined : `The tool "${name}" needs the secret ${unset}, which is not set.`
}

async function checkedValue({ output }: AnyToolOptions, returned: unknown): Promise<ToolResult> {
  const parsed = output === undefined ? undefined : await parseValue(output, returned)
  if (parsed?.outcome === 'refused') return badOutput(parsed.reason)
  return { outcome: 'value', json: toJsonText(parsed === undefined ? returned : parsed.value) }
}

/** Checks a complete result. Where the tool has an output schema, `structuredContent` must match the schema. */
async function checkedContent({ output }: AnyToolOptions, returned: CallToolResult): Promise<ToolResult> {
  const result: CallToolResult = JSON.parse(toJsonText(returned)) // a round trip through JSON keeps its members
  if (output === undefined || !isTypedSchema(output) || result.isError === true)
    return { outcome: 'content', result }
  const parsed = await parseValue(output, returned.structuredContent)
  if (parsed.outcome === 'refused') return badOutput(`structuredContent: ${parsed.reason}`)
  return {
    outcome: 'content',
    result: { ...result, structuredContent: JSON.parse(toJsonText(parsed.value)) },
  }
}

function failed(kind: ErrorKind, message: string, developerMessage?: string): ToolResult {
  return {
    outcome: 'error',
    error: { kind, message, canRetry: false, ...(developerMessage !== undefined && { developerMessage }) },
  }
}

/** The result does not fit the tool's schema, or is not JSON. */
function badOutput(reason: string): ToolResult {
  return failed('TOOL_RUNTIME_BAD_OUTPUT_VALUE', 'The tool gave an answer that cannot be read.', reason)
}

const timedOut: ToolResult = {
  outcome: 'error',
  isCutOff: true,
  error: {
    kind: 'NETWORK_TRANSPORT_RUNTIME_TIMEOUT',
    message: 'The tool did not answer in time.',
    canRetry: false,
  },
}
