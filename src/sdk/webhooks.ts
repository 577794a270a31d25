// Webhooks of Gatepass, by the Standard Webhooks specification: an administrator registers a receiver
// (`POST /v1/webhooks`), which verifies here what Gatepass sends to it.

import { isRecord } from './is-record.ts'

/** Why a webhook was refused. */
export type WebhookFault =
  | 'missing_header'
  | 'invalid_timestamp'
  | 'outside_tolerance'
  | 'wrong_signature'
  | 'invalid_secret'
  | 'invalid_body'

/** The request is not a webhook of this Gatepass, or is too old. Answer 400 and do nothing. */
export class WebhookRefused extends Error {
  override readonly name = 'WebhookRefused'
  /** Stable, for programs. */
  readonly reason: WebhookFault

  constructor(reason: WebhookFault, message: string) {
    super(message)
    this.reason = reason
  }
}

interface Subject {
  /** The id of the authorization, connection, run or worker that the event is about; of the webhook in a test. */
  readonly id: string
  /** Counts the events about this id, so that a receiver can order them. */
  readonly sequence: number
}

interface OfUser extends Subject {
  /** Absent once the user was erased. */
  readonly userId?: string
}

interface OfConnection extends OfUser {
  readonly providerId: string
}

interface OfApproval extends OfUser {
  /** Absent where a provider's token is asked for. */
  readonly toolId?: string
  readonly providerId?: string
  /** The group that must decide, where it is not the user alone. */
  readonly group?: string
  /** RFC 3339. */
  readonly expiresAt: string
}

/**
 * The data of each type of event: ids, states and codes, never a token, a link or the input of a tool. Gatepass sends
 * `webhook.test` only when an administrator tests the receiver.
 */
export interface WebhookData {
  readonly 'webhook.test': Subject
  readonly 'authorization.completed': OfUser & {
    readonly status: 'completed'
    readonly connectionIds: readonly string[]
  }
  readonly 'authorization.failed': OfUser & {
    readonly status: 'failed'
    readonly reason: string
    /** The connections to the providers that the user had already approved. */
    readonly connectionIds: readonly string[]
  }
  readonly 'authorization.expired': OfUser & {
    readonly status: 'failed'
    readonly reason: 'expired'
    readonly connectionIds: readonly string[]
  }
  readonly 'connection.created': OfConnection & { readonly scopes: readonly string[] }
  readonly 'connection.refreshed_scopes': OfConnection & {
    readonly scopes: readonly string[]
    readonly added: readonly string[]
    readonly removed: readonly string[]
  }
  readonly 'connection.needs_authorization': OfConnection & {
    readonly status: 'needs_authorization'
    readonly reason: string
  }
  /** Gatepass has asked the provider to end the grant, or the provider has ended it. */
  readonly 'connection.revoked': OfConnection & {
    readonly by: 'user' | 'operator' | 'provider'
    readonly revocation: 'revoked' | 'unsupported' | 'failed'
  }
  /** The connection is deleted in Gatepass; with `pending`, `connection.revoked` follows. */
  readonly 'connection.deleted': OfConnection & {
    readonly by: 'user' | 'operator'
    readonly revocation: 'pending' | 'unsupported' | 'not_attempted'
  }
  readonly 'tool.run.failed': Subject & {
    /** Absent for a run without a user. */
    readonly userId?: string
    readonly toolId: string
    readonly errorKind: string
    readonly retryable: boolean
  }
  /** Names such as `provider:github`, `scope:github:repo`, `secret:api_key`. */
  readonly 'worker.requirements_changed': Subject & {
    readonly added: readonly string[]
    readonly removed: readonly string[]
  }
  /** Definitions of a worker's tools have changed: how many. `held`: they wait for an administrator. */
  readonly 'worker.tools_changed': Subject & {
    readonly changed: number
    readonly added: number
    readonly removed: number
    readonly held: boolean
  }
  /** A call waits for a person. Its arguments and its link are read by the API. */
  readonly 'approval.requested': OfApproval & { readonly status: 'pending' }
  readonly 'approval.decided': OfApproval & { readonly status: 'approved' | 'denied' }
  readonly 'approval.expired': OfApproval & { readonly status: 'expired' }
}

/** An event: switch on `type`, and ignore the types you do not know. */
export type WebhookEvent = {
  [Type in keyof WebhookData]: {
    /** The same for each delivery of this event: keep it, and ignore an event that you have seen. */
    readonly id: string
    readonly type: Type
    readonly timestamp: Date
    readonly data: WebhookData[Type]
  }
}[keyof WebhookData]

export interface VerifyOptions {
  /** How far the timestamp may be in the past or in the future, in seconds; 300 by default. */
  readonly toleranceSeconds?: number | undefined
  /** The time, in milliseconds since 1970; `Date.now()` by default. */
  readonly now?: number | undefined
}

/** A request of Node's `http`, Express, Fastify and the like: its headers, and the body as it arrived. */
export interface ReceivedWebhook {
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>
  /** The bytes or the text that was sent: `express.raw({ type: 'application/json' })` leaves them in `request.body`. */
  readonly body: string | Uint8Array
}

const TOLERANCE_SECONDS = 300

/**
 * Verifies a webhook and returns its event. The signature is over the raw body, so a `Request` must not have been read.
 * `secrets`: one, or several while a secret is being replaced, each `whsec_…`.
 * @throws WebhookRefused when no secret fits, a header is missing, or the timestamp is too far away
 * @throws TypeError when something has parsed the body before: JSON that is serialized again has other bytes
 */
export async function verifyWebhook(
  request: Request | ReceivedWebhook,
  secrets: string | readonly string[],
  { toleranceSeconds = TOLERANCE_SECONDS, now = Date.now() }: VerifyOptions = {},
): Promise<WebhookEvent> {
  const id = header(request, 'webhook-id')
  const timestamp = header(request, 'webhook-timestamp')
  const signatures = signaturesOf(header(request, 'webhook-signature'))
  if (!/^\d{1,12}$/.test(timestamp))
    throw new WebhookRefused('invalid_timestamp', 'webhook-timestamp is not a time.')
  if (Math.abs(now / 1000 - Number(timestamp)) > toleranceSeconds)
    throw new WebhookRefused('outside_tolerance', 'The webhook is too old, or from the future.')
  const body = await rawBody(request)
  const head = new TextEncoder().encode(`${id}.${timestamp}.`)
  const signed = new Uint8Array(head.length + body.length)
  signed.set(head)
  signed.set(body, head.length)
  for (const secret of typeof secrets === 'string' ? [secrets] : secrets) {
    const key = await importKey(secret)
    // compares in constant time
    for (const signature of signatures)
      if (await crypto.subtle.verify('HMAC', key, signature, signed))
        return toEvent(id, new TextDecoder().decode(body))
  }
  throw new WebhookRefused('wrong_signature', 'No signature was made with this secret.')
}

function header({ headers }: Request | ReceivedWebhook, name: string): string {
  const value = headers instanceof Headers ? headers.get(name) : headers[name]
  if (typeof value !== 'string' || value === '')
    throw new WebhookRefused('missing_header', `The header ${name} is missing.`)
  return value
}

async function rawBody(request: Request | ReceivedWebhook): Promise<Uint8Array> {
  if ('arrayBuffer' in request) {
    if (request.bodyUsed) throw new TypeError(`The request was read before it was verified. ${HINT}`)
    return new Uint8Array(await request.arrayBuffer())
  }
  const { body } = request
  if (typeof body === 'string') return new TextEncoder().encode(body)
  if (body instanceof Uint8Array) return body
  throw new TypeError(`The body was parsed before it was verified, or is missing. ${HINT}`)
}

const HINT =
  "The signature is over the raw body: let no parser come first (Express: express.raw({ type: 'application/json' }))."

/** The signatures of version 1 in the header: `v1,<base64>`, separated by spaces. */
function signaturesOf(text: string): Uint8Array<ArrayBuffer>[] {
  return text
    .split(' ')
    .filter((part) => part.startsWith('v1,'))
    .flatMap((part) => fromBase64(part.slice(3)) ?? [])
}

async function importKey(secret: string): Promise<CryptoKey> {
  const bytes = fromBase64(secret.replace(/^whsec_/, ''))
  if (bytes === undefined || bytes.length === 0)
    throw new WebhookRefused('invalid_secret', 'A secret must be whsec_ followed by base64.')
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
  } catch {
    return undefined
  }
}

function toEvent(id: string, body: string): WebhookEvent {
  const event = parse(body)
  if (typeof event?.type !== 'string' || typeof event.timestamp !== 'string' || !isRecord(event.data))
    throw new WebhookRefused('invalid_body', 'The body is no event.')
  const data = Object.fromEntries(
    Object.entries(event.data).map(([name, value]) => [toCamelCase(name), value]),
  )
  const { type, timestamp } = event
  return { id, type, timestamp: new Date(timestamp), data } as unknown as WebhookEvent // signed by Gatepass
}

function parse(body: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(body)
    return isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}

function toCamelCase(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
