import type { ApiKey } from '../domain/api-key.ts'
import type { ProvedDomain } from '../domain/branding.ts'
import type { ConnectSession } from '../domain/connect-session.ts'
import { BrokerError } from '../domain/errors.ts'
import type { Policy } from '../domain/policy.ts'
import type { ToolName } from '../domain/tool-name.ts'
import type { Worker } from '../domain/worker.ts'
import type { ProviderEntry } from '../providers/provider-entry.ts'
import type { Store } from '../store/store.ts'
import { type AlteredRow, all, genuineRows, isSame } from './genuine-rows.ts'
import type { RowSigner } from './row-signer.ts'
import { signedTools } from './signed-tools.ts'
import { createSigning } from './signing.ts'

/**
 * Wraps the store so that rows which grant access carry a MAC that is verified on every read: API keys, the targets of
 * provider entries and workers, the accepted needs of workers, tools and the owners of their names, toolsets, policies,
 * the URLs of webhooks, connect sessions and the browsers that opened them, and proofs of domains. An altered row counts
 * as absent; a name whose row was altered belongs to no source until an administrator accepts it again. An altered policy
 * stops all releases of its project until an administrator sets or deletes it.
 *
 * The MACs do not cover envelopes, which are bound to their rows anyway. They do not detect that a row was deleted, or
 * replaced by an older version of itself.
 */
export function signedStore(store: Store, signer: RowSigner, onAltered: (row: AlteredRow) => void): Store {
  const { apiKeys, providers, workers, policies, connectSessions, domains } = store
  const signing = createSigning(signer.mac, onAltered)
  const genuine = genuineRows(onAltered)
  const key = genuine<ApiKey>('api_keys', (row) => isSame(row.mac, signer.apiKey(row)), idOf)
  // a revoked key grants nothing, and its MAC was deleted
  const keyOrRevoked = (row: ApiKey | undefined) => (row?.revokedAt !== undefined ? row : key(row))
  const entry = genuine<ProviderEntry>('providers', (row) => isSame(row.mac, signer.provider(row)), idOf)
  const worker = genuine<Worker>(
    'workers',
    (row) => isSame(row.mac, signer.worker(row)) && isSame(row.acceptedMac, signer.accepted(row)),
    idOf,
  )
  const signedName = (one: ToolName): ToolName => ({ ...one, mac: signer.toolName(one) })
  const domain = genuine<ProvedDomain>(
    'brandings',
    (row) => isSame(row.mac, signer.domain(row)),
    ({ name }) => name,
  )
  const policy = genuine<Policy>('policies', (row) => isSame(row.mac, signer.policy(row)), idOf)
  const session = genuine<ConnectSession>(
    'connect_sessions',
    (row) =>
      isSame(row.mac, signer.connectSession(row)) &&
      (row.openerHash === undefined || isSame(row.openerMac, signer.opener(row))),
    idOf,
  )
  const signedEntry = (one: ProviderEntry): ProviderEntry => ({ ...one, mac: signer.provider(one) })
  const signedWorker = (one: Worker): Worker => ({
    ...one,
    mac: signer.worker(one),
    acceptedMac: signer.accepted(one),
  })
  const signedPolicy = (one: Policy): Policy => ({ ...one, mac: signer.policy(one) })
  const signedKey = (one: ApiKey): ApiKey => ({ ...one, mac: signer.apiKey(one) })

  return {
    ...store,
    ...signedTools(store, signer, onAltered),
    ...Object.assign({}, ...store.parts.map(({ signed }) => signed?.(store, signing))),
    apiKeys: {
      ...apiKeys,
      add: (one, ...rest) => apiKeys.add(signedKey(one), ...rest),
      findByHash: async (hash) => key(await apiKeys.findByHash(hash)),
      find: async (projectId, id) => keyOrRevoked(await apiKeys.find(projectId, id)),
      list: async (projectId) => all(await apiKeys.list(projectId), keyOrRevoked),
      async page(...asked) {
        const page = await apiKeys.page(...asked)
        const items = all(page.items, keyOrRevoked)
        return { ...page, items, total: page.total - (page.items.length - items.length) }
      },
      async browse(...asked) {
        const page = await apiKeys.browse(...asked)
        return { ...page, rows: all(page.rows, keyOrRevoked) }
      },
      async rotate(old, expiresAt, successor, audit) {
        const known = await apiKeys.find(old.projectId, old.id)
        if (known === undefined || key(known) === undefined) return false
        const mac = signer.apiKey({ ...known, expiresAt })
        return apiKeys.rotate({ ...old, mac }, expiresAt, signedKey(successor), audit)
      },
    },
    providers: {
      ...providers,
      add: (one, ...rest) => providers.add(signedEntry(one), ...rest),
      change: async (from, to, ...rest) => entry(await providers.change(from, signedEntry(to), ...rest)),
      findByUid: async (uid) => entry(await providers.findByUid(uid)),
      findById: async (projectId, id) => entry(await providers.findById(projectId, id)),
      list: async (projectId) => all(await providers.list(projectId), entry),
      async page(...args) {
        const { rows, ...rest } = await providers.page(...args)
        return { ...rest, rows: all(rows, entry) }
      },
      byUids: async (...args) => all(await providers.byUids(...args), entry),
    },
    workers: {
      ...workers,
      add: (one, ...rest) => workers.add(signedWorker(one), ...rest),
      change: async (from, to, ...rest) => worker(await workers.change(from, signedWorker(to), ...rest)),
      settleSync: async (reading) => worker(await workers.settleSync(reading)),
      accept: (from, { names = [], ...to }, ...rest) =>
        workers.accept(
          from,
          { ...to, acceptedMac: signer.accepted(to), names: names.map(signedName) },
          ...rest,
        ),
      findByUid: async (uid) => worker(await workers.findByUid(uid)),
      find: async (projectId, id) => worker(await workers.find(projectId, id)),
      list: async (projectId) => all(await workers.list(projectId), worker),
      all: async () => all(await workers.all(), worker),
    },
    domains: {
      ...domains,
      prove: (one, ...rest) => domains.prove({ ...one, mac: signer.domain(one) }, ...rest),
      findProved: async (projectId) => domain(await domains.findProved(projectId)),
      async page(...args) {
        const { rows, ...rest } = await domains.page(...args)
        return { ...rest, rows: all(rows, domain) }
      },
    },
    policies: {
      ...policies,
      async add(one, ...rest) {
        const known = await policies.find(one.projectId, one.id)
        // an altered row counts as absent: the administrator's policy takes its place
        if (known !== undefined && policy(known) === undefined)
          return policies.change(known, signedPolicy(one), ...rest)
        return policies.add(signedPolicy(one), ...rest)
      },
      change: (from, to, ...rest) => policies.change(from, signedPolicy(to), ...rest),
      find: async (projectId, id) => policy(await policies.find(projectId, id)),
      async inForce(projectId) {
        const { version } = await policies.inForce(projectId)
        // the rows that are checked are those that are used: with a second read, a row altered in between would pass
        const rows = await policies.list(projectId)
        const [altered] = rows.filter((one) => policy(one) === undefined)
        if (altered === undefined) return { version, policies: rows.filter(({ enabled }) => enabled) }
        throw new BrokerError(
          'store_unavailable',
          `The policy "${altered.id}" was changed in the database by another program than Gatepass. Nothing is released in its project until an administrator sets it again or deletes it.`,
        )
      },
    },
    connectSessions: {
      ...connectSessions,
      add: (one, ...rest) => connectSessions.add({ ...one, mac: signer.connectSession(one) }, ...rest),
      find: async (id) => session(await connectSessions.find(id)),
      findByToken: async (tokenHash) => session(await connectSessions.findByToken(tokenHash)),
      async open(id, opener, ...rest) {
        const openerMac = signer.opener({ id, ...opener })
        return session(await connectSessions.open(id, { ...opener, openerMac }, ...rest))
      },
      restart(before, { authorizationId }, ...rest) {
        const mac = signer.connectSession({ ...before, authorizationId })
        return connectSessions.restart(before, { authorizationId, mac }, ...rest)
      },
    },
  }
}

const idOf = ({ id }: { readonly id: string }) => id
