import type { Config } from '../../config.ts'
import type { Check } from '../../diagnosis/check.ts'
import { packSettings } from './settings.ts'
import { readOwnPacks } from './wire-packs.ts'

/** Checks that the operator's own packs can be used. */
export async function checkPacks(config: Config): Promise<Check[]> {
  const folder = config.of(packSettings)
  if (folder === undefined) return []
  const { packs, faults } = await readOwnPacks(folder)
  const checks: Check[] = [...faults].map(([name, messages]) => ({
    name: name === '' ? 'tool packs' : `tool pack ${name}`,
    status: 'warning',
    message: messages.join(' '),
    fix: 'Correct the file (`gatepass packs check <folder>` names all faults), then restart Gatepass.',
  }))
  const ids = packs.map(({ id }) => id).join(', ')
  return [
    ...(packs.length > 0
      ? [{ name: 'tool packs', status: 'ok' as const, message: `own packs: ${ids}` }]
      : []),
    ...checks,
  ]
}
