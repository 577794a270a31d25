import type { Broker } from '../broker.ts'
import { isStoreUnavailable, retry } from '../store/retry.ts'
import type { Loss } from '../store/store.ts'

type Parts = Pick<Broker, 'store' | 'log' | 'now' | 'audit' | 'metrics'>

/** An access token that expires within this time of a loss may have been refreshed before it. */
const REFRESHED_AHEAD_SECONDS = 15 * 60
const PAUSE_MS = 1_000

/**
 * When the database has lost commits, such as by the promotion of an asynchronous replica, its state is that of an earlier
 * moment: refresh tokens that were rotated since are used ones, and numbers of events would be given out a second time.
 * Each process that notices it settles this, which is harmless to repeat. docs/operate/scaling.md tells operators what else
 * is lost.
 */
export function watchForLosses(parts: Parts, operatorsProjectId: string): void {
  const counter = parts.metrics.counter(
    'gatepass_database_losses_total',
    'How often the database was found to have lost commits that it had acknowledged',
  )
  parts.store.onLoss((loss) => {
    counter.increment()
    void settleLoss(parts, loss, operatorsProjectId).catch((error: unknown) =>
      parts.log.error({ error }, 'what the database has lost could not be settled'),
    )
  })
}

async function settleLoss(
  { store, log, now, audit }: Parts,
  { seconds }: Loss,
  projectId: string,
): Promise<void> {
  const lost = Number.isFinite(seconds) ? `the last ${seconds} seconds` : 'an unknown time'
  log.error(
    { seconds: Number.isFinite(seconds) ? seconds : null },
    'the database has lost commits that it had acknowledged: a replica that was behind took over, or an earlier state was restored (docs/operate/scaling.md)',
  )
  const patiently = <T>(write: () => Promise<T>) =>
    retry(write, {
      isTransient: isStoreUnavailable,
      mayRetry: () => true,
      pauseMs: () => PAUSE_MS,
      mayProcessEnd: true,
    })
  for (const { loss } of store.parts) await patiently(async () => loss?.(store, now()))
  const before = now() + (Number.isFinite(seconds) ? REFRESHED_AHEAD_SECONDS : Number.MAX_SAFE_INTEGER / 2)
  const connections = await patiently(() => store.connections.doubtRefreshes(Math.floor(before), now()))
  await patiently(() => audit.record(projectId, { action: 'installation.commits_lost', subject: lost }))
  log.warn({ connections }, 'refresh tokens that may have been used by what was lost count as unanswered')
}
