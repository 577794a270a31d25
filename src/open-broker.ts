import type { Broker } from './broker.ts'
import type { Config } from './config.ts'
import { ConfigError } from './config-error.ts'
import { sandboxDefinition } from './dev-provider/definition.ts'
import { NO_BRAND } from './domain/brand.ts'
import { type Clock, type SteadyClock, systemClock } from './domain/clock.ts'
import type { Log } from './domain/log.ts'
import { DEFAULT_PROJECT } from './domain/project.ts'
import type { AllowsHttp } from './egress/endpoint.ts'
import { createOutgoing, type Outgoing } from './egress/outgoing.ts'
import type { LookUpTxt } from './egress/txt-records.ts'
import { loadFeatures } from './features/load-features.ts'
import { settleIdentities } from './flows/settle-identities.ts'
import { watchForLosses } from './flows/settle-loss.ts'
import { settleRestore } from './flows/settle-restore.ts'
import { openCaches } from './open-caches.ts'
import { createDefinitions, type Definitions } from './providers/catalogue/definitions.ts'
import { builtIn } from './providers/catalogue/registry.ts'
import { withKeyApart } from './providers/client-key.ts'
import { createDiscovery } from './providers/discovery.ts'
import { createLoginClient } from './providers/login-client.ts'
import { createOAuthClient } from './providers/oauth-client.ts'
import type { ProviderEntry } from './providers/provider-entry.ts'
import { recordedOutgoing } from './providers/sent-requests.ts'
import { createActivityLog } from './services/activity-log.ts'
import { watchRows } from './services/altered-rows.ts'
import { createAuditLog } from './services/audit-log.ts'
import { createConfirmations } from './services/confirmations.ts'
import { environmentClientOf, environmentName } from './services/environment-client.ts'
import { createExecutionLog } from './services/execution-log.ts'
import { createDeriveKey, ensureInstallationKey, signRowsOnce } from './services/installation-key.ts'
import { createLiveness } from './services/liveness.ts'
import { createMetrics } from './services/metrics.ts'
import { observedOutgoing, observedStore } from './services/observed.ts'
import { NO_OPENERS } from './services/openers.ts'
import { createPendingLimit } from './services/pending-limit.ts'
import { createRefreshes } from './services/refresh-table.ts'
import { admitKeys, noteSealingKey } from './services/sealing-keys.ts'
import { settleToolNames } from './services/settle-tool-names.ts'
import { signedStore } from './services/signed-store.ts'
import { createSigning } from './services/signing.ts'
import { machineClock } from './services/steady-clock.ts'
import { tracedAudit, tracedOutgoing, tracedStore } from './services/traced.ts'
import { recordedTrace, type Tracing } from './services/tracing.ts'
import { NO_INDEX } from './services/trail-index.ts'
import { createUseGate } from './services/use-gate.ts'
import { createUseLog } from './services/use-log.ts'
import { callbackPath, NO_SITES } from './services/users-origin.ts'
import { createWaiters } from './services/waiters.ts'
import { watchSealer } from './services/watch-sealer.ts'
import { unknownProviders } from './settings/names.ts'
import { readProviderFiles } from './settings/provider-files.ts'
import { openStore } from './store/open-store.ts'
import { sealingContext } from './store/protected-tables.ts'
import { createSealer } from './store/seal.ts'
import type { Store } from './store/store.ts'
import { createBackends } from './tools/backends.ts'

/** What a broker needs besides its settings. */
export interface BrokerParts {
  readonly log: Log
  readonly now?: Clock
  /** The clock of leases on SQLite. Default: the machine's; with another `now`, that. */
  readonly steadyClock?: SteadyClock
  /** The client of every outgoing request; default: the guarded one. A simulation passes one that opens no connection. */
  readonly outgoing?: Outgoing
  /** Answers some requests to providers and workers in place of that client. Absent: none. */
  readonly around?: ((outgoing: Outgoing) => Outgoing) | undefined
  /** Default: asks the system's DNS servers. */
  readonly lookUpTxt?: LookUpTxt
  /** Records spans. Absent: tracing is off and costs nothing. */
  readonly tracing?: Tracing | undefined
}

/**
 * Opens the store and builds the broker. Master keys that do not open the stored secrets are refused before anything is
 * written, and a restored backup is made safe for use. Throws `ConfigError` and `BrokerError`.
 */
export async function openBroker(
  config: Config,
  { log, now = systemClock, outgoing: given, lookUpTxt, tracing, around, ...parts }: BrokerParts,
): Promise<Broker & { close(): Promise<void> }> {
  const keys = createSealer(config.masterKeys)
  const metrics = createMetrics()
  const opened = await openStore(config.database, {
    admit: (facts) => admitKeys(facts, keys),
    steadyClock: parts.steadyClock ?? (now === systemClock ? machineClock() : undefined),
    ...(tracing && { traceparent: recordedTrace }),
  })
  const system = config.database.kind === 'sqlite' ? 'sqlite' : 'postgresql'
  const activity = createActivityLog(opened, now)
  const raw = observedStore(tracing ? tracedStore(opened, tracing, system) : opened, metrics, activity)
  try {
    await noteSealingKey(raw, keys)
    const { key: installationKey, isSigned } = await ensureInstallationKey(raw, keys)
    const altered = watchRows({ log, metrics })
    const signing = createSigning(installationKey, altered.found)
    const store = signedStore(raw, signing)
    const audit = createAuditLog(store, installationKey, now)
    const sealer = watchSealer(keys, { log, audit })

    const operatorsProject = await store.projects.ensure(DEFAULT_PROJECT, now())
    if (!isSigned) {
      for (const upgrade of await loadFeatures('upgrade')) await upgrade(raw, keys)
      await settleToolNames({ store, unsigned: raw, audit, log }, operatorsProject.id)
      await signRowsOnce(
        { raw, store, signing, sealer: keys, key: installationKey, audit, log },
        operatorsProject.id,
      )
    }
    await settleRestore({ store, log, now, audit }, operatorsProject.id)
    watchForLosses({ store, log, now, audit, metrics }, operatorsProject.id)
    const { allowedHosts } = config
    const observed = (client: Outgoing) =>
      observedOutgoing(tracing ? tracedOutgoing(client, tracing) : client, metrics)
    const reaching = given ?? createOutgoing({ allowedHosts, lookUpTxt })
    const outgoing = observed(around?.(reaching) ?? reaching)
    const clientDocuments = observed(given ?? createOutgoing({ allowedHosts: config.mcp.clientHosts }))
    const definitions = await readDefinitions(config, (url) => outgoing.allows(url), log)
    await checkProviderNames(config, store, operatorsProject.id, definitions, log)
    const waiters = createWaiters(store, {
      total: config.maxWaiters,
      perOwner: Math.ceil(config.maxWaiters / 2),
    })
    const uses = createUseLog(store)
    const history = createExecutionLog(store, metrics)
    const refreshes = createRefreshes(store, { now, log })
    const liveness = createLiveness(store, { log })
    metrics.gauge(
      'gatepass_providers_held_back',
      'Providers whose refreshes are held back',
      () => ({
        label: 'provider',
        values: new Map(refreshes.breaker.states().map(({ providerId }) => [providerId, 1])),
      }),
      'max',
    )
    const environmentClient = (entry: ProviderEntry) =>
      // the environment is the operator's: no other project may send its client secrets to a server of its choice
      entry.projectId === operatorsProject.id
        ? environmentClientOf(config.providerClients, entry, definitions)
        : undefined
    const [createSites] = await loadFeatures('sites')
    const sites = createSites === undefined ? NO_SITES : await createSites(store, config)
    const [createOpeners] = await loadFeatures('openers')
    const [ownPath] = await loadFeatures('ownPage')
    const [findLook] = await loadFeatures('look')
    const usersUrl = (projectId: string) => sites.of(projectId) ?? config.publicUrl
    await settleIdentities({ store, log, audit, environmentClient })
    const [createTrailIndex] = await loadFeatures('trailIndex')
    const gateParts = { store, outgoing, sealer, audit, metrics, log, now, ...(tracing && { tracing }) }
    const [createApprovals] = await loadFeatures('approvals')
    const gates = (await loadFeatures('gate')).map((create) => create(gateParts))
    const workers = await loadFeatures('workers')
    const backends = await Promise.all(
      workers.map(async ({ type, backend }) => [type, await backend()] as const),
    )
    return {
      store,
      sealer,
      outgoing,
      clientDocuments,
      oauth: createOAuthClient(recordedOutgoing(outgoing), now, (about, message) => log.warn(about, message)),
      login: createLoginClient(outgoing),
      definitions,
      discover: createDiscovery(outgoing, now),
      now,
      log,
      settings: config,
      waiters,
      pending: createPendingLimit(store.authorizations.countLive, config.maxPending, now),
      uses,
      activity,
      metrics,
      ...(tracing && { tracing }),
      audit: tracing ? tracedAudit(audit, tracing, system) : audit,
      trailIndex: createTrailIndex?.({ store, now }) ?? NO_INDEX,
      altered,
      history,
      gate: createUseGate(gates),
      approvals: createApprovals?.({ store, sealer, audit, now, usersUrl, liveness }),
      backends: createBackends(new Map(backends)),
      cache: openCaches(store, config),
      refreshes,
      liveness,
      confirmations: createConfirmations(installationKey),
      deriveKey: createDeriveKey(installationKey),
      sites,
      openers: createOpeners?.(store) ?? NO_OPENERS,
      usersUrl,
      ownPage: (projectId) => (ownPath === undefined ? undefined : new URL(ownPath, usersUrl(projectId))),
      brandOf: async (projectId) => (findLook === undefined ? NO_BRAND : findLook(store, projectId)),
      redirectUri: ({ uid, projectId }) => new URL(callbackPath(uid), usersUrl(projectId)).href,
      clientFor(entry) {
        const { clientId, clientSecret } = entry
        if (clientId !== undefined)
          return withKeyApart(entry.provider, {
            clientId,
            ...(clientSecret !== undefined && {
              clientSecret: sealer.open(clientSecret, sealingContext('providers', 'client_secret', entry)),
            }),
          })
        const named = environmentClient(entry)
        return named?.allowed ? withKeyApart(entry.provider, named.client) : undefined
      },
      environmentClient,
      async close() {
        waiters.close()
        refreshes.stop()
        await refreshes.whenIdle()
        // without a database, the last seconds of these are lost
        for (const queue of [uses, activity, history]) await queue.flush().catch(() => {})
        await outgoing.close()
        await clientDocuments.close()
        await liveness.close()
        await store.close()
      },
    }
  } catch (error) {
    await raw.close()
    throw error
  }
}

/** The catalogue with the operator's definitions. Throws `ConfigError` for files that cannot be used. */
async function readDefinitions(
  { providerFolder, development, publicUrl }: Config,
  allowsHttp: AllowsHttp,
  log: Log,
): Promise<Definitions> {
  const files = await readProviderFiles(providerFolder, { allowsHttp })
  for (const { file, definition } of files) {
    const about = { provider: definition.id, file }
    if (builtIn(definition.id) === undefined) log.info(about, 'a definition of a provider was read')
    else log.warn(about, 'a definition was read that replaces the built-in one of this id')
  }
  return createDefinitions(
    files.map(({ definition }) => definition),
    development ? [sandboxDefinition(publicUrl)] : [],
  )
}

/** Throws `ConfigError` for a client in the environment whose provider's name is misspelled. */
async function checkProviderNames(
  { providerClients }: Config,
  store: Store,
  projectId: string,
  definitions: Definitions,
  log: Log,
): Promise<void> {
  if (providerClients.size === 0) return
  const entries = await store.providers.list(projectId)
  const known = [...definitions.ids, ...entries.map(({ id }) => id)].map(environmentName)
  const unknown = unknownProviders(providerClients.keys(), known)
  const misspelled = unknown.filter(({ meant }) => meant !== undefined)
  if (misspelled.length > 0)
    throw new ConfigError(
      misspelled.map(
        ({ variable, meant }) =>
          `${variable}_… names no provider. Did you mean "${meant}_…"? To use this name for a new entry, add the entry before you set its client.`,
      ),
    )
  for (const { variable } of unknown)
    log.info({ variable }, 'no provider has this name yet; its client is used once one is added')
}
