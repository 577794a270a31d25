import { getTableColumns } from 'drizzle-orm'
import type { Broker } from '../src/broker.ts'
import { newId, sha256 } from '../src/domain/ids.ts'
import { sealGrant } from '../src/flows/seal-grant.ts'
import { describeTables } from '../src/store/schema.ts'
import { sqliteKit } from '../src/store/schema-kit.ts'

const { connections } = describeTables(sqliteKit)

import { accessSecrets, SCOPES } from './people.ts'

type Inserted = typeof connections.$inferInsert

/** The columns that are written, in the order of the values; the others have their defaults. */
const COLUMNS = [
  'id',
  'projectId',
  'providerUid',
  'userId',
  'accountId',
  'accountName',
  'scopes',
  'status',
  'tokenType',
  'receivedAt',
  'expiresAt',
  'access',
  'refresh',
  'providerIdentity',
  'isDefault',
  'generation',
  'createdAt',
  'consentedAt',
] as const satisfies readonly (keyof Inserted)[]

const written = COLUMNS.map((name) => getTableColumns(connections)[name])

export const INSERT_CONNECTION = `insert into connections (${written.map(({ name }) => name)})
  values (${written.map(() => '?')})`

/** Where a column's value is in a row. */
export const valueAt = (column: (typeof COLUMNS)[number]) => COLUMNS.indexOf(column)

export type ConnectionRow = readonly unknown[]

export interface RowsOf {
  readonly sealing: Pick<Broker, 'sealer' | 'now'>
  readonly entry: { readonly uid: string; readonly projectId: string; readonly identity: string }
}

/** Rows as a consent writes them, sealed as the product seals, for `INSERT_CONNECTION`. */
export function connectionRows({
  sealing,
  entry,
}: RowsOf): (userId: string, as?: 'expired') => ConnectionRow {
  const now = sealing.now()
  return (userId, as) => {
    const place = { id: newId('conn'), projectId: entry.projectId, userId, providerUid: entry.uid }
    const tokens = {
      ...accessSecrets(userId),
      refreshToken: `ghr_${userId.padEnd(196, 'y')}`,
      tokenType: 'bearer',
      scopes: SCOPES,
    }
    const row: Pick<Inserted, (typeof COLUMNS)[number]> = {
      ...place,
      ...sealGrant(sealing, { ...place, account: { id: sha256(userId), name: userId } }, tokens),
      accountId: sha256(userId),
      accountName: userId,
      status: 'active',
      receivedAt: as === 'expired' ? now - 7200 : now,
      expiresAt: as === 'expired' ? now - 3600 : now + 8 * 3600,
      providerIdentity: entry.identity,
      isDefault: true,
      generation: 1,
      createdAt: now,
      consentedAt: now,
    }
    return COLUMNS.map((name, i) => written[i]?.mapToDriverValue(row[name]))
  }
}
