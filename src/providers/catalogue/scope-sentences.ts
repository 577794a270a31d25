import { existsSync, readFileSync } from 'node:fs'
import type { DefinitionInput } from '../definition/definition-schema.ts'

/** What a scope lets an application do: look, make changes, or control everything. */
export type ScopeLevel = 'read' | 'write' | 'admin'

/** What a scope means, in one language. */
export interface ScopeSentence {
  readonly text: string
  /** The language of the text, which may be English where a translation is missing. */
  readonly language: string
  readonly level?: ScopeLevel
  readonly sensitive: boolean
}

export type ScopeWords = NonNullable<DefinitionInput['scopes']>

/** A scope, with its sentence where one is known. */
export interface DescribedScope {
  readonly scope: string
  readonly sentence: ScopeSentence | undefined
}

/** What these two scopes mean at every server (OpenID Connect Core 1.0 sections 3.1.2.1 and 11). */
const STANDARD: ScopeWords = {
  openid: { text: 'Know who you are', level: 'read' },
  offline_access: 'Keep this access while you are away',
}

/** What these scopes mean beside `openid` (OpenID Connect Core 1.0 section 5.4). Other servers have them for other things. */
const CLAIMS: ScopeWords = {
  profile: { text: 'See your profile', level: 'read' },
  email: { text: 'See your email address', level: 'read' },
  address: { text: 'See your address', level: 'read' },
  phone: { text: 'See your phone number', level: 'read' },
}

/** The scopes that every definition has words for, for the test of the translations. */
export const SHARED_WORDS: ScopeWords = { ...STANDARD, ...CLAIMS }

/**
 * What the scopes of one token mean, as the definition of their provider says: by the exact name, else by the longest
 * pattern that fits, in which each `*` fits any characters, else as OpenID Connect says.
 */
export function describeScopes(
  words: ScopeWords = {},
  scopes: readonly string[],
  language: string,
): DescribedScope[] {
  const shared = scopes.includes('openid') ? SHARED_WORDS : STANDARD
  return scopes.map((scope) => {
    const said = wordsOf(words, scope) ?? (Object.hasOwn(shared, scope) ? shared[scope] : undefined)
    if (said === undefined) return { scope, sentence: undefined }
    const { text, level, sensitive = false } = typeof said === 'string' ? { text: said } : said
    return {
      scope,
      sentence: { ...inLanguage(text, language), sensitive, ...(level !== undefined && { level }) },
    }
  })
}

function wordsOf(words: ScopeWords, scope: string): ScopeWords[string] | undefined {
  return Object.hasOwn(words, scope) ? words[scope] : words[longestPattern(words, scope) ?? '']
}

/** The English sentence of what a definition says of a scope. */
export function englishSentence(said: ScopeWords[string]): string {
  const text = typeof said === 'string' ? said : said.text
  return typeof text === 'string' ? text : text.en
}

function inLanguage(
  text: string | { readonly en: string; readonly [language: string]: string },
  language: string,
): Pick<ScopeSentence, 'text' | 'language'> {
  const english = typeof text === 'string' ? text : text.en
  const own = typeof text !== 'string' && Object.hasOwn(text, language) ? text[language] : undefined
  const translated = own ?? (language === 'en' ? undefined : translationsOf(language).get(english))
  return translated === undefined ? { text: english, language: 'en' } : { text: translated, language }
}

function longestPattern(words: ScopeWords, scope: string): string | undefined {
  return Object.keys(words)
    .filter((pattern) => pattern.includes('*') && fits(pattern.split('*'), scope))
    .toSorted((a, b) => b.length - a.length)[0]
}

/** Whether the parts occur in the text in their order, the first at its start and the last at its end. */
function fits([first = '', ...others]: readonly string[], text: string): boolean {
  if (!text.startsWith(first)) return false
  const last = others.at(-1) ?? ''
  let from = first.length
  for (const part of others.slice(0, -1)) {
    const found = text.indexOf(part, from)
    if (found < 0) return false
    from = found + part.length
  }
  return text.length - last.length >= from && text.endsWith(last)
}

const translations = new Map<string, ReadonlyMap<string, string>>()

/** The catalogue's sentences in this language, by the English one. A file is read when its language is first asked for. */
export function translationsOf(language: string): ReadonlyMap<string, string> {
  const known = translations.get(language)
  if (known !== undefined) return known
  const file = new URL(`./scope-sentences/${language}.json`, import.meta.url)
  const read = /^[a-z]{2}$/.test(language) && existsSync(file) ? readFileSync(file, 'utf8') : '{}'
  const made = new Map(Object.entries(JSON.parse(read) as Record<string, string>)) // files of this folder
  translations.set(language, made)
  return made
}
