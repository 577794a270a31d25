import { resolve } from 'node:path'
import { defineSettings } from '../../services/feature-settings.ts'
import { findStats } from '../../settings/find-stats.ts'

/** The folder with the operator's own packs. */
export const packSettings = defineSettings<'GATEPASS_PACKS', string | undefined>({
  variables: ['GATEPASS_PACKS'],
  read({ setting, addFault }) {
    const given = setting('GATEPASS_PACKS')
    if (given === undefined) return undefined
    const folder = resolve(given)
    if (findStats(folder)?.isDirectory() !== true)
      addFault(
        'GATEPASS_PACKS',
        `names ${folder}, which is not a folder: make it, with a folder for each pack.`,
      )
    return folder
  },
  show: (folder) => [{ name: 'GATEPASS_PACKS', value: folder ?? 'none' }],
})
