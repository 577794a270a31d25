import type { Broker } from '../../broker.ts'
import { OutgoingError } from '../../egress/outgoing.ts'
import { UnsealError } from '../../store/seal.ts'
import type { Webhook } from './domain.ts'
import { signedHeaders } from './sign.ts'

/** The time limit from the call to the end of the answer; shorter than the lease on the delivery. */
const ATTEMPT_MS = 15_000
/** How long the body of an answer may pause before the connection is closed. */
const IDLE_MS = 2_000
/** How much of a body is read, and dropped, so that the connection can be used again. */
const MAX_ANSWER_BYTES = 64 * 1024

/** The receiver's answer, or why there is none. */
export type Receipt =
  | { readonly status: number; readonly retryAfter?: string | undefined }
  | { readonly error: string }

/** Signs one event and sends it to a webhook. Follows no redirect, and keeps only the status and Retry-After of the answer. */
export async function sendEvent(
  broker: Broker,
  webhook: Webhook,
  { id, body }: { readonly id: string; readonly body: string },
): Promise<Receipt> {
  try {
    const answer = await broker.outgoing.stream({
      url: webhook.url,
      purpose: 'webhook',
      pool: 'webhooks', // slow receivers take no connections from providers and workers
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...signedHeaders(broker, webhook, { id, body, now: broker.now() }),
      },
      body,
      deadlineMs: ATTEMPT_MS,
      idleMs: IDLE_MS,
      maxBytes: MAX_ANSWER_BYTES,
      signal: AbortSignal.timeout(ATTEMPT_MS),
    })
    await read(answer.body)
    return { status: answer.status, retryAfter: answer.headers['retry-after'] }
  } catch (error) {
    if (error instanceof OutgoingError) return { error: error.kind }
    if (error instanceof UnsealError) return { error: 'secret_unreadable' }
    throw error
  }
}

/** Reads the answer to its end and drops it. The status counts even if the rest does not arrive. */
async function read(body: ReadableStream<Uint8Array>): Promise<void> {
  try {
    for await (const _ of body);
  } catch {
    // the body was too long, too slow or incomplete
  }
}
