import type { Adapter, AdapterPayload } from 'oidc-provider'
import type { Broker } from '../../broker.ts'
import { sha256 } from '../../domain/ids.ts'
import { isApprovalValid } from '../../flows/mcp-clients.ts'
import { siteNetwork } from '../../http/endpoint/network.ts'
import { sealingContext } from '../../store/protected-tables.ts'
import { refreshTokens } from './refresh-tokens.ts'
import { servedRequest } from './served-request.ts'
import { waitingRequests } from './waiting-requests.ts'

/** How long a registered client is kept before it gets an access token. */
export const UNAPPROVED_CLIENT_SECONDS = 24 * 3600

/** Models with public ids. Other ids are secrets: codes and tokens. */
const PUBLIC_IDS: ReadonlySet<string> = new Set(['Client', 'Grant'])

interface RecordDependencies extends Pick<Broker, 'store' | 'sealer' | 'now' | 'settings'> {
  /** Ends a grant, with its codes and refresh tokens. */
  readonly endGrant: (grantId: string) => Promise<void>
  /** The error for a code that another request is redeeming. */
  readonly alreadyUsed: () => Error
  /** The error for an authorization request that is too long for a cookie. */
  readonly tooLong: () => Error
}

/**
 * Keeps oidc-provider's records: waiting authorization requests in the browser, logins in Gatepass' own session, all
 * others in `mcp_records`, with sealed payloads, and hashed ids where these are secrets.
 */
export function recordAdapter(dependencies: RecordDependencies, model: string): Adapter {
  switch (model) {
    case 'Session':
      // the login is kept in a session of Gatepass' own (flows/user-session.ts)
      return { ...without, async upsert() {}, async find() {}, async consume() {}, async destroy() {} }
    case 'Interaction': {
      const waiting = waitingRequests(dependencies, dependencies)
      return {
        ...without,
        upsert: async (uid, payload, seconds = 0) => waiting.put(uid, payload, seconds),
        find: async (uid) => waiting.find(uid),
        async consume() {},
        destroy: async (uid) => waiting.delete(uid),
      }
    }
    case 'RefreshToken': {
      const tokens = refreshTokens(dependencies)
      return {
        ...without,
        upsert: tokens.put,
        find: tokens.find,
        consume: tokens.use,
        destroy: tokens.delete,
      }
    }
    case 'ReplayDetection': {
      const assertions = rows(dependencies, model)
      return {
        ...without,
        ...assertions,
        // a stranger who registers a client can sign any number of assertions, so only those that gave tokens are kept
        async upsert(id, payload, seconds) {
          const request = servedRequest()
          if (request !== undefined)
            request.keepAssertion = () => assertions.upsert(id, payload, seconds).then(() => {})
        },
      }
    }
    default:
      return { ...without, ...rows(dependencies, model) }
  }
}

const without = {
  // oidc-provider also destroys the grant, and `endGrant` deletes all its records in one transaction
  async revokeByGrantId() {},
  async findByUid() {
    return undefined
  },
  async findByUserCode() {
    return undefined
  },
}

function rows(
  { store, sealer, now, settings, endGrant, alreadyUsed }: RecordDependencies,
  model: string,
): Pick<Adapter, 'upsert' | 'find' | 'consume' | 'destroy'> {
  const { mcpRecords } = store
  const isClient = model === 'Client'
  const keyOf = (id: string) => (PUBLIC_IDS.has(model) ? id : sha256(id))

  return {
    async upsert(id, payload, expiresIn) {
      const key = keyOf(id)
      const lifetime = expiresIn ?? (isClient ? UNAPPROVED_CLIENT_SECONDS : undefined)
      await mcpRecords.put({
        model,
        id: key,
        payload: sealer.seal(
          JSON.stringify(payload),
          sealingContext('mcpRecords', 'payload', { model, id: key }),
        ),
        grantId: payload.grantId,
        ...(lifetime !== undefined && { expiresAt: now() + lifetime }),
        ...(isClient && { network: siteNetwork(servedRequest()?.address ?? '') }),
      })
    },

    async find(id) {
      const record = await mcpRecords.find(model, keyOf(id), now())
      if (record === undefined) return undefined
      // the grant permits nothing without its approval, which the verifier of the settings must have made possible
      if (model === 'Grant' && !isApprovalValid({ settings }, await store.mcpConsents.findByGrant(id)))
        return undefined
      const opened = sealer.open(
        record.payload,
        sealingContext('mcpRecords', 'payload', { model, id: record.id }),
      )
      const payload: AdapterPayload = JSON.parse(opened) // only this file seals the column
      if (record.consumedAt !== undefined) payload.consumed = record.consumedAt
      return payload
    },

    async consume(id) {
      const isFirst = await mcpRecords.consume(model, keyOf(id), now())
      // a code is redeemed once, also when two requests race
      if (!isFirst && model === 'AuthorizationCode') throw alreadyUsed()
    },

    async destroy(id) {
      if (model === 'Grant') await endGrant(id)
      else await mcpRecords.delete(model, keyOf(id))
    },
  }
}
