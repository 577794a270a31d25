import { createHash } from 'node:crypto'
import type { Broker } from '../../broker.ts'
import { sha256 } from '../../domain/ids.ts'
import type { Worker } from '../../domain/worker.ts'
import { OutgoingError } from '../../egress/outgoing.ts'
import { signatureHeaders } from '../../flows/signed-request.ts'
import type { Backend, BackendCall, CatalogueBounds, ListedCatalogue } from '../backend.ts'
import { callKey } from '../call-key.ts'
import { answerReader, readAnswer } from '../read-answer.ts'
import { Refusal } from '../read-json.ts'
import { keepFile, MAX_FILE_BYTES, newFilePlace } from '../stored-file.ts'
import { ownError, type ToolAnswer } from '../tool-answer.ts'
import { badOutputError } from '../tool-error.ts'
import { WorkerFault } from '../worker-fault.ts'
import { askWorker, MAX_HEALTH_SECONDS, refusalOf, toolErrorOf } from '../worker-request.ts'
import { PAGE, pageParameters } from './answers/pages.ts'
import { buildRequest } from './build-request.ts'
import { followRedirects } from './follow-redirects.ts'
import { type OpenapiSettings, openapiSettings } from './openapi-settings.ts'
import { placeCredentials, valuesOfConnection } from './place-credentials.ts'
import { withoutConnectionValues } from './plan-request.ts'
import { apiAnswers } from './read-answer-task.ts'
import { readInThread } from './read-in-thread.ts'
import { readRequestDescription } from './read-request-description.ts'
import {
  type CachedReading,
  cachedItems,
  cachedReading,
  cacheReading,
  readAndCache,
} from './reading-cache.ts'
import { planOf, type RequestPlan } from './request-plan.ts'
import { BadArgument, MissingValue } from './write-parameter.ts'

const MAX_DOCUMENT_MEBIBYTES = 32
const MAX_DOCUMENT_BYTES = MAX_DOCUMENT_MEBIBYTES * 1024 * 1024
const TOO_LARGE = `The OpenAPI document has more than ${MAX_DOCUMENT_MEBIBYTES} MiB. None of its tools was changed.`
/** The time limit of a health check, which downloads the whole document. */
const MAX_DOCUMENT_SECONDS = 30

/** A file in base64 takes a third more than the file. */
const MAX_FILE_ANSWER_BYTES = 1.5 * MAX_FILE_BYTES

const reader = answerReader(apiAnswers, './read-answer-task', import.meta.url)

/** HTTP APIs whose requests become tools: described by an OpenAPI document, or one request at a time. */
export const openapiBackend: Backend = {
  sendsTokensItself: true,

  async catalogue(broker, worker, bounds) {
    const settings = openapiSettings(worker)
    const namespace = settings.namespace ?? worker.id
    const { request, requests = request && [request] } = settings
    return withWorkerFault(async () =>
      requests === undefined
        ? catalogueOf(broker, worker, { settings, namespace, bounds })
        : {
            items: requests.map((one) => ({
              outcome: 'read',
              tool: readRequestDescription(one, { ...settings, namespace }),
            })),
          },
    )
  },

  async health(broker, worker) {
    const { url } = openapiSettings(worker)
    try {
      if (url !== undefined) await fetchDocument(broker, worker, url, {})
      else await checkAnswers(broker, worker)
      return { healthy: true }
    } catch (error) {
      if (!(error instanceof WorkerFault)) throw error
      return { healthy: false, message: error.message }
    }
  },

  received: ({ source }, input) => ({ ...planOf(source.document).defaults, ...input }),

  hosts: ({ source }) => [withoutConnectionValues(planOf(source.document).url)?.host ?? []].flat(),

  async call(broker, worker, call) {
    try {
      return await callApi(broker, worker, call)
    } catch (error) {
      if (error instanceof BadArgument)
        return ownError({ kind: 'TOOL_RUNTIME_BAD_INPUT_VALUE', message: error.message, canRetry: false })
      if (error instanceof MissingValue)
        return ownError({ kind: 'TOOL_REQUIREMENTS_NOT_MET', message: error.message, canRetry: false })
      if (error instanceof WorkerFault) return ownError(error.error)
      throw error
    }
  },
}

async function callApi(broker: Broker, worker: Worker, call: BackendCall): Promise<ToolAnswer> {
  const { plan, input } = pageOf(planOf(call.tool.source.document), call.input)
  const built = await buildRequest(plan, input, {
    ofConnection: valuesOfConnection(plan.credentials, call.authorizations),
    callId: callUuid(call),
  })
  const placed = placeCredentials(built, plan.credentials, call, worker.uri, plan.headers)
  if (placed.outcome === 'refused') return ownError(placed.error)
  const { path, proof, signer } = placed
  const { proofs } = broker.oauth
  const { url, headers, body } = placed.request
  const isSafe = plan.method === 'GET' // GET is the only safe method of METHODS (RFC 9110 section 9.2.1)
  const bounds = {
    timeoutSeconds: worker.timeoutSeconds,
    ...(plan.answer?.file && { maxBytes: MAX_FILE_ANSWER_BYTES }),
    ...(call.signal && { signal: call.signal }),
  }
  const send = () =>
    askWorker(broker.outgoing, {
      url: url.href,
      path,
      method: plan.method,
      headers,
      retry: worker.retry,
      isRepeatable: isSafe,
      body,
      ...bounds,
      ...(plan.followsRedirects && { redirects: 'answer' }),
      ...(proof && {
        authorize: async () => ({ dpop: await proofs.proofFor(proof, { method: plan.method, url }) }),
      }),
      ...(signer && {
        authorize: () => signatureHeaders(broker, signer, { method: plan.method, url, headers, body }),
      }),
    })
  const first = await send()
  // the API asked for a nonce before it looked at the request
  const answered = proof !== undefined && proofs.learn(proof, url, first) ? await send() : first
  const response = plan.followsRedirects ? await followRedirects(broker, answered, url, bounds) : answered
  const place = plan.answer?.file && newFilePlace(broker)
  const answer = await readAnswer(reader, { response, isSafe, plan: plan.answer, input, place }, call.reading)
  return keepFile(broker, { projectId: worker.projectId, userId: call.userId }, answer)
}

/** The request for the page that the input names, with the input's defaults. */
function pageOf(
  first: RequestPlan,
  sent: BackendCall['input'],
): { plan: RequestPlan; input: BackendCall['input'] } {
  const input = first.defaults === undefined ? sent : { ...first.defaults, ...sent }
  const { answer, nextPages } = first
  const page = input[PAGE]
  if (answer?.pages === undefined || typeof page !== 'string') return { plan: first, input }
  const plan = nextPages === undefined ? first : { ...nextPages, answer }
  if (answer.pages.by !== 'link') return { plan, input }
  const query = pageParameters(answer.pages, page)
  if (query === undefined) throw new BadArgument('"page" is not a value of `next_page`.')
  // the page replaces what the request would say about where to begin
  const parameters = plan.parameters.filter(
    ({ in: place, name }) => place !== 'query' || !Object.hasOwn(query, name),
  )
  return { plan: { ...plan, parameters, query: { ...plan.query, ...query } }, input }
}

/** A UUID of the call (RFC 9562 section 5.8): repetitions with the caller's idempotency key have the same. */
function callUuid(call: BackendCall): string {
  const hex = createHash('sha256')
    .update(JSON.stringify([call.tool.uid, callKey(call) ?? call.executionId]))
    .digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

/** The items of the document, from the cache unless the settings or the document have changed. */
async function catalogueOf(
  broker: Broker,
  worker: Worker,
  {
    bounds,
    ...options
  }: {
    readonly settings: OpenapiSettings
    readonly namespace: string
    readonly bounds: CatalogueBounds
  },
): Promise<ListedCatalogue> {
  const { uid, projectId } = worker
  const { url, document = {} } = options.settings
  const settingsHash = sha256(JSON.stringify([options.namespace, options.settings]))
  const before = cachedReading(uid, settingsHash)
  const fromCache = (reading: CachedReading): ListedCatalogue => ({
    items: cachedItems(reading),
    digest: reading.digest ?? settingsHash,
  })
  if (url === undefined) {
    if (before !== undefined) return fromCache(before)
    const read = () => readInThread({ ...options, source: document }, projectId)
    return { items: await readAndCache(uid, { settingsHash }, read), digest: settingsHash }
  }
  const fetched = await fetchDocument(broker, worker, url, { before, bounds })
  if (fetched === 'unchanged' && before !== undefined) return fromCache(before)
  // `unchanged` is only returned when there was a cached reading
  const { bytes, ...validators } = fetched as FetchedDocument
  // Web Crypto hashes off the event loop
  const digest = Buffer.from(await crypto.subtle.digest('SHA-256', bytes)).toString('base64')
  const known = { settingsHash, digest, ...validators }
  if (before?.digest === digest) {
    const { items, refused } = before
    cacheReading(uid, { ...known, items, refused })
    return fromCache(before)
  }
  const source = { ...options, documentUrl: url, source: bytes }
  return { items: await readAndCache(uid, known, () => readInThread(source, projectId)), digest }
}

interface FetchedDocument extends Pick<CachedReading, 'etag' | 'lastModified'> {
  readonly bytes: Uint8Array<ArrayBuffer>
}

/** Fetches the document by a conditional request, if the server sent validators before (RFC 9110 section 13.1). */
async function fetchDocument(
  broker: Broker,
  worker: Worker,
  url: string,
  { before, bounds }: { readonly before?: CachedReading | undefined; readonly bounds?: CatalogueBounds },
): Promise<FetchedDocument | 'unchanged'> {
  const maxBytes = Math.min(MAX_DOCUMENT_BYTES, bounds?.maxBytes ?? MAX_DOCUMENT_BYTES)
  const { status, headers, body } = await askWorker(broker.outgoing, {
    url,
    method: 'GET',
    headers: {
      accept: 'application/json, application/yaml, */*;q=0.5',
      ...(before?.etag !== undefined && { 'if-none-match': before.etag }),
      ...(before?.lastModified !== undefined && { 'if-modified-since': before.lastModified }),
    },
    timeoutSeconds: Math.min(worker.timeoutSeconds, bounds?.maxSeconds ?? MAX_DOCUMENT_SECONDS),
    retry: worker.retry,
    isRepeatable: true,
    maxBytes,
  }).catch((error) => {
    // with small bounds the fault is passed on, and `readBounded` reads again with larger ones
    if (!(error instanceof WorkerFault && error.isTooLarge) || maxBytes < MAX_DOCUMENT_BYTES) throw error
    throw new WorkerFault(badOutputError(TOO_LARGE))
  })
  if (status === 304 && before !== undefined) return 'unchanged'
  if (status < 200 || status > 299) throw new WorkerFault(refusalOf(status, headers['retry-after']))
  const { etag, 'last-modified': lastModified } = headers
  return { bytes: new Uint8Array(body), etag, lastModified }
}

/** Checks that the API answers. Any status below 500 will do, since its root path may not exist. */
async function checkAnswers(broker: Broker, worker: Worker): Promise<void> {
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

/** Turns a `Refusal` into a `WorkerFault`. */
async function withWorkerFault<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    throw new WorkerFault({
      kind: 'TOOLKIT_LOAD_FAILED',
      message: 'The description of the API cannot be read.',
      canRetry: false,
      developerMessage: error.message,
    })
  }
}
