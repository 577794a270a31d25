import { isDeepStrictEqual } from 'node:util'
import type { Broker } from '../../broker.ts'
import { toTimestamp, wholeMilliseconds } from '../../domain/clock.ts'
import { newId } from '../../domain/ids.ts'
import type { RequestedUse } from '../../domain/requested-use.ts'
import { isSafeToRepeat, toolId } from '../../domain/tool.ts'
import { noteTaken, secretsOf } from '../../flows/hand-out.ts'
import { withOwners } from '../../flows/owner-of-use.ts'
import { currentContext, inContext, permit } from '../../services/request-context.ts'
import { aboutToRun } from '../../services/run-once.ts'
import { inSpan, type SpanEnd } from '../../services/tracing.ts'
import type { ToolEvent } from '../backend.ts'
import { checkNotHeld } from '../catalogue/held-tools.ts'
import { afterCheck, outputToCheck } from '../check-output.ts'
import { checkValue } from '../check-value.ts'
import { risingProgress } from '../dialog/rising-progress.ts'
import { createToolDialog } from '../dialog/tool-dialog.ts'
import { boundedAnswer } from '../finish-answer.ts'
import type { AnswerReading } from '../read-answer.ts'
import { scrub } from '../scrub/scrub.ts'
import { scrubAnswer } from '../scrub/scrub-answer.ts'
import { ownError, type RequestedAuthorization, type ToolAnswer } from '../tool-answer.ts'
import { connectionOf, type ReadyCall, runWhenApproved } from './approve-call.ts'
import { readChangedCatalogue } from './changed-catalogue.ts'
import type { Execution, ExecutionOutcome, ToolCall } from './execution.ts'
import { recordExecution } from './execution-history.ts'
import { innerTools } from './inner-tools.ts'
import {
  type CheckedToolCall,
  checkCall,
  gateRefusal,
  isCheckedByWorker,
  keptTokens,
  requirementsNotMet,
  toolContext,
  useOfTool,
} from './preconditions.ts'
import {
  asRetryable,
  authorizationRequired,
  authorizeTool,
  isGranted,
  isTokenRefused,
  replaceTokens,
  type ToolNeed,
  type ToolToken,
  toolNeeds,
} from './tool-tokens.ts'

/** Characters of a stack trace that the log keeps. */
const MAX_STACK = 8_000

/**
 * Runs a tool with its user's tokens in the authorization context, and scrubs them from everything that the tool answers.
 * Every endpoint that runs a tool calls this function. A missing consent and a failure of the tool are outcomes; errors of
 * the request itself are thrown (`not_accepted`, `provider_not_found`, `invalid_request`, …).
 */
export function executeTool(
  broker: Broker,
  call: ToolCall | CheckedToolCall,
  signal?: AbortSignal,
): Promise<Execution> {
  // each call has its own context: calls that one request makes in parallel are recorded under their own tools
  const context = { ...currentContext(), tool: toolId(call.tool) }
  return inContext(context, () => {
    const id = call.executionId ?? newId('exec')
    const { tracing } = broker
    if (tracing === undefined) return recordedRun(broker, call, id, signal)
    const name = toolId(call.tool)
    // OpenTelemetry's semantic conventions for generative AI, whose status is Development
    const attributes = {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': name,
      'gen_ai.tool.call.id': id,
    }
    const span = { name: `execute_tool ${name}`, attributes }
    return inSpan(tracing, span, () => recordedRun(broker, call, id, signal), endOfSpan)
  })
}

async function recordedRun(
  broker: Broker,
  call: ToolCall | CheckedToolCall,
  id: string,
  signal: AbortSignal | undefined,
): Promise<Execution> {
  const started = performance.now()
  const startedAt = broker.now()
  const checked = 'runner' in call ? call : await checkCall(broker, call)
  const { runner } = checked
  let wasCalled = false
  let executionId = id
  const onCalled = (as: string) => {
    wasCalled = true
    executionId = as
  }
  const outcome = await runIfPermitted(broker, checked, { id, onCalled, signal })
  const elapsed = performance.now() - started
  const execution: Execution = {
    id: executionId,
    durationMs: wholeMilliseconds(elapsed),
    finishedAt: toTimestamp(broker.now()),
    outcome,
    wasCalled,
    ...(runner.outcome === 'found' && { worker: { id: runner.worker.id, type: runner.worker.type } }),
  }
  report(broker, execution, elapsed)
  broker.activity.count(call.tool.projectId, 'runs', metricLabel(outcome))
  if (call.executionId === undefined) recordExecution(broker, call, execution, startedAt)
  return execution
}

function endOfSpan({ outcome, worker }: Execution): SpanEnd {
  return {
    attributes: { 'gatepass.outcome': metricLabel(outcome), 'gatepass.worker_type': worker?.type ?? 'none' },
    ...(outcome.outcome === 'error' && { failure: outcome.error.kind }),
  }
}

/** Writes metrics and, for an operator, the stack trace of a tool that failed. */
function report(broker: Broker, { id, outcome, worker }: Execution, elapsedMs: number): void {
  if (outcome.outcome === 'error' && outcome.error.stacktrace !== undefined)
    broker.log.debug(
      { execution: id, stacktrace: outcome.error.stacktrace.slice(0, MAX_STACK) },
      'a tool failed',
    )
  broker.metrics.toolRan(worker?.type ?? 'none', metricLabel(outcome), elapsedMs / 1000)
}

/** Operators' dashboards use these labels, so they keep the spellings of the first release. */
function metricLabel(outcome: ExecutionOutcome): string {
  if (outcome.outcome === 'error') return outcome.error.kind
  return outcome.outcome === 'authorization_required' ? 'requires_authorization' : outcome.outcome
}

interface RunOptions {
  /** The execution's id. */
  readonly id: string
  /** Called just before the worker is asked to run the tool, with the id of the execution that goes on. */
  readonly onCalled: (executionId: string) => void
  readonly signal?: AbortSignal | undefined
}

/** Runs the tool if the gate permits it. A refusal is an outcome too. */
async function runIfPermitted(
  broker: Broker,
  call: CheckedToolCall,
  options: RunOptions,
): Promise<ExecutionOutcome> {
  const { tool, userId, input, runner } = call
  if (runner.outcome === 'found') checkNotHeld(runner.worker, runner.workerTool)
  const needs = await toolNeeds(broker, tool, call)
  const kept = runner.outcome === 'found' ? keptTokens(tool, needs, runner) : undefined
  if (kept !== undefined) return requirementsNotMet(kept)
  const named = useOfTool(tool, needs, runner, { userId, executionId: options.id, input })
  const use = await withOwners(broker, named, needs, call)
  let wasCalled = false
  const onCalled = (executionId: string) => {
    wasCalled = true
    options.onCalled(executionId)
  }
  try {
    await broker.gate.check(use)
    return await permit(use, () => run(broker, call, needs, { ...options, use, onCalled }))
  } catch (error) {
    const refused = gateRefusal(error)
    if (refused === undefined) throw error
    if (!wasCalled || isSafeToRepeat(tool)) return ownError(refused)
    // the check failed while a refused token was replaced: the tool was called before and may have acted
    const { retryAfterMs: _, ...final } = refused
    return ownError({ ...final, canRetry: false })
  }
}

async function run(
  broker: Broker,
  call: CheckedToolCall,
  needs: readonly ToolNeed[],
  options: RunOptions & { readonly use: RequestedUse },
): Promise<ExecutionOutcome> {
  const { tool, userId, runner, inputFault } = call
  // a missing consent is answered before invalid input: a caller may run a tool without input to learn what it needs
  if (inputFault !== undefined && (await isGranted(broker, tool, userId))) return ownError(inputFault)
  const rules = await broker.gate.approvals(tool.projectId)
  if (rules !== undefined || call.later?.approvalId !== undefined) {
    const { use, ...others } = options
    return runWhenApproved(broker, rules, { call, needs, use, executionId: options.id }, (ready, id) =>
      callWorker(broker, call, { ...others, ...ready, id }),
    )
  }
  const acquired = await authorizeTool(broker, call, needs)
  if (acquired.outcome === 'authorization_required')
    return authorizationRequired(broker, acquired.authorization)
  if (inputFault !== undefined) return ownError(inputFault)
  if (runner.outcome === 'none') return requirementsNotMet(runner.message)
  const context = await toolContext(broker, call)
  if (context.outcome === 'incomplete') return requirementsNotMet(context.message)
  return callWorker(broker, call, { ...options, runner, context, tokens: acquired.tokens })
}

interface WorkerCallOptions extends RunOptions, ReadyCall {}

/**
 * Calls the worker. If the provider refused a token, calls it a second time with new tokens, provided that the tool is
 * safe to repeat or its error says that the call can be retried.
 */
async function callWorker(
  broker: Broker,
  call: CheckedToolCall,
  { id, onCalled, signal, runner, context, tokens }: WorkerCallOptions,
): Promise<ExecutionOutcome> {
  const { tool, userId, input, callId, onEvent } = call
  const { worker, workerTool, backend } = runner
  const inner = backend.isInProcess ? innerTools(broker, call, worker, executeTool) : undefined
  const { secrets, metadata } = context
  const isRepeatable = isSafeToRepeat(workerTool)
  const secretValues = secrets.map((secret) => secret.value)
  const checkedTool = {
    title: tool.title,
    workerType: worker.type,
    isCheckedElsewhere: isCheckedByWorker(tool, runner),
    outputSchema: tool.outputSchema,
  }
  const reading: AnswerReading = { secrets: secretValues, owner: tool.projectId, tool: checkedTool, signal }
  const dialog =
    call.dialog &&
    createToolDialog(call.dialog, {
      tool: tool.title,
      owner: tool.projectId,
      ...(!backend.isInProcess && { host: new URL(worker.uri).host }),
      publicOrigin: broker.settings.publicUrl.origin,
      isOwnDomain: (hostName) => broker.sites.projectAt(hostName) !== undefined,
      secrets: secretValues,
    })
  const progress = call.dialog && risingProgress(call.dialog)
  const onToolEvent = (event: ToolEvent) => {
    const clean = scrub(event, secretValues) as ToolEvent // `scrub` keeps the shape
    if (clean.kind === 'progress') progress?.(clean.data)
    onEvent?.(clean)
  }
  const invoke = async (given: readonly ToolToken[]): Promise<ToolAnswer> => {
    secretValues.push(...given.flatMap(({ release }) => secretsOf(broker, release)))
    const { permitted } = currentContext()
    if (permitted !== undefined) await broker.gate.checkStart(permitted)
    if (!isRepeatable) await aboutToRun({ executionId: id, toolId: toolId(tool) })
    onCalled(id)
    const answer = await backend.call(broker, worker, {
      executionId: id,
      callId,
      createdAt: toTimestamp(broker.now()),
      tool: workerTool,
      input,
      userId,
      authorizations: given.map(({ need, release }) => ({ requirements: need.requirements, release })),
      secrets,
      metadata,
      signal,
      inner,
      ...((onEvent || progress) && { onEvent: onToolEvent }),
      dialog,
      onListChanged: () => readChangedCatalogue(broker, worker),
      reading,
    })
    return boundedAnswer(scrubAnswer(answer, secretValues))
  }

  onEvent?.({ kind: 'progress', data: { progress: 0, total: 1, message: 'started' } })
  let answer = await invoke(tokens)
  if (answer.outcome === 'value') for (const { release } of tokens) await noteTaken(broker, release)
  if (isTokenRefused(answer) && tokens.length > 0 && signal?.aborted !== true) {
    const replaced = await replaceTokens(broker, call, tokens)
    if (replaced.outcome === 'authorization_required') return replaced
    if (replaced.outcome === 'replaced') {
      // an approval is for one run, and for these accounts
      const isApproved = (currentContext().approved?.size ?? 0) > 0
      const isSameAccount = isDeepStrictEqual(replaced.tokens.map(connectionOf), tokens.map(connectionOf))
      const mayRepeat = isRepeatable || (answer.error.canRetry && !isApproved)
      if (!mayRepeat || (isApproved && !isSameAccount)) return asRetryable(answer)
      answer = await invoke(replaced.tokens)
    }
  }
  if (answer.outcome === 'authorization_requested') return requestConsent(broker, call, answer.requested)
  if (answer.outcome === 'authorization_required') return answer
  const output = outputToCheck(checkedTool, answer)
  if (output === undefined) return answer
  return afterCheck(checkedTool, answer, await checkValue(output.schema, output.value, tool.projectId))
}

/** Begins the authorization that a worker requested, for the scopes that it names; the worker's own link is never used. */
async function requestConsent(
  broker: Broker,
  call: ToolCall,
  requested: RequestedAuthorization,
): Promise<ExecutionOutcome> {
  const acquired = await authorizeTool(broker, { ...call, requested })
  if (acquired.outcome === 'authorization_required')
    return authorizationRequired(broker, acquired.authorization)
  return requirementsNotMet(
    `The tool "${call.tool.title}" asks for an authorization that it does not declare, so there is none to begin. Its author must declare the provider and scopes it needs.`,
  )
}
