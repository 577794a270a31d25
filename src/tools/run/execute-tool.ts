import type { Broker } from '../../broker.ts'
import { toTimestamp, wholeMilliseconds } from '../../domain/clock.ts'
import type { EntryPoint } from '../../domain/execution.ts'
import { newId } from '../../domain/ids.ts'
import { isSafeToRepeat, type Tool, toolId } from '../../domain/tool.ts'
import type { AcquiredToken } from '../../flows/acquire-tokens.ts'
import { currentContext, inContext, permit } from '../../services/request-context.ts'
import { aboutToRun } from '../../services/run-once.ts'
import type { BackendCall } from '../backend.ts'
import { backendOf } from '../backends.ts'
import { requirementStatus } from '../catalogue/tool-requirements.ts'
import { withCheckedValue } from '../check-output.ts'
import { boundedAnswer } from '../finish-answer.ts'
import { scrub } from '../scrub.ts'
import { scrubAnswer } from '../scrub-answer.ts'
import { ownError, type ToolAnswer } from '../tool-answer.ts'
import { authorizeTool, type ToolUse } from './authorize-tool.ts'
import { inputFault, isCheckedElsewhere } from './check-values.ts'
import { consentNeeded } from './consent-needed.ts'
import type { Execution } from './execute-response.ts'
import { rememberExecution } from './remember-execution.ts'
import { isTokenRefused, replaceTokens, toBeTriedAgain } from './replace-tokens.ts'
import { toolContext } from './tool-context.ts'
import { type ToolNeed, toolNeeds } from './tool-needs.ts'
import { policyRefusal, toolPolicyUse } from './tool-policy-use.ts'
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

/** In characters, of what the log keeps of a stack trace. */
const MAX_STACK = 8_000

/**
 * Runs the tool with the user's token in its authorization context, and only there: whatever it answers is scrubbed of
 * it. Every way to run a tool comes through here. Missing consent is an outcome; what goes wrong with the tool is one too.
 */
export function executeTool(broker: Broker, call: ToolCall, signal?: AbortSignal): Promise<Execution> {
  // a context of its own: what one request runs side by side is on record each as itself
  const context = { ...currentContext(), tool: toolId(call.tool) }
  return inContext(context, () => execute(broker, call, signal))
}

async function execute(broker: Broker, call: ToolCall, signal: AbortSignal | undefined): Promise<Execution> {
  const started = performance.now()
  const startedAt = broker.now()
  const id = call.executionId ?? newId('exec')
  const runner = await whatRuns(broker, call.tool)
  let wasCalled = false
  const onCalled = () => {
    wasCalled = true
  }
  const outcome = await permitted(broker, id, call, runner, (needs) =>
    run(broker, id, call, { needs, runner, onCalled, ...(signal && { signal }) }),
  )
  const elapsed = performance.now() - started
  const execution: Execution = {
    id,
    durationMs: wholeMilliseconds(elapsed),
    finishedAt: toTimestamp(broker.now()),
    outcome,
    wasCalled,
    ...(runner.outcome === 'found' && { worker: { id: runner.worker.id, type: runner.worker.type } }),
  }
  if (outcome.outcome === 'error' && outcome.error.stacktrace !== undefined)
    broker.log.debug(
      { execution: id, stacktrace: outcome.error.stacktrace.slice(0, MAX_STACK) },
      'a tool failed',
    )
  const end = outcome.outcome === 'error' ? outcome.error.kind : outcome.outcome
  broker.metrics.toolRan(execution.worker?.type ?? 'none', end, elapsed / 1000)
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
    const refused = policyRefusal(error)
    if (refused === undefined) throw error
    return ownError(refused)
  }
}

/** What was found out of a call before any token is looked for. */
interface Prepared {
  readonly needs: readonly ToolNeed[]
  readonly runner: Runner
  /** Told when what runs the tool is about to be asked. */
  readonly onCalled: () => void
  readonly signal?: AbortSignal
}

async function run(
  broker: Broker,
  executionId: string,
  call: ToolCall,
  { needs, runner, onCalled, signal }: Prepared,
): Promise<Execution['outcome']> {
  const { tool, userId, input, callId, onEvent } = call
  const fault = inputFault(tool, input, runner.outcome === 'found' ? runner.worker.type : undefined)
  // consent comes first: who calls with nothing in hand yet finds out what is needed
  if (fault !== undefined && (await isGranted(broker, tool, userId))) return ownError(fault)
  const begun = await authorizeTool(broker, call, needs)
  if (begun.outcome === 'authorization_required') return consentNeeded(broker, begun.authorization)
  if (fault !== undefined) return ownError(fault)
  if (runner.outcome === 'none') return refusal(runner.message)
  const context = await toolContext(broker, tool, call.metadata)
  if (context.outcome === 'incomplete') return refusal(context.message)

  const { worker, own } = runner
  const { secrets, metadata } = context
  const secretValues = secrets.map((one) => one.value)
  const { title, outputSchema } = tool
  const reading = {
    secrets: secretValues,
    owner: tool.projectId,
    ...(signal && { signal }),
    tool: {
      title,
      workerType: worker.type,
      isCheckedElsewhere: isCheckedElsewhere(tool, worker.type),
      ...(outputSchema !== undefined && { outputSchema }),
    },
  }
  const invoke = async (tokens: readonly AcquiredToken<ToolNeed>[]): Promise<ToolAnswer> => {
    secretValues.push(...tokens.map(({ release }) => release.accessToken))
    if (!isSafeToRepeat(own)) await aboutToRun({ executionId, toolId: toolId(tool) })
    onCalled()
    const clean = <T>(said: T) => scrub(said, secretValues) as T // the same shape, with the values taken out
    const answer = scrubAnswer(
      await backendOf(worker).call(broker, worker, {
        executionId,
        ...(callId !== undefined && { callId }),
        createdAt: toTimestamp(broker.now()),
        tool: own,
        input,
        ...(userId !== undefined && { userId }),
        authorizations: tokens.map(({ need, release }) => ({ requirements: need.requirements, release })),
        secrets,
        metadata,
        ...(signal && { signal }),
        ...(onEvent && { onEvent: (event) => onEvent(clean(event)) }),
        reading,
      }),
      secretValues,
    )
    return boundedAnswer(answer)
  }

  onEvent?.({ kind: 'progress', data: { progress: 0, total: 1, message: 'started' } })
  let answer = await invoke(begun.tokens)
  if (isTokenRefused(answer) && begun.tokens.length > 0 && signal?.aborted !== true) {
    const replaced = await replaceTokens(broker, call, begun.tokens)
    if (replaced.outcome === 'requires_authorization') return replaced
    if (replaced.outcome === 'replaced') {
      if (!isSafeToRepeat(own) && !answer.error.can_retry) return toBeTriedAgain(answer)
      answer = await invoke(replaced.tokens)
    }
  }
  if (answer.outcome === 'requires_authorization') return askForMore(broker, call, answer)
  return withCheckedValue(reading.tool, answer)
}

/** Whether no consent is missing, by what is stored. */
export async function isGranted(broker: Broker, tool: Tool, userId: string | undefined): Promise<boolean> {
  const { authorization, authorizations = [authorization] } = await requirementStatus(broker, tool, userId)
  return authorizations.every((one) => one === undefined || one.token_status !== 'not_started')
}

/** A worker that asks for consent gets it asked for here, for the scopes it names; its own link is never followed. */
async function askForMore(
  broker: Broker,
  call: ToolCall,
  { requirement }: Extract<ToolAnswer, { outcome: 'requires_authorization' }>,
): Promise<Execution['outcome']> {
  const begun = await authorizeTool(broker, { ...call, asked: requirement })
  if (begun.outcome === 'authorization_required') return consentNeeded(broker, begun.authorization)
  return refusal(
    `The tool "${call.tool.title}" asks for an authorization that it does not declare, so there is none to begin. Its author must declare the provider and scopes it needs.`,
  )
}

function refusal(message: string): ToolAnswer {
  return ownError({ kind: 'TOOL_REQUIREMENTS_NOT_MET', message, can_retry: false })
}
