import type { EpochSeconds } from '../domain/clock.ts'
import type { AuditedRelease } from './audit-trail.ts'
import type { StoreChange } from './changes.ts'
import { connectionChange } from './connection-row.ts'

export type PreconditionNoun = Extract<StoreChange['noun'], 'connection' | 'provider' | 'api_key' | 'policy'>

/** Where the database keeps what a release is based on. Each noun has a version and a status, in SQL of both databases. */
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
} as const satisfies Record<PreconditionNoun, object>

/** A row of one of them. */
export interface Precondition {
  readonly version: number
  readonly status: string
}

/** Whether there is a row with this key in the database, and it matches. `basis` is what the release has read of it. */
export type IsCurrent = (
  noun: PreconditionNoun,
  key: string,
  basis: object,
  matches: (row: Precondition) => boolean,
) => boolean

/** The change that the release does not know of, or `undefined` when everything it is based on is current. */
export function staleChangeOf(
  { projectId, connection, entry, apiKey, policies }: AuditedRelease,
  at: EpochSeconds,
  isCurrent: IsCurrent,
): StoreChange | undefined {
  const isSame = ({ version, status }: Precondition) =>
    version === connection.generation && status === connection.status
  if (!isCurrent('connection', connection.id, connection, isSame)) return connectionChange(connection)
  const isUnchanged = ({ version, status }: Precondition) =>
    version === entry.updatedAt && status === entry.status
  if (!isCurrent('provider', entry.uid, entry, isUnchanged)) return { noun: 'provider' }
  // a rotation may have set an end meanwhile
  const isValid = ({ version: end, status }: Precondition) => status === 'active' && (end === 0 || end > at)
  if (apiKey !== undefined && !isCurrent('api_key', apiKey.id, apiKey, isValid)) return { noun: 'api_key' }
  const isInForce = ({ version }: Precondition) => version === policies.version
  return isCurrent('policy', projectId, policies, isInForce) ? undefined : { noun: 'policy' }
}
