import { globSync, readFileSync } from 'node:fs'
import { type Entry, isAppForms, isPlural, PAGES } from '../../../src/http/pages/texts/read-texts.ts'

const PAGE_TEXTS = 'src/http/pages/texts'
const FEATURES = globSync('src/features/*/texts/en.json')
  .map((file) => file.split('/')[2] ?? '')
  .sort()

/** The folder of each group of texts. */
const FOLDERS = new Map([
  ...PAGES.map((page) => [page as string, `${PAGE_TEXTS}/${page}`] as const),
  ...FEATURES.map((feature) => [feature, `src/features/${feature}/texts`] as const),
])
export const GROUPS: readonly string[] = [...FOLDERS.keys()]

/** The JSON of a group of texts in one language, as a translator writes it. */
export function textsFile(group: string, language: string): Entry {
  return JSON.parse(readFileSync(`${FOLDERS.get(group)}/${language}.json`, 'utf8'))
}

/** The names of the placeholders in a sentence, each once. */
export function placeholdersOf(sentence: string): string[] {
  return [...new Set([...sentence.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name))]
}

/** The modules that type the texts, by their files: TypeScript does not see the placeholders in the strings of a JSON file. */
export function textsModules(): ReadonlyMap<string, string> {
  const pages = Object.fromEntries(PAGES.map((page) => [page, textsFile(page, 'en')]))
  return new Map([
    [`${PAGE_TEXTS}/generated/texts.ts`, textsModule('Texts', pages, '../text.ts')],
    ...FEATURES.map((feature) => {
      const type = `${feature.slice(0, 1).toUpperCase()}${feature.slice(1)}Texts`
      const module = textsModule(type, textsFile(feature, 'en'), '../../../http/pages/texts/text.ts')
      return [`src/features/${feature}/generated/texts.ts`, module] as const
    }),
  ])
}

function textsModule(name: string, entry: Entry, kinds: string): string {
  const type = typeOf(entry)
  const used = ['AppSentence', 'CountSentence', 'Sentence'].filter((one) =>
    new RegExp(`\\b${one}\\b`).test(type),
  )
  return [
    '// The keys and the placeholders of the English texts, made by `npm run page-texts`.',
    `import type { ${used.join(', ')} } from '${kinds}'\n`,
    `export interface ${name} ${type}\n`,
  ].join('\n')
}

function typeOf(entry: Entry): string {
  if (typeof entry === 'string') {
    const names = placeholdersOf(entry)
    return names.length === 0 ? 'string' : `Sentence<${union(names)}>`
  }
  if (Array.isArray(entry)) return 'readonly string[]'
  if (isPlural(entry)) return 'CountSentence'
  if (isAppForms(entry)) {
    const others = placeholdersOf(entry.withApp).filter((name) => name !== 'app')
    return others.length === 0 ? 'AppSentence' : `AppSentence<${union(others)}>`
  }
  const members = Object.entries(entry).map(([key, inner]) => `readonly ${key}: ${typeOf(inner)}`)
  return `{\n${members.join('\n').replaceAll(/^/gm, '  ')}\n}`
}

function union(names: readonly string[]): string {
  return names.map((name) => `'${name}'`).join(' | ')
}
