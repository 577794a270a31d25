import type { Broker } from '../../broker.ts'
import { toTimestamp, wholeMilliseconds } from '../../domain/clock.ts'
import { newId } from '../../domain/ids.ts'
import { isSafeToRepeat, toolId } from '../../domain/tool.ts'
import { currentContext, inContext, permit } from '../../services/request-context.ts'
import { aboutToRun } from '../../services/run-once.ts'
import { inSpan, type SpanEnd } from '../../services/tracing.ts'
import type { ToolEvent } from '../backend.ts'
import { backendOf } from '../backends.ts'
import { afterCheck, outputToCheck } from '../check-output.ts'
import { checkValue } from '../check-value.ts'
import { risingProgress } from '../dialog/rising-progress.ts'
import { createToolDialog } from '../dialog/tool-dialog.ts'
import { boundedAnswer } from '../finish-answer.ts'
import type { AnswerReading } from '../read-answer.ts'
import { scrub } from '../scrub/scrub.ts'
import { scrubAnswer } from '../scrub/scrub-answer.ts'
import { ownError, type RequestedAuthorization, type ToolAnswer } from '../tool-answer.ts'
import { readChangedCatalogue } from './changed-catalogue.ts'
import type { Execution, ExecutionOutcome, ToolCall } from './execution.ts'
import { recordExecution } from './execution-history.ts'
import { innerTools } from './inner-tools.ts'
import {
  type CheckedToolCall,
  checkCall,
  gateRefusal,
  isCheckedByWorker,
  type Runner,
  type ToolContext,
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
  const onCalled = () => {
    wasCalled = true
  }
  const outcome = await runIfPermitted(broker, checked, { id, onCalled, signal })
  const elapsed = performance.now() - started
  const execution: Execution = {
    id,
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
  /** Called just before the worker is asked to run the tool. */
  readonly onCalled: () => void
  readonly signal?: AbortSignal | undefined
}

/** Runs the tool if the gate permits it. A refusal is an outcome too. */
async function runIfPermitted(
  broker: Broker,
  call: CheckedToolCall,
  options: RunOptions,
): Promise<ExecutionOutcome> {
  const { tool, userId, input, runner } = call
  const needs = await toolNeeds(broker, tool, call)
  const use = useOfTool(tool, needs, runner, { userId, executionId: options.id, input })
  let wasCalled = false
  const onCalled = () => {
    wasCalled = true
    options.onCalled()
  }
  try {
    await broker.gate.check(use)
    return await permit(use, () => run(broker, call, needs, { ...options, onCalled }))
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
  options: RunOptions,
): Promise<ExecutionOutcome> {
  const { tool, userId, runner, inputFault } = call
  // a missing consent is answered before invalid input: a caller may run a tool without input to learn what it needs
  if (inputFault !== undefined && (await isGranted(broker, tool, userId))) return ownError(inputFault)
  const acquired = await authorizeTool(broker, call, needs)
  if (acquired.outcome === 'authorization_required')
    return authorizationRequired(broker, acquired.authorization)
  if (inputFault !== undefined) return ownError(inputFault)
  if (runner.outcome === 'none') return requirementsNotMet(runner.message)
  const context = await toolContext(broker, call)
  if (context.outcome === 'incomplete') return requirementsNotMet(context.message)
  return callWorker(broker, call, { ...options, runner, context, tokens: acquired.tokens })
}

interface WorkerCallOptions extends RunOptions {
  readonly runner: Extract<Runner, { outcome: 'found' }>
  readonly context: Extract<ToolContext, { outcome: 'complete' }>
  readonly tokens: readonly ToolToken[]
}

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
  const { worker, workerTool } = runner
  const inner = worker.type === 'module' ? innerTools(broker, call, worker, executeTool) : undefined
  const { secrets, metadata } = context
  const isRepeatable = isSafeToRepeat(workerTool)
  const secretValues = secrets.map((secret) => secret.value)
  const checkedTool = {
    title: tool.title,
    workerType: worker.type,
    isCheckedElsewhere: isCheckedByWorker(tool, worker.type),
    outputSchema: tool.outputSchema,
  }
  const reading: AnswerReading = { secrets: secretValues, owner: tool.projectId, tool: checkedTool, signal }
  const dialog =
    call.dialog &&
    createToolDialog(call.dialog, {
      tool: tool.title,
      owner: tool.projectId,
      ...(worker.type !== 'module' && { host: new URL(worker.uri).host }),
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
    secretValues.push(...given.map(({ release }) => release.accessToken))
    if (!isRepeatable) await aboutToRun({ executionId: id, toolId: toolId(tool) })
    onCalled()
    const answer = await backendOf(worker).call(broker, worker, {
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
  if (isTokenRefused(answer) && tokens.length > 0 && signal?.aborted !== true) {
    const replaced = await replaceTokens(broker, call, tokens)
    if (replaced.outcome === 'authorization_required') return replaced
    if (replaced.outcome === 'replaced') {
      if (!isRepeatable && !answer.error.canRetry) return asRetryable(answer)
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

function requirementsNotMet(message: string): ExecutionOutcome {
  return ownError({ kind: 'TOOL_REQUIREMENTS_NOT_MET', message, canRetry: false })
}
