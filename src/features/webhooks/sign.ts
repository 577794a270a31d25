import { createHmac, randomBytes } from 'node:crypto'
import type { Broker } from '../../broker.ts'
import type { EpochSeconds } from '../../domain/clock.ts'
import type { Webhook } from './domain.ts'
import { webhookContext } from './store.ts'

const PREFIX = 'whsec_'
const SECRET_BYTES = 32

/** A new secret in the form of the Standard Webhooks specification. */
export function newSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString('base64')
}

/**
 * The headers by which a receiver verifies a request (Standard Webhooks 1.0). For a while after a rotation, they have a
 * signature by each of the two secrets. Throws `UnsealError`, `UnknownKeyError`.
 */
export function signedHeaders(
  { sealer }: Pick<Broker, 'sealer'>,
  webhook: Pick<Webhook, 'id' | 'projectId' | 'secret' | 'previousSecret' | 'previousUntil'>,
  { id, body, now }: { readonly id: string; readonly body: string; readonly now: EpochSeconds },
): Readonly<Record<string, string>> {
  const { secret, previousSecret, previousUntil = 0 } = webhook
  const open = (sealed: typeof secret, column: 'secret' | 'previous_secret') =>
    sealer.open(sealed, webhookContext('webhooks', column, webhook))
  const secrets = [open(secret, 'secret')]
  if (previousSecret !== undefined && now < previousUntil)
    secrets.push(open(previousSecret, 'previous_secret'))
  const signed = `${id}.${now}.${body}`
  return {
    'webhook-id': id,
    'webhook-timestamp': String(now),
    'webhook-signature': secrets.map((key) => `v1,${signature(key, signed)}`).join(' '),
  }
}

function signature(secret: string, signed: string): string {
  const key = Buffer.from(secret.slice(PREFIX.length), 'base64')
  return createHmac('sha256', key).update(signed).digest('base64')
}
