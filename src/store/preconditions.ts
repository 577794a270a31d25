import type { EpochSeconds } from '../domain/clock.ts'
import type { AuditedRelease, Precondition } from './audit-trail.ts'
import type { StoreChange } from './changes.ts'
import { connectionChange } from './connection-row.ts'

export type PreconditionNoun = Extract<
  StoreChange['noun'],
  'connection' | 'provider' | 'api_key' | 'policy' | 'shared_connection'
>

/** The rows on which the release of a token is based, with the SQL of the version and the status that are compared. */
export const PRECONDITIONS = {
  connection: { table: 'connections', key: 'id', version: 'generation', status: 'status' },
  provider: { table: 'providers', key: 'uid', version: 'updated_at', status: 'status' },
  api_key: {
    table: 'api_keys',
    key: 'id',
    version: 'coalesce(expires_at, 0)',
    status: "case when revoked_at is null then 'active' else 'revoked' end",
  },
  policy: { table: 'projects', key: 'id', version: 'policies_version', status: "''" },
  // the MAC covers with whom it is shared
  shared_connection: {
    table: 'shared_connections',
    key: 'id',
    version: 'updated_at',
    status: "coalesce(mac, '')",
  },
} as const satisfies Record<PreconditionNoun, object>

/** Whether the database has a matching row with this key. `basis` is the object that the release read from the row. */
export type IsCurrent = (
  noun: PreconditionNoun,
  key: string,
  basis: object,
  matches: (row: Precondition) => boolean,
) => boolean

/** The change that the release has missed, or `undefined` when all rows that it is based on are current. */
export function staleChangeOf(
  { projectId, connection, entry, apiKey, rules, shared }: AuditedRelease,
  at: EpochSeconds,
  isCurrent: IsCurrent,
): StoreChange | undefined {
  const isSame = ({ version, status }: Precondition) =>
    version === connection.generation && status === connection.status
  if (!isCurrent('connection', connection.id, connection, isSame)) return connectionChange(connection)
  const isUnchanged = ({ version, status }: Precondition) =>
    version === entry.updatedAt && status === entry.status
  if (!isCurrent('provider', entry.uid, entry, isUnchanged)) return { noun: 'provider' }
  // a rotation of the key may have set an expiry meanwhile
  const isValid = ({ version: end, status }: Precondition) => status === 'active' && (end === 0 || end > at)
  if (apiKey !== undefined && !isCurrent('api_key', apiKey.id, apiKey, isValid)) return { noun: 'api_key' }
  const isSharedSo = ({ version, status }: Precondition) =>
    version === shared?.updatedAt && status === (shared.mac ?? '')
  if (shared !== undefined && !isCurrent('shared_connection', shared.id, shared, isSharedSo))
    return { noun: 'shared_connection' }
  const isInForce = rules.every((basis) =>
    isCurrent('policy', projectId, basis, ({ version }) => version === basis.version),
  )
  return isInForce ? undefined : { noun: 'policy' }
}
