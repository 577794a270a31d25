import { builtIn, builtInIds } from '../../../../src/providers/catalogue/registry.ts'
import type { Definition } from '../../../../src/providers/definition/read-definition.ts'
import { providersFile } from './generate.ts'

export const PROVIDERS_FILE = 'src/sdk/generated/providers.ts'

export function currentProvidersFile(): string {
  return providersFile(mostUsed())
}

/** Providers whose registration the catalogue describes. The others have no function; `provider('…')` names them. */
export function mostUsed(): readonly Definition[] {
  return builtInIds()
    .flatMap((id) => builtIn(id) ?? [])
    .filter(({ facts }) => facts.registration !== undefined)
}
