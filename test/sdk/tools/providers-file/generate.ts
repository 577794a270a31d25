import type { Definition } from '../../../../src/providers/definition/read-definition.ts'

/** The text of `src/sdk/generated/providers.ts` for these providers. */
export function providersFile(providers: readonly Definition[]): string {
  const parts = providers.map(functionOf)
  return [
    HEADER,
    ...parts.map(({ scopesType }) => scopesType).filter((text) => text !== undefined),
    ...parts.map(({ source }) => source),
  ].join('\n')
}

const HEADER = `// Written by \`npm run tool-providers\` from src/providers/catalogue; do not edit.

import type { AuthProvider } from '../tools/auth.ts'

/** A name that is known, or any other. */
type Scopes<Known extends string> = { readonly scopes?: readonly (Known | (string & {}))[] }

function provider<const Name extends string>(name: Name, options: Scopes<string> = {}): AuthProvider<Name> {
  return { provider: name, scopes: options.scopes ?? [] }
}
`

function functionOf(builtIn: Definition): { readonly source: string; readonly scopesType?: string } {
  const { id } = builtIn
  const { displayName } = builtIn.provider
  const name = functionName(displayName)
  const scopes = knownScopes(builtIn)
  const type = scopes.length > 0 ? `Scopes<${name}Scope>` : 'Scopes<never>'
  return {
    source: `/** ${displayName}: the provider \`${id}\`. Without scopes, its default. */\n${signature(name, type, id)} {\n  return provider('${id}', options)\n}\n`,
    ...(scopes.length > 0 && {
      scopesType: unionOf(`${name}Scope`, scopes),
    }),
  }
}

/** \`Microsoft Power BI\` becomes \`MicrosoftPowerBI\`. */
export function functionName(displayName: string): string {
  const words = displayName.replaceAll(/(?<=[ (])[a-z]/g, (letter) => letter.toUpperCase())
  return words.replaceAll(/[^A-Za-z0-9]/g, '')
}

/** A union type, on one line if it fits, as the formatter writes it. */
function unionOf(name: string, members: readonly string[]): string {
  const quoted = members.map((one) => `'${one}'`)
  const line = `export type ${name} = ${quoted.join(' | ')}`
  return line.length <= 110
    ? `${line}\n`
    : `export type ${name} =\n${quoted.map((one) => `  | ${one}`).join('\n')}\n`
}

/** The scopes that the catalogue names. */
function knownScopes({ provider, offlineAccess, facts }: Definition): string[] {
  const { defaultScopes, scopeAliases = {}, scopeImplies = {} } = provider
  const all = [
    ...defaultScopes,
    ...Object.keys(facts.scopes ?? {}).filter((scope) => !scope.includes('*')), // patterns
    ...(offlineAccess?.scopes ?? []),
    ...Object.entries(scopeAliases).flat(),
    ...Object.entries(scopeImplies).flatMap(([scope, implied]) => [scope, ...implied]),
  ]
  return [...new Set(all)].sort()
}

/** In the form that the formatter gives it. */
function signature(name: string, type: string, id: string): string {
  const [begin, parameter, end] = [
    `export function ${name}(`,
    `options?: ${type}`,
    `): AuthProvider<'${id}'>`,
  ]
  const line = begin + parameter + end
  return `${line} {`.length <= 110 ? line : `${begin}\n  ${parameter},\n${end}`
}

/** The text of `bin/tools.js`, which exports these names: an ES module cannot re-export all of one that it imports by a condition. */
export function moduleFile(names: readonly string[]): string {
  const lines: string[][] = [[]]
  for (const name of names) {
    const last = lines.at(-1) ?? []
    if (exportOf([...last, name]).length <= 110) last.push(name)
    else lines.push([name])
  }
  return `${MODULE_HEADER}${lines.map((line) => `${exportOf(line)}\n`).join('')}`
}

function exportOf(names: readonly string[]): string {
  return `export const { ${names.join(', ')} } = module`
}

const MODULE_HEADER = `// Written by \`npm run tool-providers\` from src/sdk/tools; do not edit.
// The module \`gatepass/tools\`: in a checkout the sources, in a published package the files built from them.
import { existsSync } from 'node:fs'

const source = new URL('../src/sdk/tools/index.ts', import.meta.url)
const built = new URL('../dist/sdk/tools/index.js', import.meta.url)
const module = await import(existsSync(source) ? source.href : built.href)

`
