import { setImmediate as nextTurn } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import type { RowChange, StoreChange } from '../store/changes.ts'
import type { RowPage } from '../store/row-page.ts'
import type { Store } from '../store/store.ts'
import { type CacheFigures, catchUp } from './read-cache.ts'

/**
 * All rows of a project, kept in memory. Rows that this process has changed are read again at the next use; rows that
 * another process has changed, with the delay of a `ReadCache`. The first reading goes in pages of a few milliseconds,
 * so that other requests are served in between.
 */
export interface KeptRows<Row> {
  /** The rows in the order of their uids. It is the same array until a row changes. */
  of(projectId: string): readonly Row[] | Promise<readonly Row[]>
  /** `entries` counts rows, `bytes` the characters of their texts. */
  readonly figures: CacheFigures
}

export interface KeptRowsOptions<Row> {
  readonly noun: RowChange['noun']
  readonly page: (projectId: string, after: string, limit: number) => Promise<RowPage<Row>>
  readonly byUids: (projectId: string, uids: readonly string[]) => Promise<readonly Row[]>
  readonly charactersOf: (row: Row) => number
  /** The limit for all projects together. Beyond it the least recently used projects are dropped. */
  readonly maxCharacters: number
}

/** How long one page may take on the event loop; the next page is larger or smaller accordingly. */
const PAGE_MS = 3
const FIRST_PAGE = 20
const MAX_PAGE = 500
/** Up to this many changed rows are read one slice at a time; if more have changed, all rows are read again. */
const MAX_CHANGED = 2_000
const CHANGED_AT_ONCE = 25

interface Kept<Row> {
  rows: readonly Row[]
  characters: number
  /** The uids that have changed since the last reading began, or everything. */
  stale: Set<string> | 'all'
  reading: Promise<readonly Row[]> | undefined
  /** The reading that begins when the current one ends. */
  next: Promise<readonly Row[]> | undefined
}

export function createKeptRows<Row extends { readonly uid: string }>(
  store: Store,
  { noun, page, byUids, charactersOf, maxCharacters }: KeptRowsOptions<Row>,
): KeptRows<Row> {
  const projects = new LRUCache<string, Kept<Row>>({
    maxSize: maxCharacters,
    sizeCalculation: ({ characters }) => characters + 1,
    dispose(_value, _key, reason) {
      if (reason === 'evict') evictions++
    },
  })
  let [hits, misses, evictions] = [0, 0, 0]
  /** Projects that are being read: changes outdate them too, even if `projects` has dropped them meanwhile. */
  const beingRead = new Map<string, Kept<Row>>()
  let revision = store.catchUp()

  function outdateAll(): void {
    for (const kept of [...projects.values(), ...beingRead.values()]) kept.stale = 'all'
  }

  store.onChange((change: StoreChange) => {
    if (change.noun !== noun) return
    const { projectId, uids } = change
    if (projectId === undefined) return outdateAll()
    const kept = beingRead.get(projectId) ?? projects.peek(projectId)
    if (kept === undefined || kept.stale === 'all') return
    if (uids === undefined || kept.stale.size > MAX_CHANGED) kept.stale = 'all'
    else for (const uid of uids) kept.stale.add(uid)
  })

  async function read(projectId: string, kept: Kept<Row>): Promise<readonly Row[]> {
    beingRead.set(projectId, kept)
    const { stale } = kept
    kept.stale = new Set()
    try {
      if (stale === 'all') {
        kept.rows = await readAll(projectId)
        kept.characters = charactersOfAll(kept.rows)
      } else {
        const changed = await readChanged(projectId, stale)
        const { rows, replaced } = merged(kept.rows, stale, changed)
        kept.rows = rows
        kept.characters += charactersOfAll(changed) - charactersOfAll(replaced)
      }
      return kept.rows
    } catch (error) {
      kept.stale = 'all'
      throw error
    } finally {
      kept.reading = undefined
      beingRead.delete(projectId)
      projects.delete(projectId) // lru-cache does not measure the same object again
      projects.set(projectId, kept)
      if (!projects.has(projectId)) kept.stale = 'all' // this project alone exceeds `maxCharacters`
    }
  }

  async function readAll(projectId: string): Promise<readonly Row[]> {
    const rows: Row[] = []
    let limit = FIRST_PAGE
    for (let after: string | undefined = ''; after !== undefined; ) {
      const begun = performance.now()
      const { rows: more, next }: RowPage<Row> = await page(projectId, after, limit)
      rows.push(...more)
      after = next
      if (after === undefined) break
      limit = nextLimit(limit, performance.now() - begun)
      await nextTurn()
    }
    return rows
  }

  async function readChanged(projectId: string, stale: ReadonlySet<string>): Promise<readonly Row[]> {
    const changed: Row[] = []
    const uids = [...stale]
    for (let i = 0; i < uids.length; i += CHANGED_AT_ONCE) {
      if (i > 0) await nextTurn()
      changed.push(...(await byUids(projectId, uids.slice(i, i + CHANGED_AT_ONCE))))
    }
    return changed
  }

  function charactersOfAll(rows: readonly Row[]): number {
    return rows.reduce((sum, row) => sum + charactersOf(row), 0)
  }

  function begin(projectId: string, kept: Kept<Row>): Promise<readonly Row[]> {
    kept.reading = read(projectId, kept)
    return kept.reading
  }

  return {
    of(projectId) {
      const current = catchUp(store)
      if (current !== revision) {
        revision = current
        outdateAll()
      }
      const kept = beingRead.get(projectId) ??
        projects.get(projectId) ?? {
          rows: [],
          characters: 0,
          stale: 'all',
          reading: undefined,
          next: undefined,
        }
      const { reading } = kept
      if (isCurrent(kept)) {
        hits++
        return reading ?? kept.rows
      }
      misses++
      if (reading === undefined) return begin(projectId, kept)
      // the current reading may have read a row before it changed, so another reading follows
      kept.next ??= reading
        .catch(() => {})
        .then(() => {
          kept.next = undefined
          return isCurrent(kept) ? (kept.reading ?? kept.rows) : begin(projectId, kept)
        })
      return kept.next
    },
    get figures() {
      const entries = [...projects.values()].reduce((sum, { rows }) => sum + rows.length, 0)
      return { entries, bytes: projects.calculatedSize, hits, misses, evictions }
    },
  }
}

function isCurrent({ stale }: Kept<unknown>): boolean {
  return stale !== 'all' && stale.size === 0
}

function nextLimit(limit: number, tookMs: number): number {
  if (tookMs > PAGE_MS) return Math.max(1, limit >> 1)
  return tookMs < PAGE_MS / 2 ? Math.min(MAX_PAGE, limit * 2) : limit
}

/** Replaces the stale rows by `changed`, in the order of the uids. `replaced`: the stale rows that were removed. */
function merged<Row extends { readonly uid: string }>(
  rows: readonly Row[],
  stale: ReadonlySet<string>,
  changed: readonly Row[],
): { readonly rows: readonly Row[]; readonly replaced: readonly Row[] } {
  const order = (a: Row, b: Row) => (a.uid < b.uid ? -1 : 1)
  const sorted = changed.toSorted(order)
  const result: Row[] = []
  const replaced: Row[] = []
  let next = 0
  for (const row of rows) {
    for (let waiting = sorted[next]; waiting !== undefined && waiting.uid < row.uid; waiting = sorted[next]) {
      result.push(waiting)
      next++
    }
    ;(stale.has(row.uid) ? replaced : result).push(row)
  }
  return { rows: [...result, ...sorted.slice(next)], replaced }
}
