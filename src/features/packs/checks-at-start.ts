import type { FeatureJobs } from '../feature.ts'
import { packSettings } from './settings.ts'
import { ownPacks } from './wire-packs.ts'

/** A process that has a folder of own packs reads it when it starts, and logs what cannot be used. */
export const packJobs: FeatureJobs = {
  begin(broker) {
    const folder = broker.settings.of(packSettings)
    const read = folder === undefined ? Promise.resolve() : logPacks()
    return { jobs: [], close: () => read }

    async function logPacks(): Promise<void> {
      const { packs, faults } = await ownPacks(broker)
      if (packs.length > 0) broker.log.info({ packs: packs.map(({ id }) => id) }, 'own tool packs were read')
      for (const [name, messages] of faults)
        broker.log.warn({ pack: name, faults: messages }, 'a tool pack of GATEPASS_PACKS cannot be used')
    }
  },
}
