import type { ApiKey } from '../domain/api-key.ts'
import { CORE } from '../store/protected-tables.ts'
import type { Signing } from '../store/signed-rows.ts'
import type { Store } from '../store/store.ts'
import { signedTools } from './signed-tools.ts'

/**
 * Wraps the store so that rows which grant access carry a MAC that is verified on every read: API keys, the targets of
 * provider entries and workers, the accepted needs of workers, tools and the owners of their names, and what features
 * sign. An altered row counts as absent; a name whose row was altered belongs to no source until an administrator accepts
 * it again.
 *
 * The MACs do not cover envelopes, which are bound to their rows anyway. They do not detect that a row was deleted, or
 * replaced by an older version of itself.
 */
export function signedStore(store: Store, signing: Signing): Store {
  const { apiKeys, providers, sharedConnections, workers } = store
  const key = signing(CORE.apiKeys.signed)
  // a revoked key grants nothing, and its MAC was deleted
  const keyOrRevoked = (row: ApiKey | undefined) => (row?.revokedAt !== undefined ? row : key.check(row))
  const keysOrRevoked = (rows: readonly ApiKey[]) => rows.filter((row) => keyOrRevoked(row) !== undefined)
  const entry = signing(CORE.providers.signed)
  const shared = signing(CORE.sharedConnections.signed)
  const worker = signing(CORE.workers.signed)
  const toolName = signing(CORE.toolNames.signed)

  return {
    ...store,
    ...signedTools(store, signing),
    ...Object.assign({}, ...store.parts.map(({ signed }) => signed?.(store, signing))),
    apiKeys: {
      ...apiKeys,
      add: (row, ...rest) => apiKeys.add(key.sign(row), ...rest),
      findByHash: async (hash) => key.check(await apiKeys.findByHash(hash)),
      find: async (projectId, id) => keyOrRevoked(await apiKeys.find(projectId, id)),
      list: async (projectId) => keysOrRevoked(await apiKeys.list(projectId)),
      async page(...asked) {
        const page = await apiKeys.page(...asked)
        const items = keysOrRevoked(page.items)
        return { ...page, items, total: page.total - (page.items.length - items.length) }
      },
      async browse(...asked) {
        const page = await apiKeys.browse(...asked)
        return { ...page, rows: keysOrRevoked(page.rows) }
      },
      async rotate(old, expiresAt, successor, audit) {
        const known = await apiKeys.find(old.projectId, old.id)
        if (known === undefined || key.check(known) === undefined) return false
        const mac = key.macs.mac({ ...known, expiresAt })
        return apiKeys.rotate({ ...old, mac }, expiresAt, key.sign(successor), audit)
      },
    },
    providers: {
      ...providers,
      add: (row, ...rest) => providers.add(entry.sign(row), ...rest),
      change: async (from, to, ...rest) => entry.check(await providers.change(from, entry.sign(to), ...rest)),
      findByUid: async (uid) => entry.check(await providers.findByUid(uid)),
      findById: async (projectId, id) => entry.check(await providers.findById(projectId, id)),
      list: async (projectId) => entry.checkAll(await providers.list(projectId)),
      async page(...args) {
        const { rows, ...rest } = await providers.page(...args)
        return { ...rest, rows: entry.checkAll(rows) }
      },
      byUids: async (...args) => entry.checkAll(await providers.byUids(...args)),
    },
    sharedConnections: {
      ...sharedConnections,
      add: async (row, ...rest) => shared.check(await sharedConnections.add(shared.sign(row), ...rest)),
      change: async (from, to, ...rest) =>
        shared.check(await sharedConnections.change(from, shared.sign(to), ...rest)),
      find: async (projectId, id) => shared.check(await sharedConnections.find(projectId, id)),
      list: async (projectId) => shared.checkAll(await sharedConnections.list(projectId)),
    },
    workers: {
      ...workers,
      add: (row, ...rest) => workers.add(worker.sign(row), ...rest),
      change: async (from, to, ...rest) => worker.check(await workers.change(from, worker.sign(to), ...rest)),
      settleSync: async (reading) => worker.check(await workers.settleSync(reading)),
      accept: (from, { names = [], ...to }, ...rest) =>
        workers.accept(
          from,
          { ...to, acceptedMac: worker.macs.acceptedMac(to), names: names.map(toolName.sign) },
          ...rest,
        ),
      findByUid: async (uid) => worker.check(await workers.findByUid(uid)),
      find: async (projectId, id) => worker.check(await workers.find(projectId, id)),
      list: async (projectId) => worker.checkAll(await workers.list(projectId)),
      all: async () => worker.checkAll(await workers.all()),
    },
  }
}
