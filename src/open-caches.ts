import type { Broker, BrokerSettings } from './broker.ts'
import { ownerKey } from './flows/cached-connections.ts'
import { createCachedRows } from './services/cached-rows.ts'
import { createReadCache } from './services/read-cache.ts'
import { bytesOfConnections } from './services/release.ts'
import type { Store } from './store/store.ts'
import { charactersOf } from './store/stored-tool.ts'

/** Cached tools, with one entry for each spelling of a name; most take a few kB. */
const MAX_HELD_TOOLS = 2_000
/** The tools of all projects that are kept whole for lists: 10,000 tools of 3 kB each are 30 MB. */
const MAX_CATALOGUE_CHARACTERS = 256 * 1024 * 1024
/** The provider entries of all projects that are kept; one is about 4 kB. */
const MAX_ENTRY_CHARACTERS = 128 * 1024 * 1024
const ENTRY_CHARACTERS = 4_000
/** Projects whose keys of secrets are cached. */
const MAX_HELD_PROJECTS = 100

/** Makes the caches of a broker, and says which changes each of them forgets. */
export function openCaches(
  store: Store,
  { cacheBytes }: Pick<BrokerSettings, 'cacheBytes'>,
): Broker['cache'] {
  return {
    connections: createReadCache(store, {
      max: cacheBytes,
      bytesOf: bytesOfConnections,
      replacesFrom: 'second read',
      forgets: (change) =>
        change.noun === 'connection'
          ? ownerKey(change.owner)
          : change.noun === 'provider'
            ? 'all'
            : undefined,
    }),
    providers: createCachedRows(store, {
      noun: 'provider',
      page: store.providers.page,
      byUids: store.providers.byUids,
      charactersOf: () => ENTRY_CHARACTERS,
      maxCharacters: MAX_ENTRY_CHARACTERS,
    }),
    sharedConnections: createReadCache(store, {
      max: MAX_HELD_PROJECTS,
      forgets: ({ noun }) => (noun === 'shared_connection' || noun === 'provider' ? 'all' : undefined),
    }),
    catalogue: createCachedRows(store, {
      noun: 'tool',
      page: store.tools.page,
      byUids: store.tools.byUids,
      charactersOf,
      maxCharacters: MAX_CATALOGUE_CHARACTERS,
    }),
    tools: createReadCache(store, {
      max: MAX_HELD_TOOLS,
      forgets: ({ noun }) => (noun === 'tool' ? 'all' : undefined),
    }),
    workers: createReadCache(store, {
      max: 1_000,
      forgets: (change) => (change.noun === 'worker' ? 'all' : undefined),
    }),
    secretKeys: createReadCache(store, {
      max: MAX_HELD_PROJECTS,
      forgets: ({ noun }) => (noun === 'secret' ? 'all' : undefined),
    }),
  }
}
