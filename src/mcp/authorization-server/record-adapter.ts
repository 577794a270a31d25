import type { Adapter, AdapterPayload } from 'oidc-provider'
import type { Broker } from '../../broker.ts'
import { sha256 } from '../../domain/ids.ts'
import { mcpRecordPlace } from '../../store/sealed-columns.ts'

/** How long a registered client is kept before it gets an access token. */
export const UNAPPROVED_CLIENT_SECONDS = 24 * 3600
/**
 * How long a used refresh token may be used again: processes of one client may refresh with the same token
 * simultaneously, and a response may be lost. A use after this time means that the token was stolen.
 */
const REFRESH_GRACE_SECONDS = 60

/** Models with public ids. Other ids are secrets: codes, tokens, and cookies that bind interactions to browsers. */
const PUBLIC_IDS: ReadonlySet<string> = new Set(['Client', 'Grant'])

interface RecordDependencies extends Pick<Broker, 'store' | 'sealer' | 'now'> {
  /** Ends a grant, with its codes and refresh tokens. */
  readonly endGrant: (grantId: string) => Promise<void>
  /** The error for a code that another request is redeeming. */
  readonly alreadyUsed: () => Error
}

/** Keeps oidc-provider's records in `mcp_records`: payloads sealed, ids hashed where they are secrets. */
export function recordAdapter(
  { store, sealer, now, endGrant, alreadyUsed }: RecordDependencies,
  model: string,
): Adapter {
  const { mcpRecords } = store
  const keyOf = (id: string) => (PUBLIC_IDS.has(model) ? id : sha256(id))

  return {
    async upsert(id, payload, expiresIn) {
      // the login is kept in Gatepass' own cookie (flows/user-session.ts)
      if (model === 'Session') return
      const key = keyOf(id)
      const lifetime = expiresIn ?? (model === 'Client' ? UNAPPROVED_CLIENT_SECONDS : undefined)
      await mcpRecords.put({
        model,
        id: key,
        payload: sealer.seal(JSON.stringify(payload), mcpRecordPlace(model, key)),
        ...(payload.grantId !== undefined && { grantId: payload.grantId }),
        ...(lifetime !== undefined && { expiresAt: now() + lifetime }),
      })
    },

    async find(id) {
      if (model === 'Session') return undefined
      const record = await mcpRecords.find(model, keyOf(id), now())
      if (record === undefined) return undefined
      const opened = sealer.open(record.payload, mcpRecordPlace(model, record.id))
      const payload: AdapterPayload = JSON.parse(opened) // only this file seals the column
      const { consumedAt } = record
      const grace = model === 'RefreshToken' ? REFRESH_GRACE_SECONDS : 0
      if (consumedAt !== undefined && now() >= consumedAt + grace) payload.consumed = consumedAt
      return payload
    },

    async consume(id) {
      const isFirst = await mcpRecords.consume(model, keyOf(id), now())
      // a refresh token may be used again for a short time; a code is redeemed once, also when two requests race
      if (!isFirst && model === 'AuthorizationCode') throw alreadyUsed()
    },

    async destroy(id) {
      if (model === 'Grant') await endGrant(id)
      else await mcpRecords.delete(model, keyOf(id))
    },

    // oidc-provider also destroys the grant, and `endGrant` deletes all its records in one transaction
    async revokeByGrantId() {},
    async findByUid() {
      return undefined
    },
    async findByUserCode() {
      return undefined
    },
  }
}
