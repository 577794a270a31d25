import type pg from 'pg'
import type { AuditHead } from '../../../domain/audit.ts'
import type { AuditedRelease, AuditTrail } from '../../audit-trail.ts'
import type { StoreChange } from '../../changes.ts'
import { bitsOfOwners } from '../../partitions.ts'
import { type IsCurrent, PRECONDITIONS, type PreconditionNoun, staleChangeOf } from '../../preconditions.ts'
import { appendTo, lockHead } from './audit-chain.ts'
import { fromDriver } from './failures.ts'
import type { Transact } from './write.ts'

export function postgresAudit(
  transact: Transact,
  notify: (change: StoreChange) => void,
  { isPartitioned }: { readonly isPartitioned: boolean },
): Pick<AuditTrail, 'append' | 'release'> {
  return {
    async append(entries) {
      await transact(entries, async () => ({ done: true, hasWritten: false }))
    },

    async release(releases, at, link) {
      const stale = await transact(undefined, async (client) => {
        // each write that could invalidate a release appends to the same chain, so it comes before this lock or after it
        const heads = new Map<string, AuditHead>()
        for (const projectId of [...new Set(releases.map((release) => release.projectId))].sort())
          heads.set(projectId, await lockHead(client, projectId))
        const isCurrent = await comparisonOf(client, releases, isPartitioned)
        const stale = releases.map((release) => staleChangeOf(release, at, isCurrent))
        for (const [projectId, head] of heads) {
          const lines = releases
            .filter((release, i) => release.projectId === projectId && stale[i] === undefined)
            .map(({ line }) => line)
          if (lines.length > 0) await appendTo(head, client, { projectId, at, lines, link })
        }
        return { done: stale, hasWritten: stale.includes(undefined) }
      })
      for (const change of stale) if (change !== undefined) notify(change)
      return stale.map((change) => change === undefined)
    },
  }
}

/** Reads the current rows that the releases are based on, and returns the comparison with them. */
async function comparisonOf(
  client: pg.ClientBase,
  releases: readonly AuditedRelease[],
  isPartitioned: boolean,
): Promise<IsCurrent> {
  const { rows } = await fromDriver(
    client.query<{ noun: PreconditionNoun; id: string; version: string; status: string }>({
      name: 'preconditions_of_releases',
      text: isPartitioned ? SELECT_IN_PARTITIONS : SELECT_PRECONDITIONS,
      values: [
        [...new Set(releases.map(({ connection }) => connection.id))],
        [...new Set(releases.map(({ entry }) => entry.uid))],
        [...new Set(releases.flatMap(({ apiKey }) => apiKey?.id ?? []))],
        [...new Set(releases.map(({ projectId }) => projectId))],
        [...new Set(releases.flatMap(({ shared }) => shared?.id ?? []))],
        ...(isPartitioned ? [bitsOfOwners(releases.map(({ connection }) => connection)).ownersBits] : []),
      ],
    }),
  )
  const found = new Map(
    rows.map(({ noun, id, version, status }) => [`${noun} ${id}`, { version: Number(version), status }]),
  )
  return (noun, key, _basis, matches) => {
    const row = found.get(`${noun} ${key}`)
    return row !== undefined && matches(row)
  }
}

/** One statement for all nouns, with an array of keys for each. */
const SELECT_PRECONDITIONS = Object.entries(PRECONDITIONS)
  .map(
    ([noun, { table, key, version, status }], i) =>
      `select '${noun}' as noun, ${key} as id, (${version})::bigint as version, ${status} as status
        from ${table} where ${key} = any($${i + 1}::text[])`,
  )
  .join(' union all ')

/** For a database with partitions: connections are read from the partitions of their owners only. */
const SELECT_IN_PARTITIONS = SELECT_PRECONDITIONS.replace(
  / from connections where /,
  ' from connections where owner_bits = any($6::text[]) and ',
)
