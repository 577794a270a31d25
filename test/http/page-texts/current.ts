import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Entry, isAppForms, isPlural, PAGES } from '../../../src/http/pages/texts/read-texts.ts'

const FOLDER = new URL('../../../src/http/pages/texts/', import.meta.url)

export const TEXTS_FILE = fileURLToPath(new URL('generated/texts.ts', FOLDER))

/** The JSON of a group of pages in one language, as a translator writes it. */
export function textsFile(page: string, language: string): Entry {
  return JSON.parse(readFileSync(new URL(`${page}/${language}.json`, FOLDER), 'utf8'))
}

/** The names of the placeholders in a sentence, each once. */
export function placeholdersOf(sentence: string): string[] {
  return [...new Set([...sentence.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name))]
}

/** The module that types the texts: TypeScript does not see the placeholders in the strings of a JSON file. */
export function textsModule(): string {
  const pages = Object.fromEntries(PAGES.map((page) => [page, textsFile(page, 'en')]))
  return [
    '// The keys and the placeholders of the English texts, made by `npm run page-texts`.',
    "import type { AppSentence, CountSentence, Sentence } from '../text.ts'\n",
    `export interface Texts ${typeOf(pages)}\n`,
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
