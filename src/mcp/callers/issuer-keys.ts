import { createLocalJWKSet } from 'jose'
import type { Broker } from '../../broker.ts'
import { BrokerError } from '../../domain/errors.ts'
import { ProviderRefusal } from '../../providers/provider-refusal.ts'
import { readWellKnown } from '../../providers/well-known.ts'
import { createIssuerKeys, type IssuerKeys } from '../../sdk/mcp/issuer-keys.ts'

export type KeySet = ReturnType<typeof createLocalJWKSet>

const STALE_MS = 3_600_000
const RETRY_SECONDS = 30

/** The keys of an issuer, read through the guarded client. `current` throws `provider_unavailable` while there are none. */
export function keysOfIssuer(
  { outgoing, discover, now, log }: Pick<Broker, 'outgoing' | 'discover' | 'now' | 'log'>,
  issuer: string,
): IssuerKeys<KeySet> {
  let triedAt = 0
  const keys = createIssuerKeys({
    now: () => now() * 1000,
    retryMs: RETRY_SECONDS * 1000,
    staleMs: STALE_MS,
    async read() {
      triedAt = now()
      try {
        return await readKeys()
      } catch (error) {
        log.warn({ issuer, reason: reasonOf(error) }, 'the keys of GATEPASS_MCP_ISSUER cannot be read')
        throw error
      }
    },
  })

  async function readKeys(): Promise<KeySet> {
    const { jwks_uri: uri } = await discover(issuer)
    const found =
      uri === undefined ? undefined : await readWellKnown(outgoing, new URL(uri), { of: issuer, nothing: [] })
    if (!Array.isArray(found?.keys))
      throw new ProviderRefusal('provider_bad_response', `${issuer} publishes no keys (jwks_uri).`)
    return createLocalJWKSet({ keys: found.keys }) // checks each key
  }

  return {
    newerThan: keys.newerThan,
    current: () =>
      keys.current().catch((cause: unknown) => {
        throw new BrokerError(
          'provider_unavailable',
          'Access tokens cannot be checked right now. Try again shortly.',
          { cause, retryAfter: Math.max(1, triedAt + RETRY_SECONDS - now()) },
        )
      }),
  }
}

function reasonOf(error: unknown): string {
  return error instanceof ProviderRefusal ? error.message : error instanceof Error ? error.name : 'unknown'
}
