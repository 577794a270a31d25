import type pg from 'pg'
import type { AuditHead } from '../../../domain/audit.ts'
import type { AuditedRelease, AuditTrail } from '../../audit-trail.ts'
import type { StoreChange } from '../../changes.ts'
import { bitsOfOwners } from '../../partitions.ts'
import { type IsCurrent, PRECONDITIONS, type PreconditionNoun, staleChangeOf } from '../../preconditions.ts'
import { appendTo, lockHead } from './audit-chain.ts'
import { SERVER } from './change-table.ts'
import { earliestOf, unchangedRow } from './confirmations.ts'
import { fromDriver } from './failures.ts'
import type { Transact } from './write.ts'

interface AuditForm {
  readonly isPartitioned: boolean
  /** Present where connections are on workers (`confirmations.ts`). */
  readonly confirm?: AuditTrail['confirm'] | undefined
}

export function postgresAudit(
  transact: Transact,
  notify: (change: StoreChange) => void,
  { isPartitioned, confirm }: AuditForm,
): Pick<AuditTrail, 'append' | 'release' | 'confirm'> {
  const readCurrent = confirm === undefined ? comparisonOf(isPartitioned) : comparisonWithConfirmed
  return {
    ...(confirm && { confirm }),
    async append(entries) {
      await transact(entries, async () => ({ done: true, hasWritten: false }))
    },

    async release(releases, at, link) {
      const stale = await transact(undefined, async (client) => {
        // each write that could invalidate a release appends to the same chain, so it comes before this lock or after it
        const heads = new Map<string, AuditHead>()
        for (const projectId of [...new Set(releases.map((release) => release.projectId))].sort())
          heads.set(projectId, await lockHead(client, projectId))
        const isCurrentFor = await readCurrent(client, releases)
        const stale = releases.map((release) => staleChangeOf(release, at, isCurrentFor(release)))
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

/** Reads the current rows that the releases are based on, and returns the comparison with them for each release. */
type ReadCurrent = (
  client: pg.ClientBase,
  releases: readonly AuditedRelease[],
) => Promise<(release: AuditedRelease) => IsCurrent>

function comparisonOf(isPartitioned: boolean): ReadCurrent {
  return async (client, releases) => {
    const { rows } = await fromDriver(
      client.query<Row>({
        name: 'preconditions_of_releases',
        text: isPartitioned ? SELECT_IN_PARTITIONS : SELECT_PRECONDITIONS,
        values: [
          [...new Set(releases.map(({ connection }) => connection.id))],
          ...keysOf(releases),
          ...(isPartitioned ? [bitsOfOwners(releases.map(({ connection }) => connection)).ownersBits] : []),
        ],
      }),
    )
    const isCurrent = comparisonWith(rows)
    return () => isCurrent
  }
}

/** Connections were read before: it is enough that no change of them was announced since. */
const comparisonWithConfirmed: ReadCurrent = async (client, releases) => {
  const { end, open } = earliestOf(releases)
  const { rows } = await fromDriver(
    client.query<Row>({
      name: 'preconditions_beside_connections',
      text: SELECT_BESIDE_CONNECTIONS,
      values: [...keysOf(releases), end, open],
    }),
  )
  const later = rows
    .filter(({ noun }) => noun === LATER)
    .map(({ version, status }) => ({
      xid: Number(version),
      changes: status === '' ? undefined : (JSON.parse(status) as StoreChange[]), // `Announcements.append` wrote it
    }))
  const server = rows.find(({ noun }) => noun === SERVER_NAME)?.status ?? ''
  const isCurrent = comparisonWith(rows)
  return (release) => (noun, key, basis, matches) => {
    if (noun !== 'connection') return isCurrent(noun, key, basis, matches)
    const row = unchangedRow(release, { server, later })
    return row !== undefined && matches(row)
  }
}

interface Row {
  readonly noun: PreconditionNoun | typeof LATER | typeof SERVER_NAME
  readonly id: string
  readonly version: string
  readonly status: string
}

function comparisonWith(rows: readonly Row[]): IsCurrent {
  const found = new Map(
    rows.map(({ noun, id, version, status }) => [`${noun} ${id}`, { version: Number(version), status }]),
  )
  return (noun, key, _basis, matches) => {
    const row = found.get(`${noun} ${key}`)
    return row !== undefined && matches(row)
  }
}

/** The keys of the rows beside connections, in the order of `PRECONDITIONS`. */
function keysOf(releases: readonly AuditedRelease[]): readonly (readonly string[])[] {
  return [
    [...new Set(releases.map(({ entry }) => entry.uid))],
    [...new Set(releases.flatMap(({ apiKey }) => apiKey?.id ?? []))],
    [...new Set(releases.map(({ projectId }) => projectId))],
    [...new Set(releases.flatMap(({ shared }) => shared?.id ?? []))],
  ]
}

const NOUNS = Object.keys(PRECONDITIONS) as PreconditionNoun[] // its keys

/** One statement for these nouns, with an array of keys for each. */
function selectOf(nouns: readonly PreconditionNoun[]): string {
  return nouns
    .map((noun, i) => {
      const { table, key, version, status } = PRECONDITIONS[noun]
      return `select '${noun}' as noun, ${key} as id, (${version})::bigint as version, ${status} as status
        from ${table} where ${key} = any($${i + 1}::text[])`
    })
    .join(' union all ')
}

const SELECT_PRECONDITIONS = selectOf(NOUNS)

/** For a database with partitions: connections are read from the partitions of their owners only. */
const SELECT_IN_PARTITIONS = SELECT_PRECONDITIONS.replace(
  / from connections where /,
  ' from connections where owner_bits = any($6::text[]) and ',
)

/** The rows of changes that the reads of connections may not have seen. */
const LATER = 'later'
const SERVER_NAME = 'server'
const SELECT_BESIDE_CONNECTIONS = `${selectOf(NOUNS.filter((noun) => noun !== 'connection'))}
  union all select '${LATER}', '', coalesce(pruned_below, xid), coalesce(body, '') from changes
    where xid >= $5::bigint or xid = any($6::bigint[])
  union all select '${SERVER_NAME}', '', 0, ${SERVER}`
