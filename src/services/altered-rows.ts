import type { Log } from '../domain/log.ts'
import type { AlteredRow } from '../store/signed-rows.ts'
import type { Store } from '../store/store.ts'
import type { Metrics } from './metrics.ts'

/** Rows that were read and not believed. */
export interface AlteredRows {
  readonly found: (row: AlteredRow) => void
  readonly seen: ReadonlyMap<string, AlteredRow>
}

const MOST = 1_000

/** Counts them, and logs each once. */
export function watchRows({ log, metrics }: { readonly log: Log; readonly metrics: Metrics }): AlteredRows {
  const counter = metrics.counter(
    'gatepass_altered_rows_total',
    'Rows that were read and not believed, since something else than Gatepass has written them',
    ['table'],
  )
  const seen = new Map<string, AlteredRow>()
  return {
    seen,
    found(row) {
      const { table, id, projectId } = row
      counter.increment(table)
      const place = `${table} ${projectId} ${id}`
      if (seen.has(place) || seen.size >= MOST) return
      seen.set(place, row)
      log.error(
        { table, id, project: projectId },
        'a row was changed in the database by something else than Gatepass, and is not believed',
      )
    },
  }
}

/** Reads every row that gives power, and answers those that are not believed. */
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
    await store.workers.list(id)
    await store.policies.inForce(id).catch(() => undefined)
  }
  return [...altered.seen.values()]
}

/** `api_keys key_…`, for the operator. */
export function nameOfRow({ table, id }: AlteredRow): string {
  return `${table} ${id}`
}
