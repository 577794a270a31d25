import type { Broker } from '../../../src/broker.ts'
import { codeContext } from '../../../src/features/code/store.ts'
import { pausedCode } from './fixtures.ts'

/** Adds a run of code that waits for its user. */
export async function addPausedCode({ store, sealer }: Broker, projectId: string): Promise<void> {
  const paused = pausedCode({ projectId, expiresAt: 5_000_000_000 })
  const state = sealer.seal('the state', codeContext('pausedCode', 'state', { id: paused.id, projectId }))
  await store.pausedCode.add({ ...paused, state })
}
