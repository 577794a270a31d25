import type { Broker } from '../../../src/broker.ts'
import { chainContext } from '../../../src/features/chains/store.ts'
import { chain } from './fixtures.ts'

/** Adds a paused chain. */
export async function addPausedChain({ store, sealer }: Broker, projectId: string): Promise<void> {
  const paused = chain({ projectId, expiresAt: 5_000_000_000 })
  const state = sealer.seal('the state', chainContext('chains', 'state', { id: paused.id, projectId }))
  await store.chains.add({ ...paused, state })
}
