import type { Broker } from '../../broker.ts'
import type { Worker } from '../../domain/worker.ts'
import { OutgoingError } from '../../providers/outgoing.ts'
import { type Backend, type BackendCall, WorkerFault } from '../backend.ts'
import { Refusal } from '../read-json.ts'
import { ownError, type ToolAnswer } from '../tool-answer.ts'
import {
  askWorker,
  MAX_CATALOGUE_SECONDS,
  MAX_HEALTH_SECONDS,
  refusalOf,
  toolErrorOf,
} from '../worker-request.ts'
import { buildRequest } from './build-request.ts'
import { keptReading } from './kept-reading.ts'
import { parseDocument, readDocument } from './openapi-document.ts'
import { openapiSettings } from './openapi-settings.ts'
import { placeCredentials } from './place-credentials.ts'
import { readOpenapi } from './read-openapi.ts'
import { readRequestDescription } from './read-request-description.ts'
import { readResponse } from './read-response.ts'
import { planOf } from './request-plan.ts'
import { BadArgument } from './write-parameter.ts'

const MAX_DOCUMENT_BYTES = 16 * 1024 * 1024

/** HTTP APIs whose requests are tools: by an OpenAPI document, or by a description of one request. */
export const openapiBackend: Backend = {
  async catalogue(broker, worker) {
    const settings = openapiSettings(worker)
    const namespace = settings.namespace ?? worker.id
    const { url: documentUrl, request, document } = settings
    return reading(async () => {
      if (request !== undefined)
        return [{ outcome: 'read', tool: readRequestDescription(request, { ...settings, namespace }) }]
      const text = documentUrl === undefined ? '' : await fetchDocument(broker, worker, documentUrl)
      return keptReading(worker.uid, [namespace, JSON.stringify(settings), text], () =>
        readOpenapi(documentUrl === undefined ? readDocument(document) : parseDocument(text), {
          settings,
          namespace,
          ...(documentUrl !== undefined && { documentUrl }),
        }),
      )
    })
  },

  async health(broker, worker) {
    const { url } = openapiSettings(worker)
    try {
      if (url !== undefined) await fetchDocument(broker, worker, url)
      else await askWhetherItAnswers(broker, worker)
      return { healthy: true }
    } catch (error) {
      if (!(error instanceof WorkerFault)) throw error
      return { healthy: false, message: error.message }
    }
  },

  hosts: ({ source }) => [new URL(planOf(source.document).url).host],

  async call(broker, worker, call) {
    try {
      return await callApi(broker, worker, call)
    } catch (error) {
      if (error instanceof BadArgument)
        return ownError({ kind: 'TOOL_RUNTIME_BAD_INPUT_VALUE', message: error.message, can_retry: false })
      if (error instanceof WorkerFault) return ownError(error.error)
      throw error
    }
  },
}

async function callApi(broker: Broker, worker: Worker, call: BackendCall): Promise<ToolAnswer> {
  const plan = planOf(call.tool.source.document)
  const placed = placeCredentials(buildRequest(plan, call.input), plan.credentials, call, worker.uri)
  if (placed.outcome === 'refused') return ownError(placed.error)
  const { url, headers, body } = placed.request
  const isSafe = plan.method === 'GET' // RFC 9110 section 9.2.1
  const response = await askWorker(broker.outgoing, {
    url: url.href,
    method: plan.method,
    headers,
    timeoutSeconds: worker.timeoutSeconds,
    retry: worker.retry,
    isRepeatable: isSafe,
    ...(body !== undefined && { body }),
    ...(call.signal && { signal: call.signal }),
  })
  return readResponse(response, isSafe)
}

async function fetchDocument(broker: Broker, worker: Worker, url: string): Promise<string> {
  const { status, headers, body } = await askWorker(broker.outgoing, {
    url,
    method: 'GET',
    headers: { accept: 'application/json, application/yaml, */*;q=0.5' },
    timeoutSeconds: Math.min(worker.timeoutSeconds, MAX_CATALOGUE_SECONDS),
    retry: worker.retry,
    isRepeatable: true,
    maxBytes: MAX_DOCUMENT_BYTES,
  })
  if (status < 200 || status > 299) throw new WorkerFault(refusalOf(status, headers['retry-after']))
  return new TextDecoder().decode(body)
}

/** Any answer but a failure shows that it is there: what stands at its root is not known. */
async function askWhetherItAnswers(broker: Broker, worker: Worker): Promise<void> {
  try {
    const { status, body } = await broker.outgoing.stream({
      url: worker.uri,
      method: 'HEAD',
      purpose: 'worker',
      deadlineMs: Math.min(worker.timeoutSeconds, MAX_HEALTH_SECONDS) * 1000,
      redirects: 'answer',
    })
    await body.cancel()
    if (status >= 500) throw new WorkerFault(refusalOf(status, undefined))
  } catch (error) {
    throw error instanceof OutgoingError ? new WorkerFault(toolErrorOf(error)) : error
  }
}

async function reading<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    throw new WorkerFault({
      kind: 'TOOLKIT_LOAD_FAILED',
      message: 'The description of the API cannot be read.',
      can_retry: false,
      developer_message: error.message,
    })
  }
}
