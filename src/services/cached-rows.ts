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
export interface CachedRows<Row> {
  /** The rows in the order of their uids. It is the same array until a row changes. */
  of(projectId: string): readonly Row[] | Promise<readonly Row[]>
  /** `entries` counts rows, `bytes` the characters of their texts. */
  readonly figures: CacheFigures
}

export interface CachedRowsOptions<Row> {
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

interface Cached<Row> {
  rows: readonly Row[]
  characters: number
  /** The uids that have changed since the last reading began, or everything. */
  stale: Set<string> | 'all'
  reading: Promise<readonly Row[]> | undefined
  /** The reading that begins when the current one ends. */
  next: Promise<readonly Row[]> | undefined
}

export function createCachedRows<Row extends { readonly uid: string }>(
  store: Store,
  { noun, page, byUids, charactersOf, maxCharacters }: CachedRowsOptions<Row>,
): CachedRows<Row> {
  const projects = new LRUCache<string, Cached<Row>>({
    maxSize: maxCharacters,
    sizeCalculation: ({ characters }) => characters + 1,
    dispose(_value, _key, reason) {
      if (reason === 'evict') evictions++
    },
  })
  let [hits, misses, evictions] = [0, 0, 0]
  /** Projects that are being read: changes outdate them too, even if `projects` has dropped them meanwhile. */
  const beingRead = new Map<string, Cached<Row>>()
  let revision = store.catchUp()

  function outdateAll(): void {
    for (const cached of [...projects.values(), ...beingRead.values()]) cached.stale = 'all'
  }

  store.onChange((change: StoreChange) => {
    if (change.noun !== noun) return
    const { projectId, uids } = change
    if (projectId === undefined) return outdateAll()
    const cached = beingRead.get(projectId) ?? projects.peek(projectId)
    if (cached === undefined || cached.stale === 'all') return
    if (uids === undefined || cached.stale.size > MAX_CHANGED) cached.stale = 'all'
    else for (const uid of uids) cached.stale.add(uid)
  })

  async function read(projectId: string, cached: Cached<Row>): Promise<readonly Row[]> {
    beingRead.set(projectId, cached)
    const { stale } = cached
    cached.stale = new Set()
    try {
      if (stale === 'all') {
        cached.rows = await readAll(projectId)
        cached.characters = charactersOfAll(cached.rows)
      } else {
        const changed = await readChanged(projectId, stale)
        const { rows, replaced } = merged(cached.rows, stale, changed)
        cached.rows = rows
        cached.characters += charactersOfAll(changed) - charactersOfAll(replaced)
      }
      return cached.rows
    } catch (error) {
      cached.stale = 'all'
      throw error
    } finally {
      cached.reading = undefined
      beingRead.delete(projectId)
      projects.delete(projectId) // lru-cache does not measure the same object again
      projects.set(projectId, cached)
      if (!projects.has(projectId)) cached.stale = 'all' // this project alone exceeds `maxCharacters`
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

  function begin(projectId: string, cached: Cached<Row>): Promise<readonly Row[]> {
    cached.reading = read(projectId, cached)
    return cached.reading
  }

  return {
    of(projectId) {
      const current = catchUp(store)
      if (current !== revision) {
        revision = current
        outdateAll()
      }
      const cached = beingRead.get(projectId) ??
        projects.get(projectId) ?? {
          rows: [],
          characters: 0,
          stale: 'all',
          reading: undefined,
          next: undefined,
        }
      const { reading } = cached
      if (isCurrent(cached)) {
        hits++
        return reading ?? cached.rows
      }
      misses++
      if (reading === undefined) return begin(projectId, cached)
      // the current reading may have read a row before it changed, so another reading follows
      cached.next ??= reading
        .catch(() => {})
        .then(() => {
          cached.next = undefined
          return isCurrent(cached) ? (cached.reading ?? cached.rows) : begin(projectId, cached)
        })
      return cached.next
    },
    get figures() {
      const entries = [...projects.values()].reduce((sum, { rows }) => sum + rows.length, 0)
      return { entries, bytes: projects.calculatedSize, hits, misses, evictions }
    },
  }
}

function isCurrent({ stale }: Cached<unknown>): boolean {
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
