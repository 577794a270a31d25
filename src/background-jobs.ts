import type { Broker } from './broker.ts'
import type { Log } from './domain/log.ts'
import type { FeatureWork } from './features/feature.ts'
import { loadFeatures } from './features/load-features.ts'
import { createDevicePolling, POLL_SECONDS } from './flows/device/poll-devices.ts'
import { forgetResponses } from './flows/held-grant.ts'
import { BACKGROUND_REFRESH_SECONDS, refreshDue } from './flows/refresh/refresh-due.ts'
import type { BackgroundJob } from './services/background-job.ts'
import { createDescriptorWatch } from './services/descriptor-watch.ts'
import { BEAT_MS } from './services/liveness.ts'
import { SERVER_LAPSE_MS } from './services/sealing-keys.ts'
import { SERVER_BEAT_MS, type ServerRegistration } from './services/server-registration.ts'
import { createSyncRounds, SYNC_SECONDS } from './tools/worker.ts'

const FLUSH_MS = 1_000
/** Of last-used times, where each part of a distributed database gets a statement of its own. */
const DISTRIBUTED_FLUSH_MS = 10_000
/** Longer than `FLUSH_MS`: the console shows hourly counts, and to the minute when users were last seen. */
const ACTIVITY_MS = 5_000
const DESCRIPTORS_MS = 2_000
const FORGET_MS = 60 * 1000
const SWEEP_MS = 10 * 60 * 1000
/** How long the status of a settled authorization is kept. */
const KEPT_SECONDS = 7 * 24 * 3600
/** How long the history of runs is kept. */
const HISTORY_SECONDS = 30 * 24 * 3600
/** How long the console's hourly counts are kept. */
const COUNTED_SECONDS = 90 * 24 * 3600

/** How long a user's approval of an MCP client is kept after its last use: longer than any token of the client lives. */
const MCP_CONSENT_SECONDS = 90 * 24 * 3600
/** How long a connection's page names a tool that no longer uses the connection. */
const TOOL_USE_SECONDS = 400 * 24 * 3600
/** How long the console lists a user for whom Gatepass no longer acts. Their connections stay. */
const SEEN_SECONDS = 400 * 24 * 3600

const ofFeatures = await loadFeatures('jobs')

/** Begins the work of the features in this process. */
export function beginFeatureWork(broker: Broker): readonly FeatureWork[] {
  return ofFeatures.flatMap(({ begin }) => begin?.(broker) ?? [])
}

/** The parts of a process whose work is due at intervals: those of features, and its registration. */
export interface DueWork {
  readonly features: readonly FeatureWork[]
  readonly registration: ServerRegistration
}

/** The jobs that every process runs. */
export function ownJobs(broker: Broker, { features, registration }: DueWork): BackgroundJob[] {
  const { uses, activity, history, liveness, log, store } = broker
  return [
    { intervalMs: store.isDistributed ? DISTRIBUTED_FLUSH_MS : FLUSH_MS, run: () => uses.flush() },
    { intervalMs: ACTIVITY_MS, run: () => activity.flush() },
    { intervalMs: FLUSH_MS, run: () => history.flush() },
    ...features.flatMap(({ jobs }) => jobs),
    { intervalMs: BEAT_MS, run: () => liveness.endDeadClaims() },
    { intervalMs: SERVER_BEAT_MS, run: () => registration.beat() },
    { intervalMs: DESCRIPTORS_MS, run: createDescriptorWatch(log) },
  ]
}

/**
 * The jobs that one process of a machine runs for all its processes. Each of several machines runs them, without
 * harm: a worker's tools are read more often, and a lease lets only one process refresh a connection.
 */
export function sharedJobs(broker: Broker): BackgroundJob[] {
  return [
    { intervalMs: SYNC_SECONDS * 1000, run: createSyncRounds(broker) },
    ...ofFeatures.flatMap(({ shared }) => shared?.(broker) ?? []),
    { intervalMs: FORGET_MS, run: () => forgetResponses(broker) },
    { intervalMs: SWEEP_MS, run: () => sweep(broker) },
    { intervalMs: BACKGROUND_REFRESH_SECONDS * 1000, run: () => refreshDue(broker) },
    { intervalMs: POLL_SECONDS * 1000, run: createDevicePolling(broker) },
  ]
}

/** Deletes records whose retention time has passed. */
async function sweep(broker: Broker): Promise<void> {
  const { store, now } = broker
  for (const feature of ofFeatures) await feature.sweep?.(broker)
  await store.servers.sweep(SERVER_LAPSE_MS)
  await store.authorizations.sweep(now() - KEPT_SECONDS)
  await store.idempotencyKeys.sweep(now())
  await store.executions.sweep(now() - HISTORY_SECONDS)
  await store.suspendedCalls.sweep(now())
  await store.storedFiles.sweep(now())
  await store.mcpConsents.sweep(now() - MCP_CONSENT_SECONDS)
  await store.mcpRecords.sweep(now())
  await store.connectionTools.sweep(now() - TOOL_USE_SECONDS)
  await store.pageSessions.sweep(now())
  await store.counters.sweep(now() - COUNTED_SECONDS)
  await store.users.sweep(now() - SEEN_SECONDS)
}

/** Starts the jobs of this process, and with `runsSharedJobs` also the shared ones. */
export function startJobs(
  broker: Broker,
  dueWork: DueWork,
  { runsSharedJobs }: { readonly runsSharedJobs: boolean },
): NodeJS.Timeout[] {
  const jobs = [...ownJobs(broker, dueWork), ...(runsSharedJobs ? sharedJobs(broker) : [])]
  return jobs.map((job) => start(job, broker.log))
}

/** Runs a job at its interval, never twice at once; a failure is logged, and the job runs again at the next interval. */
function start({ intervalMs, run }: BackgroundJob, log: Log): NodeJS.Timeout {
  let running = false
  const timer = setInterval(() => {
    if (running) return
    running = true
    run()
      .catch((error: unknown) => log.error({ error }, 'a background job failed'))
      .finally(() => {
        running = false
      })
  }, intervalMs)
  return timer.unref()
}
