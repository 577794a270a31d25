import { hash } from 'node:crypto'
import type { Broker } from '../../broker.ts'
import { type ApiKey, includesRole, isExpired, type Role } from '../../domain/api-key.ts'
import { BrokerError } from '../../domain/errors.ts'
import { createReadCache } from '../../services/read-cache.ts'
import { inContext } from '../../services/request-context.ts'
import { createClientAddress } from './client-address.ts'
import { createCountGuess } from './rate-limit.ts'
import { type Received, requestHeader } from './request-header.ts'

/**
 * Returns the caller's key if its role covers the role of the endpoint. Throws `invalid_authorization`,
 * `insufficient_role`, and `rate_limited` after too many unknown keys from one address.
 */
export type Authenticate = (
  c: Received,
  role: Role | 'public',
  /** A header that may carry the key in place of `Authorization`. */
  keyHeader?: Lowercase<string>,
) => ApiKey | Promise<ApiKey>

/** The most pairs of key and endpoint whose refusal is remembered as recorded. */
const MAX_RECORDED = 10_000

/**
 * `Authorization: Bearer <key>` (RFC 6750 section 2.1), or the bare key as Arcade's client sends it, or the
 * header that the operation names. Keys are looked up by their SHA-256, so no secret is compared byte by byte.
 */
export function createAuthenticate(broker: Broker): Authenticate {
  const keys = createReadCache<ApiKey>(broker.store, {
    max: 10_000,
    forgets: ({ noun }) => (noun === 'api_key' ? 'all' : undefined),
  })

  const clientAddress = createClientAddress(broker.settings)
  const countGuess = createCountGuess()

  function allow(c: Received, key: ApiKey, role: Role): ApiKey {
    if (isExpired(key, broker.now()))
      throw new BrokerError(
        'invalid_authorization',
        'This API key has expired. Make a new one with `gatepass keys create`.',
      )
    if (!includesRole(key.role, role)) {
      recordRefusal(`${c.req.method} ${c.req.routePath}`, key)
      throw new BrokerError(
        'insufficient_role',
        `This key has the role ${key.role}; this needs ${role}. Make one with \`gatepass keys create --role ${role}\`.`,
      )
    }
    broker.uses.used('apiKeys', key.id, broker.now())
    return key
  }

  const recorded = new Set<string>()

  /** Records the refusal once for each key and endpoint: a key that keeps trying must not fill the audit trail. */
  function recordRefusal(purpose: string, apiKey: ApiKey): void {
    const { id, projectId } = apiKey
    if (recorded.has(`${id} ${purpose}`)) return
    if (recorded.size >= MAX_RECORDED) recorded.clear()
    recorded.add(`${id} ${purpose}`)
    inContext({ actor: { kind: 'api_key', id }, apiKey, purpose }, () =>
      broker.audit.record(projectId, { action: 'access.refused', reason: 'insufficient_role' }),
    ).catch(() => recorded.delete(`${id} ${purpose}`)) // the next refusal is recorded instead
  }

  return (c, role, keyHeader) => {
    if (role === 'public') return NO_KEY
    const presented =
      (requestHeader(c, 'authorization') ?? (keyHeader && requestHeader(c, keyHeader)))
        ?.replace(/^bearer\s+/i, '')
        .trim() ?? ''
    if (presented === '')
      throw new BrokerError('invalid_authorization', 'Send your API key as `Authorization: Bearer <key>`.')
    const digest = hash('sha256', presented, 'base64url')
    const known = keys.get(digest, async () => {
      const key = await broker.store.apiKeys.findByHash(digest)
      if (key === undefined) {
        countGuess(clientAddress(c))
        throw new BrokerError('invalid_authorization', 'This API key is not known here, or was revoked.')
      }
      return key
    })
    return known instanceof Promise ? known.then((key) => allow(c, key, role)) : allow(c, known, role)
  }
}

/** A command of the operator that calls the API in its own process. It has the database and the master key, so it needs no key. */
export interface Operator {
  readonly projectId: string
  /** For the audit trail, such as `gatepass keys create`. */
  readonly command: string
}

/** Treats every request as an administrator's of the operator's project. It must not serve requests from a network. */
export function authenticateOperator({ projectId }: Operator): Authenticate {
  const key: ApiKey = { ...NO_KEY, projectId, role: 'admin' }
  return () => key
}

/** In place of a key, for requests to public endpoints. Their handlers do not read it. */
const NO_KEY: ApiKey = { id: '', projectId: '', name: '', role: 'readonly', hash: '', createdAt: 0 }
