import type { Broker } from '../broker.ts'
import { type Authorization, currentStep, scopesOf } from '../domain/authorization.ts'
import { toTimestamp } from '../domain/clock.ts'
import { BrokerError, type ErrorCode } from '../domain/errors.ts'
import type { EntryPoint } from '../domain/execution.ts'
import { newId } from '../domain/ids.ts'
import { type Tool, toolId } from '../domain/tool.ts'
import { connectUrl } from '../flows/begin-authorization.ts'
import { findProviderByUid } from '../flows/find-provider.ts'
import type { Release } from '../flows/get-access-token.ts'
import { refreshConnection } from '../flows/refresh-connection.ts'
import { actForTool, permit } from '../flows/request-context.ts'
import { authorizeTool, type ToolUse } from './authorize-tool.ts'
import type { BackendCall } from './backend.ts'
import { backendOf } from './backends.ts'
import { inputFault, withCheckedValue } from './check-values.ts'
import type { Execution } from './execute-response.ts'
import { rememberExecution } from './remember-execution.ts'
import { scrub } from './scrub.ts'
import type { ToolAnswer } from './tool-answer.ts'
import { toolContext } from './tool-context.ts'
import { isSafeToRepeat } from './tool-definition.ts'
import type { ErrorKind, ToolError } from './tool-error.ts'
import { type ToolNeed, toolNeeds } from './tool-needs.ts'
import { toolPolicyUse } from './tool-policy-use.ts'
import { requirementStatus } from './tool-requirements.ts'
import { type Runner, whatRuns } from './what-runs.ts'

/** One call of a tool, by whichever way it came. */
export interface ToolCall extends ToolUse, Pick<BackendCall, 'callId' | 'onEvent'> {
  readonly input: Readonly<Record<string, unknown>>
  readonly entryPoint: EntryPoint
  /** Of a run that was put off; absent: a new one. */
  readonly executionId?: string
  /** What the caller tells; the tool gets what it declared of it. */
  readonly metadata?: Readonly<Record<string, string>>
  /** Whether history keeps what went in and what came out. */
  readonly keepContent?: boolean
}

/**
 * Runs the tool with the user's token in its authorization context, and only there: whatever it answers is scrubbed of
 * it. Every way to run a tool comes through here. Missing consent is an outcome; what goes wrong with the tool is one too.
 */
export async function executeTool(broker: Broker, call: ToolCall, signal?: AbortSignal): Promise<Execution> {
  const started = performance.now()
  const startedAt = broker.now()
  const id = call.executionId ?? newId('exec')
  actForTool(toolId(call.tool))
  const runner = await whatRuns(broker, call.tool)
  const outcome = await permitted(broker, id, call, runner, (needs) =>
    run(broker, id, call, needs, runner, signal),
  )
  const execution: Execution = {
    id,
    durationMs: performance.now() - started,
    finishedAt: toTimestamp(broker.now()),
    outcome,
    ...(runner.outcome === 'found' && { worker: { id: runner.worker.id, type: runner.worker.type } }),
  }
  const end = outcome.outcome === 'error' ? outcome.error.kind : outcome.outcome
  broker.metrics.toolRan(execution.worker?.type ?? 'none', end, execution.durationMs / 1000)
  if (call.executionId === undefined) rememberExecution(broker, call, execution, startedAt)
  return execution
}

/** What the project's policies refuse is an outcome too. */
async function permitted(
  broker: Broker,
  executionId: string,
  call: ToolCall,
  runner: Runner,
  go: (needs: readonly ToolNeed[]) => Promise<Execution['outcome']>,
): Promise<Execution['outcome']> {
  const { tool, userId, input } = call
  const needs = await toolNeeds(broker, tool, call)
  const use = toolPolicyUse(tool, needs, runner, {
    ...(userId !== undefined && { userId }),
    executionId,
    input,
  })
  try {
    await broker.policies.check(use)
    return await permit(use, () => go(needs))
  } catch (error) {
    const kind = error instanceof BrokerError ? KIND_OF_REFUSAL[error.code] : undefined
    if (!(error instanceof BrokerError) || kind === undefined) throw error
    const { message, retryAfter } = error
    const waits = retryAfter !== undefined && { retry_after_ms: Math.ceil(retryAfter * 1000) }
    return failed({ kind, message, can_retry: retryAfter !== undefined, ...waits })
  }
}

/** Policies' refusals in the contract's words. */
const KIND_OF_REFUSAL: Readonly<Partial<Record<ErrorCode, ErrorKind>>> = {
  denied_by_policy: 'CONTEXT_DENIED',
  policy_check_failed: 'CONTEXT_CHECK_FAILED',
}

async function run(
  broker: Broker,
  executionId: string,
  call: ToolCall,
  needs: readonly ToolNeed[],
  runner: Runner,
  signal: AbortSignal | undefined,
): Promise<Execution['outcome']> {
  const { tool, userId, input, callId, onEvent } = call
  const fault = inputFault(tool, input)
  // consent comes first: who calls with nothing in hand yet finds out what is needed
  if (fault !== undefined && (await isGranted(broker, tool, userId))) return failed(fault)
  const begun = await authorizeTool(broker, call, needs)
  if (begun.outcome === 'pending') return consentNeeded(broker, begun.authorization)
  if (fault !== undefined) return failed(fault)
  if (runner.outcome === 'none') return refusal(runner.message)
  const context = await toolContext(broker, tool, call.metadata)
  if (context.outcome === 'incomplete') return refusal(context.message)

  const { worker, own } = runner
  const { secrets, metadata } = context
  const secretValues = secrets.map((one) => one.value)
  const invoke = async (needs: readonly ToolNeed[], releases: readonly Release[]): Promise<ToolAnswer> => {
    secretValues.push(...releases.map((one) => one.accessToken))
    const clean = <T>(said: T) => scrub(said, secretValues) as T // the same shape, with the values taken out
    return clean(
      await backendOf(worker).call(broker, worker, {
        executionId,
        ...(callId !== undefined && { callId }),
        createdAt: toTimestamp(broker.now()),
        tool: own,
        input,
        ...(userId !== undefined && { userId }),
        authorizations: releases.map((release, i) => ({
          requirements: needs[i]?.requirements ?? [],
          release,
        })),
        secrets,
        metadata,
        ...(signal && { signal }),
        ...(onEvent && { onEvent: (event) => onEvent(clean(event)) }),
      }),
    )
  }

  onEvent?.({ kind: 'progress', data: { progress: 0, total: 1, message: 'started' } })
  let answer = await invoke(begun.needs, begun.releases)
  if (isTokenRefused(answer) && begun.releases.length > 0 && signal?.aborted !== true) {
    const replaced = await replaceTokens(broker, call, begun.releases)
    if (replaced.outcome === 'requires_authorization') return replaced
    if (replaced.outcome === 'replaced') {
      if (!isSafeToRepeat(own) && !answer.error.can_retry) return toBeTriedAgain(answer)
      answer = await invoke(replaced.needs, replaced.releases)
    }
  }
  if (answer.outcome === 'requires_authorization') return askForMore(broker, call, answer)
  return withCheckedValue(tool, answer)
}

/** Whether no consent is missing, by what is stored. */
export async function isGranted(broker: Broker, tool: Tool, userId: string | undefined): Promise<boolean> {
  const { authorization, authorizations = [authorization] } = await requirementStatus(broker, tool, userId)
  return authorizations.every((one) => one === undefined || one.token_status !== 'not_started')
}

type Refused = ToolAnswer & { readonly outcome: 'error' }
type ConsentNeeded = Extract<Execution['outcome'], { readonly authorization: unknown }>

/** Whether the provider did not take the token from the tool (RFC 6750 section 3.1). */
function isTokenRefused(answer: ToolAnswer): answer is Refused {
  if (answer.outcome !== 'error' || answer.isOwn) return false
  const { kind, status_code: status } = answer.error
  return status === undefined ? kind === 'UPSTREAM_RUNTIME_AUTH_ERROR' : status === 401
}

/**
 * Other tokens in place of those that were refused: some end before their time. Which of several it was is not told,
 * so all are looked at. `unchanged`: there are no others to be had now.
 */
async function replaceTokens(
  broker: Broker,
  call: ToolCall,
  refused: readonly Release[],
): Promise<
  | {
      readonly outcome: 'replaced'
      readonly needs: readonly ToolNeed[]
      readonly releases: readonly Release[]
    }
  | { readonly outcome: 'unchanged' }
  | ConsentNeeded
> {
  try {
    const outcomes = await Promise.all(
      refused.map(({ entry, connection, accessToken }) =>
        refreshConnection(broker, entry, connection, { rejected: accessToken }),
      ),
    )
    if (outcomes.every((one) => one.outcome === 'provider_unavailable')) return { outcome: 'unchanged' }
    const begun = await authorizeTool(broker, call)
    if (begun.outcome === 'pending') return consentNeeded(broker, begun.authorization)
    const before = new Set(refused.map((one) => one.accessToken))
    const isReplaced = begun.releases.some((one) => !before.has(one.accessToken))
    return isReplaced ? { ...begun, outcome: 'replaced' } : { outcome: 'unchanged' }
  } catch (error) {
    // a provider that refuses the client, or a token that cannot be had now: the tool's own words say enough
    if (error instanceof BrokerError && KIND_OF_REFUSAL[error.code] === undefined)
      return { outcome: 'unchanged' }
    throw error
  }
}

/** There is another token now; whether the tool has done something before it was refused, only its author knows. */
function toBeTriedAgain(answer: Refused): ToolAnswer {
  const { error } = answer
  return { ...answer, error: { ...error, can_retry: true, retry_after_ms: error.retry_after_ms ?? 0 } }
}

/** The link that the user must follow first, whichever way the token was wanted. */
export async function consentNeeded(broker: Broker, authorization: Authorization): Promise<ConsentNeeded> {
  const { id, projectId, userId } = authorization
  const entry = await findProviderByUid(broker, projectId, currentStep(authorization).providerUid)
  return {
    outcome: 'requires_authorization',
    authorization: {
      id,
      url: connectUrl(broker, authorization),
      scopes: scopesOf(authorization),
      status: 'pending',
      userId,
      ...(entry !== undefined && { providerId: entry.id }),
    },
  }
}

/** A worker that asks for consent gets it asked for here, for the scopes it names; its own link is never followed. */
async function askForMore(
  broker: Broker,
  call: ToolCall,
  { requirement }: Extract<ToolAnswer, { outcome: 'requires_authorization' }>,
): Promise<Execution['outcome']> {
  const begun = await authorizeTool(broker, { ...call, asked: requirement })
  if (begun.outcome === 'pending') return consentNeeded(broker, begun.authorization)
  return refusal(
    `The tool "${call.tool.title}" asks for an authorization that it does not declare, so there is none to begin. Its author must declare the provider and scopes it needs.`,
  )
}

function refusal(message: string): ToolAnswer {
  return failed({ kind: 'TOOL_REQUIREMENTS_NOT_MET', message, can_retry: false })
}

function failed(error: ToolError): ToolAnswer {
  return { outcome: 'error', error, isOwn: true, logs: [] }
}
