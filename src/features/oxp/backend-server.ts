import type { Broker } from '../../broker.ts'
import type { Worker } from '../../domain/worker.ts'
import type { OutgoingResponse } from '../../egress/outgoing.ts'
import { askWorker } from '../../tools/worker-request.ts'
import { openWorkerSecret } from '../../tools/worker-secret.ts'
import { signWorkerToken } from '../../tools/worker-token.ts'
import { oxpSettings } from './backend-settings.ts'

export interface OxpRequest {
  readonly path: 'health' | 'tools' | 'tools/call'
  /** If present, the method is POST. */
  readonly body?: unknown
  /** The time limit of all attempts together. */
  readonly timeoutSeconds: number
  /** For a request with a body: one without only reads, and is always safe to repeat. */
  readonly isRepeatable?: boolean
  /** The limit of the answer. Default: 4 MiB. */
  readonly maxBytes?: number
  readonly signal?: AbortSignal | undefined
}

export interface OxpReply {
  readonly response: OutgoingResponse
  /** The credentials of the request; removed from the answer in case the server echoes them. */
  readonly credentials: readonly string[]
}

/**
 * Sends a request and returns the answer of any status but 3xx. Health is requested without credentials. Throws
 * `WorkerFault`.
 */
export async function askOxpServer(
  broker: Broker,
  worker: Worker,
  { path, body, timeoutSeconds, isRepeatable = false, maxBytes, signal }: OxpRequest,
): Promise<OxpReply> {
  const { auth, audience } = oxpSettings(worker)
  const secret = auth === 'none' || path === 'health' ? '' : openWorkerSecret(broker, worker)
  const credentials = secret === '' ? [] : [secret]
  const response = await askWorker(broker.outgoing, {
    url: `${worker.uri.replace(/\/+$/, '')}/${path}`,
    continuesTrace: true,
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      accept: 'application/json',
      'oxp-version': '1.0',
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(secret !== '' && {
      authorize() {
        if (auth === 'api_key') return { 'oxp-api-key': secret }
        const token = signWorkerToken(secret, { iss: broker.settings.publicUrl.origin, aud: audience })
        credentials.push(token)
        return { authorization: `Bearer ${token}` }
      },
    }),
    timeoutSeconds,
    retry: worker.retry,
    isRepeatable: body === undefined || isRepeatable,
    ...(body !== undefined && { body: JSON.stringify(body) }),
    maxBytes,
    ...(signal && { signal }),
  })
  return { response, credentials }
}
