import type { BrokerSettings } from './broker.ts'
import type { Log } from './domain/log.ts'
import { loadFeatures } from './features/load-features.ts'
import type { ProcessObserver } from './services/process-observer.ts'
import { version } from './version.ts'

const ofFeatures = await loadFeatures('observer')

/** Starts what features observe a process with, as one observer. Throws `ConfigError`. */
export async function startObservers(
  settings: Pick<BrokerSettings, 'of'>,
  { log }: { readonly log: Log },
): Promise<ProcessObserver> {
  const observers: ProcessObserver[] = []
  const close = async (ms: number) => {
    await Promise.all(observers.map((observer) => observer.close(ms)))
  }
  try {
    for (const start of ofFeatures) {
      const started = await start(settings, { log, version })
      if (started !== undefined) observers.push(started)
    }
  } catch (error) {
    await close(0)
    throw error
  }
  return {
    tracing: observers.find(({ tracing }) => tracing !== undefined)?.tracing,
    observe(metrics, read) {
      for (const observer of observers) observer.observe(metrics, read)
    },
    close,
  }
}
