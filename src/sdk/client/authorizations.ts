import type * as Wire from '../generated/wire.ts'
import type {
  Authorization,
  CompletedAuthorization,
  PendingAuthorization,
  WaitOptions,
} from './authorization.ts'
import { AuthorizationFailed, AuthorizationTimeout, GatepassError } from './errors.ts'
import { backoffMs, isTransient, pause } from './retry.ts'
import { readEvents } from './server-sent-events.ts'
import type { RequestOptions, Transport } from './transport.ts'

const WAIT_TIMEOUT_MS = 600_000
/** How long one request waits for a change, and how much longer its answer may take. */
const POLL_MS = 45_000
const POLL_GRACE_MS = 15_000
/** Gatepass did not hold a request that takes less time without a change: it held too many, or was shutting down. */
const HELD_MS = 1_000
/** How often in a row a stream that sends no status is opened again; with the pauses about two minutes. */
const MAX_REOPENED = 20

/** Converts an authorization from the wire, without its token. */
export function toAuthorization(transport: Transport, wire: Wire.Authorization): Authorization {
  const { id, scopes, status, url, expires_at, reason, message, cause } = wire
  const common = { id, scopes, kind: kindOf(id) }
  if (status === 'completed') return withMethods<CompletedAuthorization>(transport, { ...common, status })
  if (status === 'failed') {
    const failure = {
      reason: reason ?? 'provider_refused',
      message: message ?? 'Begin another authorization.',
    }
    return withMethods<Authorization>(transport, {
      ...common,
      status,
      ...failure,
      ...(cause && { why: cause }),
    })
  }
  const expires = expires_at === undefined ? {} : { expiresAt: new Date(expires_at) }
  return withMethods<PendingAuthorization>(transport, {
    ...common,
    status: 'pending',
    url: url ?? '', // every pending authorization has its link
    ...expires,
  })
}

/** Converts the missing consent in an answer into a pending authorization. */
export function toRequired(
  transport: Transport,
  { id, url, scopes }: Pick<Wire.RequiredAuthorization, 'id' | 'url' | 'scopes'>,
): PendingAuthorization {
  return withMethods<PendingAuthorization>(transport, {
    id,
    scopes,
    kind: kindOf(id),
    status: 'pending',
    url,
  })
}

/** Approvals have the words of consents, and ids of their own (docs/guides/approvals.md). */
function kindOf(id: string): Authorization['kind'] {
  return id.startsWith('appr_') ? 'approval' : 'consent'
}

/** The methods are not enumerable, so that JSON, `structuredClone` and logs get the data alone. */
function withMethods<T extends Authorization>(transport: Transport, data: Omit<T, 'wait' | 'events'>): T {
  const authorization = data as T // complete with the two methods that follow
  const methods: Pick<Authorization, 'wait' | 'events'> = {
    wait: (options) => waitFor(transport, authorization, options),
    events: (options) => eventsOf(transport, authorization.id, options),
  }
  for (const [name, value] of Object.entries(methods)) Object.defineProperty(authorization, name, { value })
  return authorization
}

/** How to ask for the status of an authorization. */
export interface StatusOptions extends RequestOptions {
  /** How long Gatepass waits for a change before it answers, in milliseconds: at most 59,000; 0 by default. */
  readonly waitMs?: number | undefined
}

export async function getAuthorization(
  transport: Transport,
  id: string,
  { waitMs = 0, timeoutMs, ...options }: StatusOptions = {},
): Promise<Authorization> {
  const held = { timeoutMs: timeoutMs ?? waitMs + POLL_GRACE_MS }
  const wire = await transport.call('getAuthorizationStatus', {
    query: { id, wait: Math.ceil(waitMs / 1000) },
    options: { ...options, ...(waitMs > 0 ? held : { timeoutMs }) },
  })
  return toAuthorization(transport, wire)
}

async function waitFor(
  transport: Transport,
  authorization: Authorization,
  { timeoutMs = WAIT_TIMEOUT_MS, signal }: WaitOptions = {},
): Promise<CompletedAuthorization> {
  const { id } = authorization
  const deadline = Date.now() + timeoutMs
  let current = authorization
  let failures = 0
  let cause: GatepassError | undefined
  for (;;) {
    if (current.status === 'completed') return current
    if (current.status === 'failed') throw new AuthorizationFailed(current)
    const begun = Date.now()
    if (begun >= deadline)
      throw new AuthorizationTimeout(
        'authorization_timeout',
        `The user has not approved within ${timeoutMs} ms. The link may still be open.`,
        { cause },
      )
    try {
      const left = deadline - begun
      const limits = { timeoutMs: Math.min(POLL_MS + POLL_GRACE_MS, left), maxRetries: 0 }
      current = await getAuthorization(transport, id, { waitMs: Math.min(POLL_MS, left), ...limits, signal })
      const wasHeld = Date.now() - begun >= HELD_MS
      failures = wasHeld ? 0 : failures + 1
      cause = undefined
    } catch (error) {
      if (!(error instanceof GatepassError) || !isTransient(error)) throw error
      failures++
      cause = error
    }
    if (failures > 0 && current.status === 'pending') {
      const pauseMs = Math.max(backoffMs(failures - 1), cause?.retryAfterMs ?? 0)
      await pause(Math.min(pauseMs, Math.max(0, deadline - Date.now())), signal)
    }
  }
}

async function* eventsOf(
  transport: Transport,
  id: string,
  { signal }: { readonly signal?: AbortSignal | undefined } = {},
): AsyncGenerator<Authorization, void> {
  let last: string | undefined
  let shortStreams = 0 // how many streams in a row Gatepass ended at once
  for (let failures = 0; ; failures++) {
    const begun = Date.now()
    let retryAfterMs = 0
    try {
      const { body } = await transport.open('streamAuthorizationStatus', {
        params: { id },
        options: { signal, maxRetries: 0 },
      })
      for await (const { event, data } of body === null ? [] : readEvents(body)) {
        if (event === 'error') break // if the refusal lasts, the next request is refused too, with its HTTP status
        if (event !== 'status') continue
        const wire: Wire.Authorization = JSON.parse(data)
        const current = toAuthorization(transport, wire)
        if (current.status !== last) yield current
        last = current.status
        if (current.status !== 'pending') return
        failures = 0
      }
      if (failures >= MAX_REOPENED)
        throw new GatepassError(
          'unexpected_answer',
          'The stream ended without an event. Check that baseUrl is the URL of a Gatepass.',
        )
    } catch (error) {
      signal?.throwIfAborted()
      // the stream is opened again after a failure of the network or a transient error
      if ((error instanceof GatepassError && !isTransient(error)) || failures >= MAX_REOPENED) throw error
      if (error instanceof GatepassError) retryAfterMs = error.retryAfterMs ?? 0
    }
    shortStreams = Date.now() - begun >= HELD_MS ? 0 : shortStreams + 1
    await pause(Math.max(backoffMs(Math.max(failures, shortStreams - 1)), retryAfterMs), signal)
  }
}
