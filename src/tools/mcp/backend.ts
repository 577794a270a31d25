import type { Broker } from '../../broker.ts'
import type { Worker } from '../../domain/worker.ts'
import { bearerChallenge } from '../../providers/protected-resource.ts'
import type { Backend, BackendCall } from '../backend.ts'
import { scrub } from '../scrub/scrub.ts'
import { scrubAnswer } from '../scrub/scrub-answer.ts'
import { ownError, type ToolAnswer } from '../tool-answer.ts'
import { WorkerFault } from '../worker-fault.ts'
import { MAX_HEALTH_SECONDS } from '../worker-request.ts'
import { type CallAccess, callMcpTool, createDeadline } from './call-tool.ts'
import { mcpCatalogue } from './catalogue.ts'
import { type ExchangeFault, isUnauthorized } from './exchange.ts'
import { faultOf, notAsked, scrubFault } from './mcp-error.ts'
import { discoverServerAuthorization } from './server-authorization.ts'
import { createServerMessages } from './server-messages.ts'
import { openSession } from './session.ts'
import { mcpCredentials, mcpSettings } from './settings.ts'

/** Tools of remote MCP servers over Streamable HTTP (protocol versions 2025-03-26 to 2026-07-28). */
export const mcpBackend: Backend = {
  catalogue: mcpCatalogue,

  async health(broker, worker) {
    const secrets: string[] = []
    try {
      const { headers, signer, secretValues } = await mcpCredentials(broker, worker)
      secrets.push(...secretValues)
      const timeoutMs = Math.min(worker.timeoutSeconds, MAX_HEALTH_SECONDS) * 1000
      const session = await openSession(broker.outgoing, {
        uri: worker.uri,
        headers,
        signer,
        timeoutMs,
        longestMs: timeoutMs,
        isLegacy: false,
      })
      session.close()
      return { healthy: true }
    } catch (error) {
      // health is requested without a user's token, so 401 is the expected answer of a server with OAuth
      if (isUnauthorized(error))
        return { healthy: true, message: 'The server answers and requires an authorization.' }
      const { host } = new URL(worker.uri)
      const fault = error instanceof WorkerFault ? error : faultOf(scrubFault(error, secrets), host)
      return { healthy: false, message: fault.message }
    }
  },

  async call(broker, worker, call) {
    const started = performance.now()
    try {
      const { headers, signer, secretValues: workerSecrets } = await mcpCredentials(broker, worker)
      const token = serverToken(worker, call)
      const access: CallAccess = {
        headers: { ...headers, ...(token !== undefined && { authorization: `Bearer ${token}` }) },
        signer,
        deadline: createDeadline(worker.timeoutSeconds),
        workerSecrets,
      }
      const messages = createServerMessages(call, workerSecrets)
      // removes the worker's own secrets; the caller of a backend removes only those of the call (`scrub` keeps the shape)
      const clean = <T>(value: T) => (workerSecrets.length === 0 ? value : (scrub(value, workerSecrets) as T))
      const { onEvent, ...rest } = call
      const { outcome, error } = await callMcpTool(
        broker,
        worker,
        { ...rest, ...(onEvent && { onEvent: (event) => onEvent(clean(event)) }) },
        access,
        messages,
      )
      const refusal = scrubFault(error, workerSecrets)
      if (token === undefined && isUnauthorized(refusal))
        return await discoverAuthorization(broker, worker, refusal)
      // why a question was refused says more than the error that the server reports afterwards
      const answer = outcome.outcome === 'error' && messages.refusal ? notAsked(messages.refusal) : outcome
      return scrubAnswer(
        { ...answer, logs: messages.logs, durationMs: performance.now() - started },
        workerSecrets,
      )
    } catch (error) {
      if (!(error instanceof WorkerFault)) throw error
      return ownError(error.error)
    }
  },
}

/** The user's token for the server, which must come from the worker's own provider. */
function serverToken(worker: Worker, { authorizations }: BackendCall): string | undefined {
  const own = mcpSettings(worker).authorization?.providerUid
  return authorizations.find(
    ({ requirements, release }) =>
      release.entry.uid === own && requirements.some(({ use }) => use === 'server'),
  )?.release.accessToken
}

/**
 * Discovers the authorization server of an MCP server that lists its tools without OAuth but requires OAuth for a
 * call. From the next synchronization on, the server's tools declare the requirement.
 */
async function discoverAuthorization(
  broker: Broker,
  worker: Worker,
  { seen }: ExchangeFault,
): Promise<ToolAnswer> {
  await discoverServerAuthorization(broker, worker, bearerChallenge(seen.refused?.challenge))
  return ownError({
    kind: 'TOOL_REQUIREMENTS_NOT_MET',
    message:
      'The server of the tool requires the user to approve first, which was unknown until now. Call the tool again in a minute.',
    canRetry: true,
    retryAfterMs: 60_000,
  })
}
