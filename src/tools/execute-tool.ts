import type { Broker } from '../broker.ts'
import { type Authorization, currentStep, scopesOf } from '../domain/authorization.ts'
import { toTimestamp } from '../domain/clock.ts'
import { BrokerError } from '../domain/errors.ts'
import { newId } from '../domain/ids.ts'
import { type Tool, toolId } from '../domain/tool.ts'
import { connectUrl } from '../flows/begin-authorization.ts'
import { findProviderByUid } from '../flows/find-provider.ts'
import type { Release } from '../flows/get-access-token.ts'
import { refreshConnection } from '../flows/refresh-connection.ts'
import {
  invokeWorker,
  type ToolAnswer,
  type ToolError,
  type WorkerCallContext,
} from './arcade/worker-protocol.ts'
import { authorizeTool, type ToolUse } from './authorize-tool.ts'
import type { Execution } from './execute-response.ts'
import { scrub } from './scrub.ts'
import { openSecret } from './secrets.ts'
import { isSafeToRepeat } from './tool-definition.ts'
import { workerEndpoint } from './worker.ts'

export interface ToolCall extends ToolUse {
  readonly input: Readonly<Record<string, unknown>>
}

/**
 * Runs the tool with the user's token in its authorization context, and only there: whatever the worker answers is
 * scrubbed of it. Missing consent is an outcome; what goes wrong with the tool is one too.
 */
export async function executeTool(broker: Broker, call: ToolCall, signal?: AbortSignal): Promise<Execution> {
  const started = performance.now()
  const id = newId('exec')
  const outcome = await run(broker, id, call, signal)
  return { id, durationMs: performance.now() - started, finishedAt: toTimestamp(broker.now()), outcome }
}

async function run(
  broker: Broker,
  executionId: string,
  call: ToolCall,
  signal: AbortSignal | undefined,
): Promise<Execution['outcome']> {
  const { tool, userId, input } = call
  const begun = await authorizeTool(broker, call)
  if (begun.outcome === 'pending') return consentNeeded(broker, begun.authorization)

  const secrets = await openSecrets(broker, tool)
  const missing = secrets.filter((one) => one.value === undefined).map((one) => one.key)
  if (missing.length > 0)
    return refusal(
      `The tool "${tool.title}" needs the secret${missing.length > 1 ? 's' : ''} ${missing.join(', ')}. An administrator sets ${missing.length > 1 ? 'them' : 'it'} by POST /v1/admin/secrets/{key}.`,
    )
  const worker = tool.binding && (await broker.store.workers.findByUid(tool.binding.workerUid))
  if (tool.binding === undefined || worker === undefined)
    return refusal(
      `Nothing runs the tool "${tool.title}" yet: bind it to a worker by POST /v1/tools/${toolId(tool)}/binding {"worker_id", "tool"}.`,
    )
  if (!worker.enabled)
    return refusal(`The worker "${worker.id}", which runs the tool "${tool.title}", is switched off.`)

  const { name, toolkit, version } = tool.binding
  const given = secrets.flatMap(({ key, value }) => (value === undefined ? [] : [{ key, value }]))
  const secretValues = given.map((one) => one.value)
  const invoke = async (releases: readonly Release[]): Promise<ToolAnswer> => {
    const answer = await invokeWorker(
      broker.outgoing,
      workerEndpoint(broker, worker),
      {
        runId: executionId,
        executionId,
        createdAt: toTimestamp(broker.now()),
        tool: { name, toolkit, ...(version !== undefined && { version }) },
        inputs: input,
        context: {
          ...authorizationContext(releases),
          secrets: given,
          metadata: [],
          ...(userId !== undefined && { user_id: userId }),
        },
      },
      signal,
    )
    secretValues.push(...releases.map((one) => one.accessToken))
    return scrub(answer, secretValues) as ToolAnswer // the same shape, with the values taken out
  }

  let answer = await invoke(begun.releases)
  if (isTokenRefused(answer) && signal?.aborted !== true) {
    const replaced = await replaceTokens(broker, call, begun.releases)
    if (replaced.outcome === 'requires_authorization') return replaced
    if (replaced.outcome === 'replaced') {
      if (!isSafeToRepeat(tool) && !answer.error.can_retry) return toBeTriedAgain(answer)
      answer = await invoke(replaced.releases)
    }
  }
  return answer.outcome === 'requires_authorization' ? askForMore(broker, call, answer) : answer
}

type Refused = ToolAnswer & { readonly outcome: 'error' }

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
  | { readonly outcome: 'replaced'; readonly releases: readonly Release[] }
  | { readonly outcome: 'unchanged' }
  | Extract<Execution['outcome'], { readonly authorization: unknown }>
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
    return isReplaced ? { outcome: 'replaced', releases: begun.releases } : { outcome: 'unchanged' }
  } catch (error) {
    // a provider that refuses the client, or a token that cannot be had now: the tool's own words say enough
    if (error instanceof BrokerError) return { outcome: 'unchanged' }
    throw error
  }
}

/** There is another token now; whether the tool has done something before it was refused, only its author knows. */
function toBeTriedAgain(answer: Refused): ToolAnswer {
  const { error } = answer
  return { ...answer, error: { ...error, can_retry: true, retry_after_ms: error.retry_after_ms ?? 0 } }
}

async function consentNeeded(
  broker: Broker,
  authorization: Authorization,
): Promise<Extract<Execution['outcome'], { readonly authorization: unknown }>> {
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
  const begun = await authorizeTool(broker, { ...call, moreScopes: requirement.scopes ?? [] })
  if (begun.outcome === 'pending') return consentNeeded(broker, begun.authorization)
  return refusal(
    `The tool "${call.tool.title}" asks for an authorization that it does not declare, so there is none to begin. Its author must declare the provider and scopes it needs.`,
  )
}

/** The tool's token; where it needs several providers, all of them besides, in the order it declares them. */
function authorizationContext(
  releases: readonly Release[],
): Pick<WorkerCallContext, 'authorization' | 'authorizations'> {
  const all = releases.map(({ accessToken, userInfo }) => ({ token: accessToken, user_info: userInfo }))
  const [authorization] = all
  return { ...(authorization && { authorization }), ...(all.length > 1 && { authorizations: all }) }
}

async function openSecrets(
  broker: Broker,
  tool: Tool,
): Promise<{ readonly key: string; readonly value: string | undefined }[]> {
  return Promise.all(
    tool.requirements.secrets.map(async (key) => ({
      key,
      value: await openSecret(broker, tool.projectId, key),
    })),
  )
}

function refusal(message: string): ToolAnswer {
  const error: ToolError = { kind: 'TOOL_REQUIREMENTS_NOT_MET', message, can_retry: false }
  return { outcome: 'error', error, logs: [] }
}
