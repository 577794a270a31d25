import type { Outgoing, OutgoingResponse } from '../../egress/outgoing.ts'
import { membersOf } from '../../providers/response-body.ts'
import type { CatalogueBounds, ListedCatalogue } from '../backend.ts'
import type { CatalogueReading, ReceivedCatalogue } from '../catalogue/catalogue-reading.ts'
import { readCatalogue } from '../catalogue/read-catalogue.ts'
import { type AnswerReading, answerReader, readAnswer } from '../read-answer.ts'
import { threadTask } from '../thread-pool.ts'
import { ownError, type ToolAnswer } from '../tool-answer.ts'
import { WorkerFault } from '../worker-fault.ts'
import { askWorker, bodyOf, jsonOf, MAX_HEALTH_SECONDS } from '../worker-request.ts'
import { signWorkerToken } from '../worker-token.ts'
import { arcadeAnswers } from './read-answer-task.ts'
import { type Credentials, readList } from './read-catalogue-task.ts'

// The broker's side of Arcade's HTTP worker protocol: signs requests, limits their time and size, and reports failures by
// the protocol's error kinds. Text that a worker sends outside of the protocol (an error page, a redirect, a consent link)
// never reaches a caller.

export interface WorkerEndpoint {
  /** The base URL; `/worker/...` is appended. */
  readonly uri: string
  /** The HS256 key shared with the worker. */
  readonly secret: string
  /** The `iss` claim: the public URL of this Gatepass. */
  readonly issuer: string
  /** The time limit of one request, retries included. */
  readonly timeoutSeconds: number
  /** The number of retries of a request that was certainly not sent, or that is repeatable. */
  readonly retry: number
}

export interface WorkerCall {
  readonly runId: string
  readonly executionId: string
  /** RFC 3339. */
  readonly createdAt: string
  /** Spelled as the worker lists it. */
  readonly tool: { readonly name: string; readonly toolkit: string; readonly version?: string | undefined }
  readonly inputs: Readonly<Record<string, unknown>>
  readonly context: WorkerCallContext
  /** Running the tool twice has no more effect than running it once. */
  readonly isRepeatable?: boolean
}

/** `token` and `user_info` are members of the protocol; the others are additions. */
export interface ToolAuthorization {
  readonly token: string
  readonly user_info: Readonly<Record<string, unknown>>
  readonly token_type?: string
  /** RFC 3339; absent when the provider did not say. */
  readonly expires_at?: string
  /** The granted scopes. */
  readonly scopes?: readonly string[]
  /** The provider entry's id. */
  readonly provider_id?: string
  /** Only in `authorizations`: the names that the tool's requirements use for this provider. */
  readonly names?: readonly string[]
  /** Other members of the token response, such as `instance_url`. */
  readonly extra?: Readonly<Record<string, unknown>> | undefined
  /** What the user typed besides secrets, such as a domain, where the provider has no OAuth. */
  readonly fields?: Readonly<Record<string, string>> | undefined
}

/** The context that the tool receives besides its inputs, in wire form. */
export interface WorkerCallContext {
  readonly authorization?: ToolAuthorization
  /** An addition to the protocol: all authorizations in declared order, when the tool needs several providers. */
  readonly authorizations?: readonly ToolAuthorization[]
  readonly secrets?: readonly { readonly key: string; readonly value: string }[]
  readonly metadata?: readonly { readonly key: string; readonly value: string }[]
  readonly user_id?: string | undefined
}

/** Asks for the worker's health. `message` says why it is unhealthy, for the operator. */
export async function workerHealth(
  outgoing: Outgoing,
  worker: WorkerEndpoint,
): Promise<{ healthy: boolean; message?: string }> {
  try {
    const health = membersOf(
      jsonOf((await ask(outgoing, withinSeconds(worker, MAX_HEALTH_SECONDS), { path: 'health' })).response),
    )
    if (health?.status === 'ok') return { healthy: true }
    return { healthy: false, message: 'The worker’s health answer does not have the status "ok".' }
  } catch (error) {
    if (!(error instanceof WorkerFault)) throw error
    return { healthy: false, message: error.message }
  }
}

const catalogueTask = threadTask<ReceivedCatalogue<Credentials>, CatalogueReading>(
  './read-catalogue-task',
  import.meta.url,
)

/** Reads the worker's list of tools. Throws `WorkerFault`. */
export async function workerCatalogue(
  outgoing: Outgoing,
  worker: WorkerEndpoint,
  { maxBytes, maxSeconds, before, owner }: CatalogueBounds & { readonly owner: string },
): Promise<ListedCatalogue | 'unchanged'> {
  const { response, credentials } = await ask(outgoing, withinSeconds(worker, maxSeconds), {
    path: 'tools',
    signed: true,
    maxBytes,
  })
  const received = { pages: [bodyOf(response)], about: credentials, before }
  return readCatalogue(received, { task: catalogueTask, read: readList, owner })
}

const reader = answerReader(arcadeAnswers, './read-answer-task', import.meta.url)

/** Runs a tool. A failure of the worker is returned with the outcome `error`, not thrown. */
export async function invokeWorker(
  outgoing: Outgoing,
  worker: WorkerEndpoint,
  { runId, executionId, createdAt, tool, inputs, context, isRepeatable = false }: WorkerCall,
  {
    signal,
    reading,
  }: { readonly signal?: AbortSignal | undefined; readonly reading?: AnswerReading | undefined } = {},
): Promise<ToolAnswer> {
  const call = { run_id: runId, execution_id: executionId, created_at: createdAt, tool, inputs, context }
  try {
    const body = JSON.stringify(call)
    const question = {
      path: 'tools/invoke',
      signed: true,
      isRepeatable,
      body,
      ...(signal && { signal }),
    } as const
    const { response, credentials } = await ask(outgoing, worker, question)
    return await readAnswer(reader, { response }, reading, credentials)
  } catch (error) {
    if (!(error instanceof WorkerFault)) throw error
    return ownError(error.error)
  }
}

interface WorkerQuery {
  readonly path: 'health' | 'tools' | 'tools/invoke'
  readonly signed?: boolean
  /** Applies to requests with a body. A request without a body only reads, so it is always repeatable. */
  readonly isRepeatable?: boolean
  /** JSON; if present, the method is POST. */
  readonly body?: string
  /** The size limit of the answer. Default: 4 MiB. */
  readonly maxBytes?: number
  readonly signal?: AbortSignal
}

interface Answer {
  readonly response: OutgoingResponse
  /** The credentials of the request, which are removed from the answer in case the worker echoes them. */
  readonly credentials: readonly string[]
}

async function ask(
  outgoing: Outgoing,
  worker: WorkerEndpoint,
  { path, signed: isSigned = false, isRepeatable = false, body, maxBytes, signal }: WorkerQuery,
): Promise<Answer> {
  const { uri, secret, timeoutSeconds, retry } = worker
  const credentials = isSigned ? [secret] : []
  const response = await askWorker(outgoing, {
    url: `${uri.replace(/\/+$/, '')}/worker/${path}`,
    continuesTrace: true,
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      accept: 'application/json',
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(isSigned && {
      authorize() {
        const token = workerToken(worker)
        credentials.push(token)
        return { authorization: `Bearer ${token}` }
      },
    }),
    timeoutSeconds,
    retry,
    isRepeatable: body === undefined || isRepeatable,
    body,
    maxBytes,
    ...(signal && { signal }),
  })
  return { response, credentials }
}

function withinSeconds(worker: WorkerEndpoint, maxSeconds: number): WorkerEndpoint {
  return { ...worker, timeoutSeconds: Math.min(worker.timeoutSeconds, maxSeconds) }
}

/** A token for one request. */
export function workerToken({ secret, issuer }: Pick<WorkerEndpoint, 'secret' | 'issuer'>): string {
  return signWorkerToken(secret, { ver: '1', iss: issuer, aud: 'worker' })
}
