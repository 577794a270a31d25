import { readFileSync } from 'node:fs'
import { html, raw } from 'hono/html'
import type { Texts } from './generated/texts.ts'
import type { Text } from './text.ts'

// The texts are JSON: a folder for each group of pages, in it a file for each language. A string is a text or, with
// placeholders such as {provider}, a sentence.

/** What a JSON file has at one key. */
export type Entry = string | Plural | AppForms | readonly Entry[] | Group
interface Group {
  readonly [key: string]: Entry
}
/** The forms of a sentence, by the plural categories of the language (CLDR). Each has the number as {count}. */
export type Plural = { readonly other: string } & { readonly [form in Intl.LDMLPluralRule]?: string }
/** The forms of a sentence with and without the name of the application, which is {app}. */
export interface AppForms {
  readonly withApp: string
  readonly withoutApp: string
}

export const PAGES = ['clients', 'connect', 'endings', 'start'] as const satisfies (keyof Texts)[]

/** A placeholder, or a tag of the only markup that a sentence may have. The rest of a sentence is escaped. */
export const TOKEN = /(\{\w+\}|<\/?strong>|<span class="whole">|<\/span>)/

type Values = Readonly<Record<string, Text | number | undefined>>

/** The texts of all pages in one language. */
export function readTexts(language: string): Texts {
  const pages = PAGES.map((page) => [page, readGroup(new URL(`./${page}/`, import.meta.url), language)])
  return Object.fromEntries(pages) // a test holds the files to the type
}

function readGroup(folder: URL, language: string): unknown {
  return toTexts(JSON.parse(readFileSync(new URL(`${language}.json`, folder), 'utf8')), language)
}

/**
 * The texts of a folder in the language of a page, read when a page first needs them. `Group` is their type, which
 * `npm run page-texts` makes.
 */
export function textsIn<Group>(folder: URL): (words: { readonly language: string }) => Group {
  const groups = new Map<string, Group>()
  return ({ language }) => {
    const known = groups.get(language)
    if (known !== undefined) return known
    const group = readGroup(folder, language) as Group // a test holds the files to the type
    groups.set(language, group)
    return group
  }
}

/** The strings of the entry as texts, and its sentences as functions of their values. */
export function toTexts(entry: Entry, language: string): unknown {
  const numbers = new Intl.NumberFormat(language)
  const rules = new Intl.PluralRules(language)
  return textsOf(entry)

  function textsOf(source: Entry): unknown {
    if (typeof source === 'string') return TOKEN.test(source) ? sentence(source) : source
    if (Array.isArray(source)) return source.map(textsOf)
    if (isPlural(source)) return ({ count }: { count: number }) => form(source, count)({ count })
    if (isAppForms(source)) {
      const [named, unnamed] = [sentence(source.withApp), sentence(source.withoutApp)]
      return (values: Values) => (values.app === undefined ? unnamed : named)(values)
    }
    return Object.fromEntries(Object.entries(source).map(([key, inner]) => [key, textsOf(inner)]))
  }

  function form(forms: Plural, count: number) {
    return sentence(forms[rules.select(count)] ?? forms.other)
  }

  function sentence(text: string) {
    const pieces = text.split(TOKEN)
    return (values: Values) =>
      html`${pieces.map((piece, index) => {
        if (index % 2 === 0) return piece
        if (!piece.startsWith('{')) return raw(piece)
        const value = values[piece.slice(1, -1)]
        return typeof value === 'number' ? numbers.format(value) : value
      })}`
  }
}

export function isPlural(entry: Entry): entry is Plural {
  return typeof entry === 'object' && 'other' in entry && typeof entry.other === 'string'
}

export function isAppForms(entry: Entry): entry is AppForms {
  return typeof entry === 'object' && 'withApp' in entry
}
