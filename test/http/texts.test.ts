import { readFileSync } from 'node:fs'
import { Hono } from 'hono'
import { describe, expect, test } from 'vitest'
import { LANGUAGES } from '../../src/domain/languages.ts'
import { wordsFor } from '../../src/http/pages/texts/language-of.ts'
import { type Entry, isPlural, type Plural, TOKEN, toTexts } from '../../src/http/pages/texts/read-texts.ts'
import type { CountSentence, Sentence } from '../../src/http/pages/texts/text.ts'
import { wordsOf } from '../../src/http/pages/texts/words.ts'
import { GROUPS, placeholdersOf, textsFile, textsModules } from './page-texts/current.ts'

// The texts of the pages that users see, in every language.

/** The entries of a language, by group. */
function entriesOf(language: string) {
  return Object.fromEntries(GROUPS.map((group) => [group, textsFile(group, language)]))
}

/** Every string by its path. */
function stringsOf(entry: Entry, path = ''): [string, string][] {
  if (typeof entry === 'string') return [[path, entry]]
  return Object.entries(entry).flatMap(([key, inner]) =>
    stringsOf(inner, path === '' ? key : `${path}.${key}`),
  )
}

/** The keys of the entry, with the placeholders of each sentence. All forms of a plural count as one sentence. */
function shapeOf(entry: Entry): unknown {
  if (typeof entry === 'string') return placeholdersOf(entry).sort()
  if (isPlural(entry)) return shapeOf(entry.other)
  return Object.fromEntries(Object.entries(entry).map(([key, inner]) => [key, shapeOf(inner)]))
}

function pluralsOf(entry: Entry): Plural[] {
  if (typeof entry === 'string') return []
  return isPlural(entry) ? [entry] : Object.values(entry).flatMap(pluralsOf)
}

test.each([...textsModules()])('the types of %s are made of the English texts', (file, module) => {
  expect(readFileSync(file, 'utf8')).toBe(module) // npm run page-texts
})

/** Texts that are the same word in several languages. */
const SAME_IN_SOME =
  /detail\.(scopes|tool)|connect\.support|facts\.(application|version|mode)|start\.production/

test.each(LANGUAGES.filter((one) => one !== 'en'))('%s has every text, of its own', (language) => {
  const own = entriesOf(language)
  expect(shapeOf(own)).toEqual(shapeOf(entriesOf('en')))
  const english = new Map(stringsOf(entriesOf('en')))
  for (const [path, text] of stringsOf(own)) {
    expect(text.trim(), path).not.toBe('')
    const letters = (one = '') => one.replaceAll(/\{\w+\}/g, '')
    if (!SAME_IN_SOME.test(path)) expect(letters(text), path).not.toBe(letters(english.get(path)))
  }
})

/** Pages count minutes, accounts and tools, never a million of them, for which some languages have one more form. */
const COUNTED = Array.from({ length: 1000 }, (_, count) => count)

describe.each(LANGUAGES)('in %s', (language) => {
  test('each sentence with a number has the forms of the language', () => {
    const rules = new Intl.PluralRules(language)
    const forms = new Set(COUNTED.map((count) => rules.select(count)))
    for (const plural of pluralsOf(entriesOf(language))) {
      expect(new Set(Object.keys(plural))).toEqual(forms)
      for (const form of Object.values(plural)) expect(placeholdersOf(form)).toEqual(['count'])
    }
  })

  test('no text has other markup than sentences may have, and every tag is closed', () => {
    for (const [path, text] of stringsOf(entriesOf(language))) {
      const pieces = text.split(TOKEN)
      const tags = pieces.filter((piece, index) => index % 2 === 1 && piece.startsWith('<'))
      expect(pieces.filter((_, index) => index % 2 === 0).join(''), path).not.toMatch(/[<>{}]|&\w+;/)
      expect(tags.join(''), path).toMatch(/^(<strong><\/strong>|<span class="whole"><\/span>)*$/)
    }
  })

  test('only the form with a name has the name of the application', () => {
    for (const [path, text] of stringsOf(entriesOf(language)))
      expect(placeholdersOf(text).includes('app'), path).toBe(path.endsWith('.withApp'))
  })
})

test('French has an unbreakable space before and inside its double punctuation', () => {
  for (const [path, text] of stringsOf(entriesOf('fr')))
    expect(text.replaceAll(/<[^>]*>|\{\w+\}/g, ''), path).not.toMatch(/ [;:?!»]|« |[a-zé][;?!»]/)
})

test('values are escaped, and so is markup that a sentence may not have', () => {
  const { hello } = toTexts({ hello: '<strong>{user}</strong> <b>&</b> {user}' }, 'en') as {
    hello: Sentence<'user'>
  }
  expect(String(hello({ user: '<i>{user}' }))).toBe(
    '<strong>&lt;i&gt;{user}</strong> &lt;b&gt;&amp;&lt;/b&gt; &lt;i&gt;{user}',
  )
})

test('numbers, dates and lists are written as the language writes them', () => {
  expect(wordsOf('de').number(1234.5)).toBe('1.234,5')
  expect(wordsOf('ja').date(1_795_305_601)).toBe('2026年11月22日')
  expect(wordsOf('en').time(1_795_305_601)).toMatch(/November 22, 2026 at 12:00 AM UTC/)
  expect(wordsOf('fr').list(['a', 'b', 'c'])).toBe('a, b et c')
  expect(String(wordsOf('fr').texts.connect.minutesLeft({ count: 0 }))).toMatch(/0 minute\.$/)
  const forms = { one: '{count} plik', few: '{count} pliki', many: '{count} plików', other: '{count} pliku' }
  const { files } = toTexts({ files: forms }, 'pl') as { files: CountSentence }
  expect([1, 3, 12_345].map((count) => String(files({ count })))).toEqual([
    '1 plik',
    '3 pliki',
    '12\u00a0345 plików',
  ])
})

const app = new Hono().get('/', (c) => {
  const asked = { language: c.req.query('of'), project: c.req.query('project') }
  return c.text(wordsFor(c, asked).language)
})

test.each([
  ['nothing', '/', undefined, 'en'],
  ['a header', '/', 'de-AT,de;q=0.9,en;q=0.8', 'de'],
  ['weights', '/', 'en;q=0.2, fr;q=0.7', 'fr'],
  ['a language that is refused', '/', 'de;q=0, ja;q=0.1', 'ja'],
  ['only unknown languages', '/', 'nl, *;q=0.5', 'en'],
  ['a region', '/', 'zh-Hant-TW', 'zh'],
  ['no header', '/?project=es', undefined, 'es'],
  ['a header and a project', '/?project=es', 'pt-BR', 'pt'],
  ['an authorization', '/?of=ja&project=es', 'pt-BR', 'ja'],
  ['the query', '/?lang=zh&of=ja&project=es', 'pt-BR', 'zh'],
  ['an unknown query', '/?lang=tlh', 'pt-BR', 'pt'],
  ['a header that is nonsense', '/', `;q=,,${'x'.repeat(2000)};q=9`, 'en'],
])('the language of %s', async (_, path, header, expected) => {
  const response = await app.request(
    path,
    header === undefined ? {} : { headers: { 'accept-language': header } },
  )
  expect(await response.text()).toBe(expected)
  expect(response.headers.get('content-language')).toBe(expected)
  expect(response.headers.get('vary')).toBe('Accept-Language')
})
