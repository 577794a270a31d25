import type { Broker } from '../../broker.ts'
import { toTimestamp } from '../../domain/clock.ts'
import { isSafeToRepeat } from '../../domain/tool.ts'
import type { Worker } from '../../domain/worker.ts'
import { handOut } from '../../flows/hand-out.ts'
import type { Backend, BackendCall, GivenAuthorization } from '../backend.ts'
import { openWorkerSecret } from '../worker-secret.ts'
import { withoutUndeclaredNulls } from './optional-nulls.ts'
import { nameAtWorker } from './read-worker-tool.ts'
import {
  invokeWorker,
  type ToolAuthorization,
  type WorkerCallContext,
  type WorkerEndpoint,
  workerCatalogue,
  workerHealth,
} from './worker-protocol.ts'

/** HTTP tool workers that speak Arcade's worker protocol. */
export const arcadeBackend: Backend = {
  catalogue: async (broker, worker, bounds) =>
    workerCatalogue(broker.outgoing, endpointOf(broker, worker), { ...bounds, owner: worker.projectId }),
  health: (broker, worker) => workerHealth(broker.outgoing, endpointOf(broker, worker)),
  call(broker, worker, call) {
    const { executionId, createdAt, tool, input, signal, reading } = call
    const { namespace: toolkit, version } = tool
    const name = nameAtWorker(tool.source.document, tool.name)
    return invokeWorker(
      broker.outgoing,
      endpointOf(broker, worker),
      {
        runId: executionId,
        executionId,
        createdAt,
        tool: { name, toolkit, version },
        inputs: withoutUndeclaredNulls(tool.inputSchema, input),
        context: contextOf(call),
        isRepeatable: isSafeToRepeat(tool),
      },
      { signal, reading },
    )
  },
}

function endpointOf(broker: Broker, worker: Worker): WorkerEndpoint {
  const { uri, timeoutSeconds, retry } = worker
  const issuer = broker.settings.publicUrl.origin
  return { uri, timeoutSeconds, retry, issuer, secret: openWorkerSecret(broker, worker) }
}

/**
 * The context of a call: the first authorization, and all of them in declared order if the tool needs several
 * providers.
 */
export function contextOf({
  tool,
  authorizations,
  secrets,
  metadata,
  userId,
}: BackendCall): WorkerCallContext {
  const [first] = authorizations
  const needsSeveral = authorizations.length > 1 || tool.requirements.alternatives !== undefined
  return {
    ...(first && { authorization: toAuthorization(first) }),
    ...(needsSeveral && {
      authorizations: authorizations.map((authorization) => ({
        ...toAuthorization(authorization),
        names: namesOf(authorization),
      })),
    }),
    secrets,
    metadata,
    user_id: userId,
  }
}

/** The names that the tool's requirements use for the provider of this authorization. */
function namesOf({ requirements }: GivenAuthorization): string[] {
  return requirements.flatMap(({ id, providerId }) => id ?? providerId ?? [])
}

function toAuthorization({ release }: GivenAuthorization): ToolAuthorization {
  const { userInfo, extra, connection, entry } = release
  const { token, tokenType, fields } = handOut(release)
  return {
    token,
    user_info: userInfo,
    token_type: tokenType,
    ...(connection.expiresAt !== undefined && { expires_at: toTimestamp(connection.expiresAt) }),
    scopes: connection.scopes,
    provider_id: entry.id,
    extra,
    ...(fields !== undefined && { fields }),
  }
}
