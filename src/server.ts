import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { beginFeatureWork, startJobs } from './background-jobs.ts'
import type { Broker } from './broker.ts'
import type { Config } from './config.ts'
import { ConfigError } from './config-error.ts'
import { withSandboxClient } from './dev-provider/client.ts'
import { prepareSandbox, sandboxFor } from './dev-provider/mount.ts'
import { sandboxSample } from './dev-provider/sample.ts'
import type { Simulation } from './dev-provider/simulation.ts'
import { developmentKeyFile, keepDevelopmentKey, readDevelopmentKey } from './development-key.ts'
import { diagnose } from './diagnosis/diagnose.ts'
import { effectiveSettings } from './diagnosis/effective-settings.ts'
import { type ApiKey, isExpired, issueApiKey } from './domain/api-key.ts'
import type { Clock, SteadyClock } from './domain/clock.ts'
import { newId, sha256 } from './domain/ids.ts'
import type { Log } from './domain/log.ts'
import { DEFAULT_PROJECT } from './domain/project.ts'
import type { Outgoing } from './egress/outgoing.ts'
import { loadFeatures } from './features/load-features.ts'
import { type DeveloperLink, developerLink, isForThisMachine } from './flows/console/developer-link.ts'
import { createApp, USERS_PATHS } from './http/app.ts'
import { createHotFetch, type HotFetch } from './http/hot-fetch/hot-fetch.ts'
import { whyNotServed } from './http/mcp-setup/is-served.ts'
import { type Fetch, type OnCall, withCallLog } from './http/server/call-log.ts'
import { listen } from './listen.ts'
import {
  type AuthorizationServer,
  createAuthorizationServer,
} from './mcp/authorization-server/authorization-server.ts'
import { issuersOf, mcpResource } from './mcp/callers/resource.ts'
import { createMcpEndpoint } from './mcp/endpoint/endpoint.ts'
import { openBroker } from './open-broker.ts'
import { type Gather, ownMetrics } from './operations/installation/metrics.ts'
import { startObservers } from './process-observers.ts'
import { registerServer } from './services/server-registration.ts'
import { waitAtMost } from './services/wait-at-most.ts'
import { ModuleFault } from './tools/module/load-module.ts'
import { loadModules, registerModules } from './tools/module/register-modules.ts'
import { version } from './version.ts'

/** Graceful-shutdown budget; Kubernetes sends SIGKILL after 30 s by default. */
export const SHUTDOWN_BUDGET_MS = 25_000
/** The time for runs that are cut off to record how they ended, and then again for the last writes of the store. */
const FINAL_WRITES_MS = 1_000
/** How long the shutdown waits for the observers of the process to pass on the last spans and metrics. */
const OBSERVERS_MS = 2_000

export interface RunningServer {
  readonly broker: Broker
  /** Only in development: an administrator's API key, the same at every start. */
  readonly apiKey?: string
  /** With `printLink`, where this machine alone reaches the console: makes a link in place of the one before. */
  readonly makeLink?: () => string
  /** Answers a request in this process, as one that comes by the network. */
  fetch(request: Request): Promise<Response>
  /**
   * Graceful shutdown: reports not ready, answers waiters, finishes running requests and refreshes and stores their
   * results, for at most 25 seconds. Work that is still running then is cut off; another process takes over scheduled runs.
   */
  close(): Promise<void>
}

export interface ServerParts {
  readonly log: Log & { readonly dropped?: number }
  readonly now?: Clock
  /** As in `BrokerParts`. */
  readonly steadyClock?: SteadyClock
  /** As in `BrokerParts`. */
  readonly outgoing?: Outgoing
  /** Development only: answers requests to some hosts in their place. */
  readonly simulation?: Simulation
  /** `gatepass dev`: prints a link that logs the developer's browser in to the console, when a page asks for another. */
  readonly printLink?: (url: string) => void
  /** Called after each answered request; development prints each call. */
  readonly onCall?: OnCall
  /** `false`: every request takes the usual route, with which a test compares the hot fetch. */
  readonly hotFetch?: false
  /** Set where several processes of one machine serve together. */
  readonly cluster?: {
    /** Whether this process runs the background jobs that one process of a machine runs for all. */
    readonly runsSharedJobs: boolean
    readonly gather: Gather
  }
}

/** Opens the broker, serves it, and starts the background jobs. */
export async function startServer(given: Config, parts: ServerParts): Promise<RunningServer> {
  const { log, cluster } = parts
  const simulation = given.development ? parts.simulation : undefined
  const config = given.development ? withSandboxClient(given) : given
  const observers = await startObservers(config, { log })
  const closers: (() => Promise<void>)[] = [() => observers.close(0)]
  try {
    const broker = await openBroker(config, {
      ...parts,
      tracing: observers.tracing,
      around: simulation?.around,
    })
    closers.push(() => broker.close())
    const registration = await registerServer(broker.store, broker.sealer)
    closers.push(() => registration.leave())
    const apiKey = await ensureApiKey(broker, config)
    await loadTools(broker, config)
    const sandbox = config.development ? sandboxFor(config, broker.now) : undefined
    if (simulation !== undefined) sandbox?.route('/', simulation.pages)
    const link = linkFor(broker, config, apiKey ?? config.apiKey)
    const links = link && parts.printLink && { link, print: parts.printLink }
    const gather = cluster?.gather
    const authorizationServer = await authorizationServerFor(broker)
    const mcp = createMcpEndpoint(broker, authorizationServer)
    let hotFetch: HotFetch | undefined
    const app = createApp(broker, {
      version,
      mountMcp(app, shared) {
        if (parts.hotFetch !== false && parts.onCall === undefined) hotFetch = createHotFetch(broker, shared)
        mcp.mount(app, shared)
        authorizationServer?.mount(app)
      },
      ...(sandbox && { sandbox }),
      links,
      ...(links && {
        tour: {
          ...sandboxSample(config.publicUrl),
          ...(apiKey !== undefined && { keyFile: developmentKeyFile(config.database) }),
        },
      }),
      settings: effectiveSettings(config),
      diagnose: async (projectId) => {
        const project = await broker.store.projects.find(projectId)
        return project === undefined ? [] : diagnose({ broker, config, project })
      },
      metrics: { access: config.metrics, ...(gather && { gather }) },
    })
    broker.metrics.counted(
      'gatepass_log_lines_dropped_total',
      'Log lines that were dropped because the output was not read in time',
      () => log.dropped,
    )
    observers.observe(broker.metrics, () => ownMetrics(broker))
    let served: Fetch<object> = app.fetch
    for (const wrap of await loadFeatures('serve')) served = wrap(served, broker, USERS_PATHS)
    const serving = parts.onCall ? withCallLog(served, parts.onCall) : served
    const listener = await listen(serving, config, hotFetch)
    closers.push(() => listener.close(0))
    broker.metrics.gauge(
      'gatepass_http_requests_running',
      'Requests under way',
      () => listener.activeRequests,
    )
    announceMcp(broker)
    if (config.development) await prepareSandbox(broker, config)
    const features = beginFeatureWork(broker)
    const jobs = startJobs(
      broker,
      { features, registration },
      { runsSharedJobs: cluster?.runsSharedJobs ?? true },
    )
    // ends the claims of processes that crashed
    broker.liveness.endDeadClaims().catch((error: unknown) => log.error({ error }, 'a background job failed'))
    return {
      broker,
      ...(apiKey !== undefined && { apiKey }),
      ...(links && { makeLink: () => links.link.renew() }),
      fetch: async (request) => served(request, {}),
      async close() {
        const endsAt = performance.now() + SHUTDOWN_BUDGET_MS
        const left = () => Math.max(0, endsAt - performance.now())
        for (const job of jobs) clearInterval(job)
        broker.waiters.close()
        broker.refreshes.stop()
        const ended = Promise.all(features.map((work) => work.close(left() - 2 * FINAL_WRITES_MS)))
        const calls = mcp.close(left() - 2 * FINAL_WRITES_MS)
        await listener.close(left() - 2 * FINAL_WRITES_MS)
        if (left() <= 2 * FINAL_WRITES_MS) await sleep(left() - FINAL_WRITES_MS)
        await waitAtMost(left() - FINAL_WRITES_MS, calls)
        await ended
        // a refresh is finished without a waiting client too: its response may hold the only valid refresh token
        const { running } = broker.refreshes
        await waitAtMost(left(), broker.refreshes.whenIdle())
        if (running.size > 0) log.error({ refreshes: running.size }, 'refreshes were cut off at shutdown')
        await broker.outgoing.close()
        // closing waits for the database, which may be unreachable
        await Promise.all([
          observers.close(Math.min(left(), OBSERVERS_MS)),
          waitAtMost(
            Math.max(left(), FINAL_WRITES_MS),
            registration
              .leave()
              .catch(() => {}) // its row lapses
              .then(() => broker.close()),
          ),
        ])
      },
    }
  } catch (error) {
    for (const close of closers.reverse()) await close()
    throw error
  }
}

/** The authorization server for MCP clients; `undefined` where `/mcp` is not served. Throws `ConfigError`. */
async function authorizationServerFor(broker: Broker): Promise<AuthorizationServer | undefined> {
  if (whyNotServed(broker.settings) !== undefined) return undefined
  return createAuthorizationServer(broker, { projectId: await findMcpProject(broker) })
}

/** The id of the project of users who call `/mcp`. Throws `ConfigError` if it does not exist. */
async function findMcpProject({ settings, store }: Broker): Promise<string> {
  const { project: name } = settings.mcp
  const project = await store.projects.findByName(name)
  if (project === undefined)
    throw new ConfigError([
      `GATEPASS_MCP_PROJECT names the project "${name}", which does not exist: create it with \`gatepass keys create --project ${name} --role admin\`.`,
    ])
  return project.id
}

/** The link of development; `undefined` where other machines reach the server, or the console is not served. */
function linkFor(broker: Broker, config: Config, apiKey: string | undefined): DeveloperLink | undefined {
  const { development, dashboard } = config
  if (!development || dashboard.serve === 'off' || apiKey === undefined) return undefined
  return isForThisMachine(config) ? developerLink(broker, apiKey) : undefined
}

/** Logs how MCP clients may call this server, or why they cannot. */
function announceMcp({ settings, log }: Broker): void {
  const { publicUrl, mcp } = settings
  const reason = whyNotServed(settings)
  if (reason !== undefined) log.info({ reason }, 'MCP clients cannot call this server')
  else
    log.info(
      { url: mcpResource(publicUrl).url, project: mcp.project, tokensOf: issuersOf(settings) },
      'MCP clients may call this server with API keys and with access tokens',
    )
}

/** Migrates the database, checks the master key, stores the configured API key and tools, and closes again. */
export async function prepareStore(config: Config, parts: Pick<ServerParts, 'log'>): Promise<void> {
  const broker = await openBroker(config, parts)
  try {
    await ensureApiKey(broker, config)
    await loadTools(broker, config)
    if (whyNotServed(config) === undefined) await findMcpProject(broker)
  } finally {
    await broker.close()
  }
}

/**
 * Starts up to the point at which a server would listen, with an empty database in a temporary folder. Throws
 * `ConfigError` for what a start refuses, whether or not the real database exists yet. The names of clients in the
 * environment, and of the project of MCP clients, are left out where the real one may have them.
 */
export async function rehearseStart(config: Config, { isNew }: { readonly isNew: boolean }): Promise<void> {
  const log = { debug() {}, info() {}, warn() {}, error() {} }
  const folder = await mkdtemp(join(tmpdir(), 'gatepass-start-'))
  try {
    const observers = await startObservers(config, { log })
    await observers.close(0)
    const database = { kind: 'sqlite', path: join(folder, 'gatepass.db') } as const
    const known = { providerClients: new Map(), mcp: { ...config.mcp, project: DEFAULT_PROJECT } }
    await prepareStore({ ...config, database, ...(!isNew && known) }, { log })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Throws `ConfigError` for a module that a start would refuse because of what the database has. Writes nothing. */
export async function checkTools({ store }: Broker, { toolModules }: Config): Promise<void> {
  const project = await store.projects.findByName(DEFAULT_PROJECT)
  const workers = project === undefined ? [] : await store.workers.list(project.id)
  await namingTheSetting(loadModules(toolModules, workers))
}

/** Loads the modules of `GATEPASS_TOOLS`. Throws `ConfigError`. */
async function loadTools(broker: Broker, { toolModules }: Config): Promise<void> {
  await namingTheSetting(registerModules(broker, toolModules))
}

async function namingTheSetting(loading: Promise<unknown>): Promise<void> {
  try {
    await loading
  } catch (error) {
    throw error instanceof ModuleFault ? new ConfigError([`GATEPASS_TOOLS names ${error.message}`]) : error
  }
}

/** Stores the configured API key. Without one, development mode returns the key of an earlier start, or a new key. */
async function ensureApiKey(broker: Broker, config: Config): Promise<string | undefined> {
  const { store, now, audit } = broker
  const { id: projectId } = await store.projects.ensure(DEFAULT_PROJECT, now())
  const common = { projectId, role: 'admin', createdAt: now() } as const
  const add = (record: ApiKey) =>
    store.apiKeys.add(record, audit.of(projectId, { action: 'key.created', subject: record.id }))
  if (config.apiKey !== undefined) {
    await add({ ...common, id: newId('key'), name: 'GATEPASS_API_KEY', hash: sha256(config.apiKey) })
    return undefined
  }
  if (!config.development) return undefined
  const kept = readDevelopmentKey(config.database)
  const known = kept === undefined ? undefined : await store.apiKeys.findByHash(sha256(kept))
  if (known?.projectId === projectId && known.role === 'admin' && !isExpired(known, now())) return kept
  const { key, record } = issueApiKey({ ...common, name: 'development' })
  await add(record)
  keepDevelopmentKey(config.database, key)
  return key
}
