import { randomUUID } from 'node:crypto'
import { SignJWT } from 'jose'
import type { Outgoing, OutgoingResponse } from '../../egress/outgoing.ts'
import { membersOf } from '../../providers/response-body.ts'
import { WorkerFault } from '../backend.ts'
import { type AnswerReading, readAnswer } from '../read-answer.ts'
import { scrub } from '../scrub.ts'
import { ownError, type ToolAnswer } from '../tool-answer.ts'
import { badOutputError } from '../tool-error.ts'
import { askWorker, jsonOf, MAX_CATALOGUE_SECONDS, MAX_HEALTH_SECONDS } from '../worker-request.ts'

// The broker's side of Arcade's HTTP worker protocol (reference/arcade.md section 3): signs the request, bounds
// its time and size, and says in the contract's error kinds what went wrong. What a worker wrote beside the
// protocol (an error page, a redirect, a consent link) is never passed on.

export interface WorkerEndpoint {
  /** The base URL; `/worker/...` is appended. */
  readonly uri: string
  /** The HS256 key that both sides know. */
  readonly secret: string
  /** Who asks: the public URL of this Gatepass. */
  readonly issuer: string
  /** For one request in all, repeated attempts included. */
  readonly timeoutSeconds: number
  /** How often to try again when surely nothing was sent. */
  readonly retry: number
}

export interface WorkerCall {
  readonly runId: string
  readonly executionId: string
  /** RFC 3339. */
  readonly createdAt: string
  /** As the worker spells it. */
  readonly tool: { readonly name: string; readonly toolkit: string; readonly version?: string }
  readonly inputs: Readonly<Record<string, unknown>>
  readonly context: WorkerCallContext
  /** Running it twice does no more than running it once. */
  readonly isRepeatable?: boolean
}

/** `token` and `user_info` are the protocol's; the rest is what else is known of the token. */
export interface ToolAuthorization {
  readonly token: string
  readonly user_info: Readonly<Record<string, unknown>>
  readonly token_type?: string
  /** RFC 3339; absent when the provider did not say. */
  readonly expires_at?: string
  /** What was granted. */
  readonly scopes?: readonly string[]
  /** The entry's id. */
  readonly provider_id?: string
  /** What else the provider told when it gave the token, such as `instance_url`. */
  readonly extra?: Readonly<Record<string, unknown>>
}

/** What the tool is given besides its inputs, as the wire has it. */
export interface WorkerCallContext {
  readonly authorization?: ToolAuthorization
  /** Beyond the protocol: all of them, in the order declared, when the tool needs several providers. */
  readonly authorizations?: readonly ToolAuthorization[]
  readonly secrets?: readonly { readonly key: string; readonly value: string }[]
  readonly metadata?: readonly { readonly key: string; readonly value: string }[]
  readonly user_id?: string
}

const TOKEN_SECONDS = 60
const MAX_KEYS = 1_000

/** Whether the worker says that it is well. `message` says why not, for the operator. */
export async function workerHealth(
  outgoing: Outgoing,
  worker: WorkerEndpoint,
): Promise<{ healthy: boolean; message?: string }> {
  try {
    const health = membersOf(
      jsonOf((await ask(outgoing, withinSeconds(worker, MAX_HEALTH_SECONDS), { path: 'health' })).response),
    )
    if (health?.status === 'ok') return { healthy: true }
    return { healthy: false, message: 'The worker does not say that its status is "ok".' }
  } catch (error) {
    if (!(error instanceof WorkerFault)) throw error
    return { healthy: false, message: error.message }
  }
}

/** The worker's tool definitions, not yet looked into. Throws `WorkerFault`. */
export async function workerCatalogue(outgoing: Outgoing, worker: WorkerEndpoint): Promise<unknown[]> {
  const { response, credentials } = await ask(outgoing, withinSeconds(worker, MAX_CATALOGUE_SECONDS), {
    path: 'tools',
    signed: true,
  })
  const said = jsonOf(response)
  if (Array.isArray(said)) return said.map((definition) => scrub(definition, credentials))
  throw new WorkerFault(badOutputError('The worker lists its tools in something that is not a JSON array.'))
}

/** Runs a tool. Whatever the worker does wrong is an answer of the outcome `error`; nothing is thrown for it. */
export async function invokeWorker(
  outgoing: Outgoing,
  worker: WorkerEndpoint,
  { runId, executionId, createdAt, tool, inputs, context, isRepeatable = false }: WorkerCall,
  { signal, reading }: { readonly signal?: AbortSignal; readonly reading?: AnswerReading } = {},
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
    return await readAnswer({ protocol: 'http', response }, reading, credentials)
  } catch (error) {
    if (!(error instanceof WorkerFault)) throw error
    return ownError(error.error)
  }
}

interface Question {
  readonly path: 'health' | 'tools' | 'tools/invoke'
  readonly signed?: boolean
  readonly isRepeatable?: boolean
  /** JSON; with it the method is POST. */
  readonly body?: string
  readonly signal?: AbortSignal
}

interface Answer {
  readonly response: OutgoingResponse
  /** What the request was signed with: a worker that echoes it must not hand it on. */
  readonly credentials: readonly string[]
}

async function ask(
  outgoing: Outgoing,
  worker: WorkerEndpoint,
  { path, signed: isSigned = false, isRepeatable = false, body, signal }: Question,
): Promise<Answer> {
  const { uri, secret, timeoutSeconds, retry } = worker
  const credentials = isSigned ? [secret] : []
  const response = await askWorker(outgoing, {
    url: `${uri.replace(/\/+$/, '')}/worker/${path}`,
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      accept: 'application/json',
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(isSigned && {
      async authorize() {
        const token = await workerToken(worker)
        credentials.push(token)
        return { authorization: `Bearer ${token}` }
      },
    }),
    timeoutSeconds,
    retry,
    isRepeatable,
    ...(body !== undefined && { body }),
    ...(signal && { signal }),
  })
  return { response, credentials }
}

function withinSeconds(worker: WorkerEndpoint, most: number): WorkerEndpoint {
  return { ...worker, timeoutSeconds: Math.min(worker.timeoutSeconds, most) }
}

/**
 * One for each request: `iss` says which Gatepass asks, and `jti` lets a worker know a request that is replayed to it, or
 * to another one that has the same secret.
 */
async function workerToken({ secret, issuer }: WorkerEndpoint): Promise<string> {
  return new SignJWT({ ver: '1' })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setIssuer(issuer)
    .setAudience('worker')
    .setJti(randomUUID())
    .setIssuedAt()
    .setExpirationTime(`${TOKEN_SECONDS} seconds`)
    .sign(await signingKey(secret))
}

/** By secret: importing a key costs more than signing with it. */
const keys = new Map<string, Promise<CryptoKey>>()

function signingKey(secret: string): Promise<CryptoKey> {
  const known = keys.get(secret)
  const key =
    known ??
    crypto.subtle.importKey(
      'raw',
      new TextEncoder().encode(secret),
      { name: 'HMAC', hash: 'SHA-256' },
      false,
      ['sign'],
    )
  keys.delete(secret)
  keys.set(secret, key)
  const [oldest] = keys.keys()
  if (keys.size > MAX_KEYS && oldest !== undefined) keys.delete(oldest)
  return key
}
