import type { Broker } from '../../broker.ts'
import { BrokerError } from '../../domain/errors.ts'
import { loadFeatures } from '../../features/load-features.ts'
import { type ShownTools, shownTools } from './shown-tools.ts'

const [selections] = await loadFeatures('toolSelections')

/** A change of one of these nouns may change what is shown. */
export const SHOWN_NOUNS: readonly string[] = ['tool', 'provider', ...(selections ? [selections.noun] : [])]

/** The tools at `/mcp`, or at `/mcp/{id}`. Throws `not_found` for an unknown id. */
export async function toolsAt(broker: Broker, projectId: string, id?: string): Promise<ShownTools> {
  if (id === undefined) return shownTools(broker, projectId)
  if (selections === undefined) throw new BrokerError('not_found', 'There is no such toolset.')
  return shownTools(broker, projectId, await selections.find(broker, projectId, id))
}
