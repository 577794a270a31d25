import type { Broker } from '../../broker.ts'
import { BrokerError, type ErrorCode } from '../../domain/errors.ts'
import type { RequestedUse, UsedTool } from '../../domain/requested-use.ts'
import { hintsOf, qualifiedAliases, type Tool, toolAliases, toolId } from '../../domain/tool.ts'
import { hasOwnName } from '../../domain/tool-name.ts'
import type { Worker } from '../../domain/worker.ts'
import type { ProviderNeed } from '../../flows/acquire-tokens.ts'
import { openSecret } from '../../flows/manage-secrets.ts'
import { isKeptFromWorkers } from '../../providers/provider-grant.ts'
import { pointerTokens } from '../../sdk/worker/json-pointer.ts'
import { currentContext } from '../../services/request-context.ts'
import { usedProvider } from '../../services/used-provider.ts'
import { withoutOptionalNulls, withoutUndeclaredNulls } from '../arcade/optional-nulls.ts'
import { looseInputSchema } from '../arcade/read-worker-tool.ts'
import type { Backend, BackendCall } from '../backend.ts'
import { findWorkerByUid, namedTools } from '../catalogue/known-tools.ts'
import { chosenRequirements } from '../catalogue/tool-requirements.ts'
import { checkValue } from '../check-value.ts'
import { violationSentence } from '../json-schema/violation.ts'
import { ownError } from '../tool-answer.ts'
import type { ErrorKind, ToolError } from '../tool-error.ts'
import type { ExecutionOutcome, ToolCall } from './execution.ts'

// What must be true before a tool is called, besides its user's consent (tool-tokens.ts): a worker runs it, its input
// fits its schema, the gate permits it, and its secrets and metadata are available.

/** The worker that runs a tool, and the tool as that worker lists it; or a sentence that says why no worker runs it. */
export type Runner = FoundRunner | { readonly outcome: 'none'; readonly message: string }

export interface FoundRunner {
  readonly outcome: 'found'
  readonly worker: Worker
  readonly workerTool: Tool
  readonly backend: Backend
}

/** Finds the worker that runs the tool. */
export async function resolveRunner(broker: Broker, tool: Tool): Promise<Runner> {
  const { binding } = tool
  const worker = binding && (await findWorkerByUid(broker, binding.workerUid))
  if (binding === undefined || worker === undefined)
    return noRunner(
      `Nothing runs the tool "${tool.title}" yet: bind it to a worker by POST /v1/tools/${toolId(tool)}/binding {"worker_id", "tool"}.`,
    )
  if (!worker.enabled)
    return noRunner(`The worker "${worker.id}", which runs the tool "${tool.title}", is switched off.`)
  const backend = broker.backends.of(worker)
  if (tool.source.kind === 'worker') return { outcome: 'found', worker, workerTool: tool, backend }
  const { toolkit: namespace, name, version } = binding
  const id = toolId({ namespace, name, version }).toLowerCase()
  const named = await namedTools(broker, tool.projectId, id)
  const workerTool = named.find(({ source }) => source.kind === 'worker' && source.workerUid === worker.uid)
  if (workerTool === undefined)
    return noRunner(
      `The worker "${worker.id}" no longer lists ${namespace}.${name}, which the tool "${tool.title}" is bound to. Bind it to another by POST /v1/tools/${toolId(tool)}/binding.`,
    )
  return { outcome: 'found', worker, workerTool, backend }
}

function noRunner(message: string): Runner {
  return { outcome: 'none', message }
}

/** A call whose runner is known and whose input has been checked. */
export interface CheckedToolCall extends ToolCall {
  readonly runner: Runner
  /** Why the tool's schema refuses the input; absent: the input is valid. */
  readonly inputFault?: ToolError | undefined
}

/** Finds the runner and checks the input, once for each call. */
export async function checkCall(broker: Broker, call: ToolCall): Promise<CheckedToolCall> {
  const runner = await resolveRunner(broker, call.tool)
  const inputFault = await inputFaultOf(call.tool, call.input, runner)
  return { ...call, runner, inputFault }
}

/** `checkCall` that throws: `invalid_input` for input that the schema refuses, `invalid_tool` for a schema that cannot be used. */
export async function checkInput(broker: Broker, call: ToolCall): Promise<CheckedToolCall> {
  const checked = await checkCall(broker, call)
  const fault = checked.inputFault
  if (fault === undefined) return checked
  const isInput = fault.kind === 'TOOL_RUNTIME_BAD_INPUT_VALUE'
  throw new BrokerError(isInput ? 'invalid_input' : 'invalid_tool', fault.message)
}

/**
 * Returns why the schema refuses the input. For a tool of an Arcade worker, `null` counts as an absent optional
 * parameter: Arcade's value schemas cannot say that a parameter may be null, and models write `null`.
 */
async function inputFaultOf(
  tool: Tool,
  input: ToolCall['input'],
  runner: Runner,
): Promise<ToolError | undefined> {
  const isArcade = runner.outcome === 'found' && runner.worker.type === 'http'
  const given = isArcade ? withoutOptionalNulls(tool.inputSchema, input) : input
  const schema = isArcade ? looseInputSchema(tool) : tool.inputSchema
  const checked = await checkValue(schema, given, tool.projectId)
  if (checked.outcome === 'valid') return undefined
  if (checked.outcome === 'bad schema')
    return isCheckedByWorker(tool, runner)
      ? undefined
      : {
          kind: 'TOOL_DEFINITION_BAD_INPUT_SCHEMA',
          message: `The tool "${tool.title}" has an input schema that cannot be used: ${checked.message}`,
          canRetry: false,
        }
  const { path, message, member } = checked
  return {
    kind: 'TOOL_RUNTIME_BAD_INPUT_VALUE',
    message: `${violationSentence('input', { path, message })}.`,
    canRetry: false,
    parameterErrors: { [parameterOf(path, member)]: message },
  }
}

/** Whether the worker checks the input of its tools itself, so that a schema that cannot be used here does not matter. */
export function isCheckedByWorker({ source }: Tool, runner: Runner): boolean {
  return source.kind === 'worker' && runner.outcome === 'found' && !runner.backend.isInProcess
}

/** The parameter at fault: the first name of the JSON Pointer, else the member that is missing or not allowed. */
function parameterOf(path: string, member = 'input'): string {
  const [name = ''] = pointerTokens(path)
  return name || member
}

/** The secrets and metadata that a tool declares, or a sentence that says which are missing. */
export type ToolContext =
  | ({ readonly outcome: 'complete' } & Pick<BackendCall, 'secrets' | 'metadata'>)
  | { readonly outcome: 'incomplete'; readonly message: string }

/**
 * Collects the metadata that the tool declares, and the secrets of the alternative that is chosen for the call's user.
 * `metadata` is that of the call.
 */
export async function toolContext(
  broker: Broker,
  { tool, userId, metadata = {} }: Pick<ToolCall, 'tool' | 'userId' | 'metadata'>,
): Promise<ToolContext> {
  const { projectId, title, requirements } = tool
  const { secrets } = await chosenRequirements(broker, tool, userId)
  const opened = await Promise.all(
    secrets.map(async (key) => ({ key, value: await openSecret(broker, projectId, key) })),
  )
  const unset = opened.filter((secret) => secret.value === undefined).map((secret) => secret.key)
  if (unset.length > 0)
    return incomplete(
      `The tool "${title}" needs the secret${unset.length > 1 ? 's' : ''} ${unset.join(', ')}. An administrator sets ${unset.length > 1 ? 'them' : 'it'} by POST /v1/admin/secrets/{key}.`,
    )

  // the broker's own values come last, so that no caller can replace them
  const known = new Map([...Object.entries(metadata), ...brokerMetadata(broker)])
  const missing = requirements.metadata.filter((key) => !known.has(key))
  if (missing.length > 0)
    return incomplete(
      `The tool "${title}" needs the metadata ${missing.join(', ')}: give ${missing.length > 1 ? 'them' : 'it'} in \`metadata\` of the call.`,
    )
  return {
    outcome: 'complete',
    secrets: opened.flatMap(({ key, value }) => (value === undefined ? [] : [{ key, value }])),
    metadata: requirements.metadata.map((key) => ({ key, value: known.get(key) ?? '' })),
  }
}

/** The metadata that Arcade's engine gives to tools that declare it: its own URL and the id of the calling client. */
function brokerMetadata(broker: Broker): [string, string][] {
  const { apiKey, actor } = currentContext()
  const clientId = apiKey?.id ?? actor.client
  return [
    ['coordinator_url', broker.settings.publicUrl.origin],
    ...(clientId === undefined ? [] : [['client_id', clientId] as [string, string]]),
  ]
}

/** The outcome of a call that cannot run, because something of it is not set up. */
export function requirementsNotMet(message: string): ExecutionOutcome {
  return ownError({ kind: 'TOOL_REQUIREMENTS_NOT_MET', message, canRetry: false })
}

/** Why the tool cannot run, if its worker would have to be given a token that is handed out to none. */
export function keptTokens(
  { title }: Tool,
  needs: readonly ProviderNeed[],
  { backend }: FoundRunner,
): string | undefined {
  const kept = backend.sendsTokensItself
    ? undefined
    : needs.find(({ entry }) => isKeptFromWorkers(entry.provider))
  return (
    kept &&
    `The tool "${title}" cannot be given the token that it needs, because tokens of "${kept.entry.id}" are of use only with a key or secret that stays in Gatepass. Send the requests through /proxy/${kept.entry.id}/, or call a tool that is an HTTP request.`
  )
}

function incomplete(message: string): ToolContext {
  return { outcome: 'incomplete', message }
}

/** The run of a tool as gates see it. A metadata tool has also the names of the worker's tool it is bound to. */
export function useOfTool(
  tool: Tool,
  needs: readonly ProviderNeed[],
  runner: Runner,
  { input, ...call }: Pick<RequestedUse, 'userId' | 'executionId'> & Partial<Pick<ToolCall, 'input'>>,
): RequestedUse {
  return {
    ...call,
    ...(input && { input: receivedInput(runner, input) }),
    projectId: tool.projectId,
    use: 'tool',
    tool: usedTool(runner.outcome === 'found' ? runner.workerTool : tool, tool),
    ...(runner.outcome === 'found' && { worker: runner.worker.id }),
    providers: needs.map(({ entry, scopes }) => usedProvider(entry, scopes)),
    hosts: runner.outcome === 'found' ? hostsOf(runner) : [],
    secrets: tool.requirements.secrets,
  }
}

/** The arguments as the worker gets them: `arcade/backend.ts` leaves the same out. */
function receivedInput(runner: Runner, input: ToolCall['input']): ToolCall['input'] {
  if (runner.outcome !== 'found') return input
  const { worker, workerTool, backend } = runner
  if (worker.type === 'http') return withoutUndeclaredNulls(workerTool.inputSchema, input)
  return backend.received?.(workerTool, input) ?? input
}

const knownNames = new WeakMap<Tool, UsedTool>()

/** The names of both tools. Where both are the same tool, they are computed once. */
function usedTool(workerTool: Tool, tool: Tool): UsedTool {
  const names = namesOf(tool)
  if (workerTool === tool) return names
  const others = namesOf(workerTool)
  return {
    id: names.id,
    aliases: [...new Set([...names.aliases, ...others.aliases])],
    ownNames: [...new Set([...names.ownNames, ...others.ownNames])],
    hints: [...new Set([...names.hints, ...others.hints])],
    inputSchema: tool.inputSchema,
  }
}

function namesOf(tool: Tool): UsedTool {
  const known = knownNames.get(tool)
  if (known !== undefined) return known
  const ownNames = hasOwnName(tool) ? qualifiedAliases(tool) : []
  const made = {
    id: toolId(tool),
    aliases: toolAliases(tool),
    ownNames,
    hints: hintsOf(tool),
    inputSchema: tool.inputSchema,
  }
  knownNames.set(tool, made)
  return made
}

/** The host of each worker. The worker cache keeps the object, so its `uri` is parsed once and not for every call. */
const knownHosts = new WeakMap<Worker, readonly string[]>()

/** The hosts that the call goes to. A module runs in this process and has none. */
function hostsOf({ worker, workerTool, backend }: FoundRunner): readonly string[] {
  const hosts = backend.hosts?.(workerTool)
  if (hosts !== undefined) return hosts
  const known = knownHosts.get(worker)
  if (known !== undefined) return known
  const host = URL.parse(worker.uri)?.host ?? ''
  const made = host === '' ? [] : [host]
  knownHosts.set(worker, made)
  return made
}

const REFUSAL_KINDS: Readonly<Partial<Record<ErrorCode, ErrorKind>>> = {
  denied_by_policy: 'CONTEXT_DENIED',
  policy_check_failed: 'CONTEXT_CHECK_FAILED',
}

/** The error of a tool that the gate refused to run; `undefined` for any other error. */
export function gateRefusal(error: unknown): ToolError | undefined {
  const kind = error instanceof BrokerError ? REFUSAL_KINDS[error.code] : undefined
  if (!(error instanceof BrokerError) || kind === undefined) return undefined
  const { message, retryAfter } = error
  const waits = retryAfter !== undefined && { retryAfterMs: Math.ceil(retryAfter * 1000) }
  return { kind, message, canRetry: retryAfter !== undefined, ...waits }
}
