import { builtIn, builtInIds } from '../../../../src/providers/catalogue/registry.ts'
import type { Definition } from '../../../../src/providers/definition/read-definition.ts'
import { moduleFile, providersFile } from './generate.ts'

export const PROVIDERS_FILE = 'src/sdk/generated/providers.ts'
export const MODULE_FILE = 'bin/tools.js'

export function currentProvidersFile(): string {
  return providersFile(mostUsed())
}

/** Imports the library when it is called, which is after the file of its providers was written. */
export async function currentModuleFile(): Promise<string> {
  return moduleFile(Object.keys(await import('../../../../src/sdk/tools/index.ts')).sort())
}

/** Providers whose registration the catalogue describes. The others have no function; `provider('…')` names them. */
export function mostUsed(): readonly Definition[] {
  return builtInIds()
    .flatMap((id) => builtIn(id) ?? [])
    .filter(({ facts }) => facts.registration !== undefined)
}
