import type { Log } from '../domain/log.ts'
import type { Store } from '../store/store.ts'
import type { Metrics } from './metrics.ts'
import type { AlteredRow } from './signing.ts'

/** Rows whose MAC is wrong. Another program than Gatepass wrote them, so they are ignored. */
export interface AlteredRows {
  /** Called for each read of such a row. */
  readonly found: (row: AlteredRow) => void
  /** The first `MAX_LOGGED` different ones. */
  readonly seen: ReadonlyMap<string, AlteredRow>
}

const MAX_LOGGED = 1_000

/** Counts altered rows, and logs each of them once. */
export function watchRows({ log, metrics }: { readonly log: Log; readonly metrics: Metrics }): AlteredRows {
  const counter = metrics.counter(
    'gatepass_altered_rows_total',
    'Reads of rows with a wrong MAC: another program changed them, so they are ignored',
    ['table'],
  )
  const seen = new Map<string, AlteredRow>()
  return {
    seen,
    found(row) {
      const { table, id, projectId } = row
      counter.increment(table)
      const place = `${table} ${projectId} ${id}`
      if (seen.has(place) || seen.size >= MAX_LOGGED) return
      seen.set(place, row)
      log.error(
        { table, id, project: projectId },
        'a row was changed in the database by a program other than Gatepass, and is ignored',
      )
    },
  }
}

const NAMES_AT_ONCE = 500
const TOOLS_AT_ONCE = 200

/** Reads the rows that have a MAC, except connect sessions, which end soon. Returns those whose MAC is wrong. */
export async function findAlteredRows({
  store,
  altered,
}: {
  readonly store: Store
  readonly altered: AlteredRows
}): Promise<readonly AlteredRow[]> {
  for (const { id } of await store.projects.list()) {
    await store.apiKeys.list(id)
    await store.providers.list(id)
    await store.sharedConnections.list(id)
    for (const { uid } of await store.workers.list(id)) await store.pinnedTools.ofWorker(uid)
    for (const { readSigned } of store.parts) await readSigned?.(store, id)
    for (let after: string | undefined = ''; after !== undefined; )
      after = (await store.toolNames.page(id, after, NAMES_AT_ONCE)).next
    for (let after: string | undefined = ''; after !== undefined; )
      after = (await store.tools.page(id, after, TOOLS_AT_ONCE)).next
  }
  return [...altered.seen.values()]
}

/** The row's name in messages to the operator, such as `api_keys key_…`. */
export function nameOfRow({ table, id }: AlteredRow): string {
  return `${table} ${id}`
}
