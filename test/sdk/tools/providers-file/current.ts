import { BUILT_IN_IDS, builtIn } from '../../../../src/providers/catalogue/registry.ts'
import { providersFile } from './generate.ts'

export const PROVIDERS_FILE = 'src/sdk/tools/providers.ts'

export function currentProvidersFile(): string {
  return providersFile(BUILT_IN_IDS.flatMap((id) => builtIn(id) ?? []))
}
