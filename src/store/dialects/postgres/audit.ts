import type pg from 'pg'
import type { AuditHead } from '../../../domain/audit.ts'
import type { EpochSeconds } from '../../../domain/clock.ts'
import type { AuditedRelease, AuditTrail } from '../../audit-trail.ts'
import type { StoreChange } from '../../changes.ts'
import { appendTo, lockHead } from './audit-chain.ts'
import { fromDriver } from './failures.ts'
import type { Transact } from './write.ts'

export function postgresAudit(
  transact: Transact,
  tell: (change: StoreChange) => void,
): Pick<AuditTrail, 'append' | 'release'> {
  return {
    async append(entries) {
      await transact(entries, async () => true)
    },

    async release(releases, at, link) {
      const stale = await transact(undefined, async (client) => {
        // every change of what a release is based on appends to the same chain: the chain's head puts them in an order
        const heads = new Map<string, AuditHead>()
        for (const projectId of [...new Set(releases.map((one) => one.projectId))].sort())
          heads.set(projectId, await lockHead(client, projectId))
        const found = await preconditionsOf(client, releases)
        const stale = releases.map((one) => staleChangeOf(one, found, at))
        for (const [projectId, head] of heads) {
          const lines = releases
            .filter((one, i) => one.projectId === projectId && stale[i] === undefined)
            .map(({ line }) => line)
          if (lines.length > 0) await appendTo(head, client, { projectId, at, lines, link })
        }
        return stale
      })
      for (const change of stale) if (change !== undefined) tell(change)
      return stale.map((change) => change === undefined)
    },
  }
}

/** The current rows that the releases are based on, by noun and id. */
type Preconditions = ReadonlyMap<string, { readonly version: number; readonly status: string }>

async function preconditionsOf(
  client: pg.ClientBase,
  releases: readonly AuditedRelease[],
): Promise<Preconditions> {
  const { rows } = await fromDriver(
    client.query<{ noun: string; id: string; version: string; status: string }>({
      name: 'preconditions_of_releases',
      text: `select 'connection' as noun, id, generation::bigint as version, status
          from connections where id = any($1::text[])
        union all
        select 'provider', uid, updated_at, status from providers where uid = any($2::text[])
        union all
        select 'api_key', id, coalesce(expires_at, 0), case when revoked_at is null then 'active' else 'revoked' end
          from api_keys where id = any($3::text[])
        union all
        select 'policies', id, policies_version, '' from projects where id = any($4::text[])`,
      values: [
        [...new Set(releases.map(({ connection }) => connection.id))],
        [...new Set(releases.map(({ entry }) => entry.uid))],
        [...new Set(releases.flatMap(({ apiKey }) => apiKey?.id ?? []))],
        [...new Set(releases.map(({ projectId }) => projectId))],
      ],
    }),
  )
  return new Map(
    rows.map(({ noun, id, version, status }) => [`${noun} ${id}`, { version: Number(version), status }]),
  )
}

/** The change that the release does not know of, or `undefined` when everything it is based on is current. */
function staleChangeOf(
  { connection, entry, apiKey, policies }: AuditedRelease,
  found: Preconditions,
  at: EpochSeconds,
): StoreChange | undefined {
  const { id, projectId, providerUid, userId } = connection
  const tokens = found.get(`connection ${id}`)
  if (tokens?.version !== connection.generation || tokens.status !== connection.status)
    return { noun: 'connection', id, owner: { projectId, providerUid, userId } }
  const provider = found.get(`provider ${entry.uid}`)
  if (provider?.version !== entry.updatedAt || provider.status !== entry.status) return { noun: 'provider' }
  if (apiKey !== undefined) {
    const key = found.get(`api_key ${apiKey.id}`)
    // a rotation may have set an end meanwhile
    const isOver = key !== undefined && key.version > 0 && key.version <= at
    if (key?.status !== 'active' || isOver) return { noun: 'api_key' }
  }
  if (found.get(`policies ${projectId}`)?.version !== policies.version) return { noun: 'policy' }
  return undefined
}
