import { createChangeSignal } from '../../services/change-signal.ts'
import type { Store } from '../../store/store.ts'
import { createTimeBudget } from '../../tools/slices.ts'
import type { ToolLists, Viewer } from './tool-lists.ts'

/** Notifies open streams when the list of tools that their client sees has changed. */
export interface ListChanges {
  /** Calls `onChange` whenever the viewer's list has changed. Returns the function that ends the watch. */
  watch(viewer: Viewer, onChange: () => void): () => void
  close(): void
}

const POLL_MS = 500
/** Changes within this time, such as those of an import, are reported once. */
const SETTLE_MS = 100

export function watchLists(store: Store, lists: ToolLists): ListChanges {
  const watches = new Map<string, Watch>()
  const changes = createChangeSignal(store, {
    topicOf: ({ noun }) => (lists.nouns.has(noun) ? 'lists' : undefined),
    pollMs: POLL_MS,
  })
  let unsubscribe: (() => void) | undefined
  let settling: NodeJS.Timeout | undefined
  let isStale = false

  const stop = () => {
    unsubscribe?.()
    unsubscribe = undefined
  }

  /** A change that comes while the lists are checked is reported by another round of checks after it. */
  function checkSoon(): void {
    isStale = true
    settling ??= setTimeout(async () => {
      isStale = false
      await checkAll()
      settling = undefined
      if (isStale) checkSoon()
    }, SETTLE_MS)
  }

  /** One after another, since each user's list is tested tool by tool. */
  async function checkAll(): Promise<void> {
    const budget = createTimeBudget()
    for (const watch of watches.values()) {
      await watch.check()
      await budget.pause()
    }
  }

  /** The watch that all viewers of the same list share. */
  function watchOf(viewer: Viewer): Watch {
    const { principal, toolsetId } = viewer
    const key = JSON.stringify([principal.projectId, toolsetId, principal.userId])
    const known = watches.get(key)
    if (known !== undefined) return known
    const made = createWatch(
      async () => await (await lists.listFor(viewer)).digest(),
      () => watches.delete(key),
    )
    watches.set(key, made)
    return made
  }

  return {
    watch(viewer, onChange) {
      const watch = watchOf(viewer)
      watch.listeners.add(onChange)
      unsubscribe ??= changes.subscribe('lists', checkSoon)
      return () => {
        watch.listeners.delete(onChange)
        if (watch.listeners.size === 0) watch.end()
        if (watches.size === 0) stop()
      }
    },
    close() {
      stop()
      clearTimeout(settling)
      watches.clear()
    },
  }
}

interface Watch {
  readonly listeners: Set<() => void>
  check(): Promise<void>
  end(): void
}

/** `digest` may throw, for example for a deleted toolset. */
function createWatch(digest: () => Promise<string>, end: () => void): Watch {
  const listeners = new Set<() => void>()
  const read = () => digest().catch(() => '')
  let last = read()
  return {
    listeners,
    end,
    async check() {
      const before = last
      const now = read()
      last = now
      if ((await before) === (await now)) return
      for (const listener of listeners) listener()
    },
  }
}
