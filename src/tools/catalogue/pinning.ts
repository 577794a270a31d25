import type { Broker } from '../../broker.ts'
import type { Pinning } from '../../domain/pinned-tool.ts'
import type { Worker } from '../../domain/worker.ts'

/**
 * What happens when the definition of one of the worker's tools changes. Modules are the operator's own files; without a
 * setting, nothing is pinned in development, and definitions that administrators wrote themselves apply.
 */
export function pinningOf({ backends, settings: { development } }: Broker, worker: Worker): Pinning {
  if (backends.of(worker).isInProcess) return 'off'
  const { type, pinning, settings } = worker
  if (pinning !== undefined) return pinning
  if (development) return 'off'
  const isWrittenHere = type === 'openapi' && settings.url === undefined
  return type === 'http' || isWrittenHere ? 'record' : 'hold'
}
