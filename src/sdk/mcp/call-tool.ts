import {
  type CallToolResult,
  type InputRequiredResult,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
} from '@modelcontextprotocol/server'
import type { AppTool } from '../tools/app-tools.ts'
import { logToolFailure } from '../tools/log-tool-failure.ts'
import { withOwnTools } from '../tools/own-tools.ts'
import type { ToolResult } from '../tools/run.ts'
import { runTool } from '../tools/run-tool.ts'
import { errorResult, toCallToolResult, withoutDeveloperMessage } from '../tools/tool-result.ts'
import { userAuthorizations } from '../tools/user-authorizations.ts'
import { readCallContext } from '../worker/call-request.ts'
import { type Caller, userOf } from './caller.ts'
import { answerConsent, type ConsentOptions, waitForConsent } from './consent.ts'
import { failureText } from './consent-answer.ts'
import { listedMcpTool } from './listed-tool.ts'
import { inRound, type Round, type RoundsOptions } from './rounds.ts'
import { type GivenToTool, mcpRun } from './tool-run.ts'

export interface CallOptions extends RoundsOptions, ConsentOptions {
  readonly caller: Caller
}

type Answer = CallToolResult | InputRequiredResult

/** Answers `tools/call`. */
export async function callTool(
  options: CallOptions,
  {
    name,
    arguments: input = {},
  }: { readonly name: string; readonly arguments?: Record<string, unknown> | undefined },
): Promise<Answer> {
  const { app, caller, context, isModern } = options
  const tool = app.tools.find(name)
  if (tool === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${name}`)
  return inRound<Answer>(options, { method: 'tools/call', name, input }, async (round) => {
    const given = await givenTo(options, tool, round).catch((error: unknown) => notGiven(tool, round, error))
    if ('answer' in given) return given.answer
    const { run, lacking } = mcpRun(app, context, round, given)
    const result = await runTool({ ...tool, app }, input, withOwnTools(app, run))
    if (result.outcome === 'authorization_required')
      return answerConsent(options, tool, round, result.authorization)
    const capability = lacking()
    if (isModern && capability !== undefined && isContextRequired(result))
      throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { [capability]: {} } })
    // Gatepass gets the error in the answer, and has its own log
    if (caller.kind !== 'broker' && result.outcome === 'error') logToolFailure(tool, run, result.error)
    return toAnswer(options, tool, result)
  })
}

function isContextRequired(result: ToolResult): boolean {
  return result.outcome === 'error' && result.error.kind === 'TOOL_RUNTIME_CONTEXT_REQUIRED'
}

function toAnswer(
  { server, caller }: CallOptions,
  tool: AppTool,
  result: Exclude<ToolResult, { readonly outcome: 'authorization_required' }>,
): CallToolResult {
  // the message for the operator may contain a token, and only Gatepass removes tokens from it
  const shown = caller.kind === 'broker' ? result : withoutDeveloperMessage(result)
  const answer = toCallToolResult(shown) as CallToolResult // the SDK's type has further members
  // a tool with an output schema promises structured content of any type
  const isPromised = tool.options.output !== undefined && result.outcome === 'value'
  const structured = isPromised ? { ...answer, structuredContent: JSON.parse(result.json) } : answer
  return server.projectCallToolResult(structured, listedMcpTool(tool).outputSchema)
}

/** What the tool needs besides its input, or the answer to give instead. */
async function givenTo(
  options: CallOptions,
  tool: AppTool,
  round: Round,
): Promise<GivenToTool | { readonly answer: Answer }> {
  const { app, caller, context } = options
  const { requiresAuth } = tool.options
  // only Gatepass is trusted to name the user in `_meta`: other callers could name any user
  if (caller.kind === 'broker') {
    const sent = readCallContext(context.mcpReq._meta?.arcade_context)
    return { ...sent, authorizations: sent.authorizations(requiresAuth) }
  }
  const userId = userOf(caller)
  const given = { userId, secrets: {}, metadata: {}, authorizations: {} }
  // even a tool without `requiresAuth` may wait: for the consent of another tool that it calls
  const waited = app.gatepass && (await waitForConsent(options, round, app.gatepass))
  if (waited !== undefined) return { answer: waited }
  if (requiresAuth === undefined) return given
  if (userId === null)
    return refusal('The tool needs a user. Start this server with a user, or connect with a user’s token.')
  if (app.gatepass === undefined)
    return refusal(
      'The tool needs a provider’s token, which this server cannot get: its app has no Gatepass.',
    )
  const held = await userAuthorizations(app.gatepass, userId, requiresAuth, round.signal)
  if (held.outcome === 'missing')
    return { answer: await answerConsent(options, tool, round, held.authorization) }
  return { ...given, authorizations: held.authorizations }
}

/**
 * Answers a call whose tokens cannot be got, because Gatepass cannot be reached or refuses. The client does not get
 * the reason, which may contain internals.
 */
function notGiven({ name }: AppTool, { signal }: Round, error: unknown): { readonly answer: Answer } {
  if (error instanceof ProtocolError) throw error // clients of 2025 get the link for the user as this error
  if (!signal.aborted) console.error('Gatepass has not given the tokens of the tool %s:', name, error)
  const message = 'The tool was not run, because Gatepass did not give the tokens that it needs.'
  const canRetry = !isRefusal(error)
  const answer = errorResult({
    kind: canRetry ? 'TOOL_RUNTIME_RETRY' : 'TOOL_RUNTIME_FATAL',
    message,
    canRetry,
  })
  return { answer: answer as CallToolResult } // the SDK's type has further members
}

/** Whether Gatepass refused the request, so that the same request would be refused again: not 429, nor a failure of its own. */
function isRefusal(error: unknown): boolean {
  const status = error instanceof Error && 'status' in error ? error.status : undefined
  return typeof status === 'number' && status >= 400 && status < 500 && status !== 429
}

const refusal = (text: string) => ({ answer: failureText(text) })
