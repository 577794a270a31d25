import { createLocalJWKSet, type JSONWebKeySet } from 'jose'
import type { Broker } from '../../broker.ts'
import type { EpochSeconds } from '../../domain/clock.ts'
import { BrokerError } from '../../domain/errors.ts'
import { ProviderRefusal } from '../../providers/provider-refusal.ts'
import { readWellKnown } from '../../providers/well-known.ts'

/** The published keys of an issuer, read through the guarded client. */
export interface IssuerKeys {
  /** The cached keys, read again after ten minutes. Throws `provider_unavailable` while there are none. */
  current(): Promise<KeySet>
  /** Keys that are newer than `seen`, for a token of a key that is not among them; else `undefined`. */
  newerThan(seen: KeySet): Promise<KeySet | undefined>
}

export type KeySet = ReturnType<typeof createLocalJWKSet>

const KEPT_SECONDS = 600
/** The longest use of cached keys while the issuer does not answer, which limits the use of a key that it has withdrawn. */
const STALE_SECONDS = 3600
/** The pause between two requests, because anyone can send a token with an unknown key. */
const PAUSE_SECONDS = 30

export function createIssuerKeys(
  { outgoing, discover, now, log }: Pick<Broker, 'outgoing' | 'discover' | 'now' | 'log'>,
  issuer: string,
): IssuerKeys {
  let known: { readonly keys: KeySet; readonly readAt: EpochSeconds } | undefined
  let triedAt = Number.NEGATIVE_INFINITY
  let reading: Promise<void> | undefined

  async function read(): Promise<void> {
    triedAt = now()
    try {
      known = { keys: createLocalJWKSet(await readKeys()), readAt: now() }
    } catch (error) {
      log.warn({ issuer, reason: reasonOf(error) }, 'the keys of GATEPASS_MCP_ISSUER cannot be read')
    }
  }

  async function readKeys(): Promise<JSONWebKeySet> {
    const { jwks_uri: uri } = await discover(issuer)
    const found =
      uri === undefined ? undefined : await readWellKnown(outgoing, new URL(uri), { of: issuer, nothing: [] })
    if (!Array.isArray(found?.keys))
      throw new ProviderRefusal('provider_bad_response', `${issuer} publishes no keys (jwks_uri).`)
    return { keys: found.keys } // createLocalJWKSet checks each key
  }

  /** Reads the keys, unless the last attempt was within the pause. Concurrent callers share one request. */
  async function readOnce(): Promise<void> {
    if (reading === undefined && now() < triedAt + PAUSE_SECONDS) return
    reading ??= read().finally(() => {
      reading = undefined
    })
    await reading
  }

  return {
    async current() {
      if (known === undefined || now() >= known.readAt + KEPT_SECONDS) await readOnce()
      if (known === undefined || now() >= known.readAt + STALE_SECONDS)
        throw new BrokerError(
          'provider_unavailable',
          'Access tokens cannot be checked right now. Try again shortly.',
          {
            retryAfter: Math.max(1, triedAt + PAUSE_SECONDS - now()),
          },
        )
      return known.keys
    },
    async newerThan(seen) {
      await readOnce()
      return known?.keys === seen ? undefined : known?.keys
    },
  }
}

function reasonOf(error: unknown): string {
  return error instanceof ProviderRefusal ? error.message : error instanceof Error ? error.name : 'unknown'
}
