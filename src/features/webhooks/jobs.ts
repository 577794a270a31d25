import type { FeatureJobs } from '../feature.ts'
import { createDispatcher } from './dispatcher.ts'
import { EVENTS_KEPT_SECONDS } from './domain.ts'

const DISPATCH_MS = 1_000
const EXPIRE_MS = 5_000
/** How many expired authorizations of projects with webhooks are settled in one run. */
const EXPIRED_AT_ONCE = 200

export const webhookJobs: FeatureJobs = {
  begin(broker) {
    const dispatcher = createDispatcher(broker)
    return {
      jobs: [{ intervalMs: DISPATCH_MS, run: () => dispatcher.runDue() }],
      close: (ms) => dispatcher.close(ms), // a delivery that is cut off is attempted again later
    }
  },
  shared: ({ store, now }) => [
    { intervalMs: EXPIRE_MS, run: () => store.events.expireAuthorizations(now(), EXPIRED_AT_ONCE) },
  ],
  sweep: ({ store, now }) => store.events.sweep(now() - EVENTS_KEPT_SECONDS, now()),
}
