import { readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import * as library from '../../../../src/sdk/tools/index.ts'
import { currentModuleFile, currentProvidersFile, MODULE_FILE, mostUsed, PROVIDERS_FILE } from './current.ts'
import { functionName } from './generate.ts'

describe('the providers of the tool author’s library', () => {
  test(`${PROVIDERS_FILE} is what \`npm run tool-providers\` writes`, async () => {
    expect(await readFile(PROVIDERS_FILE, 'utf8')).toBe(currentProvidersFile())
  })

  test(`${MODULE_FILE} is what it writes, with every name of the library`, async () => {
    expect(await readFile(MODULE_FILE, 'utf8')).toBe(await currentModuleFile())
  })

  test.each(mostUsed().map(({ id, provider }) => [id, provider.displayName]))(
    '%s has a function, which names it with the scopes',
    (id, displayName) => {
      const name = functionName(displayName)
      const make = Reflect.get(library, name)
      expect(make({ scopes: ['a', 'b'] })).toEqual({ provider: id, scopes: ['a', 'b'] })
      expect(make()).toEqual({ provider: id, scopes: [] })
    },
  )
})
