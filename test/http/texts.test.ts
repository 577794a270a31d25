import { Hono } from 'hono'
import { expect, test } from 'vitest'
import { LANGUAGES } from '../../src/domain/languages.ts'
import { wordsFor } from '../../src/http/pages/texts/language-of.ts'
import { plural } from '../../src/http/pages/texts/plural.ts'
import { wordsOf } from '../../src/http/pages/texts/words.ts'

// The catalogues of the pages that users see. A missing text does not compile; the rest is here.

/** Every text of a catalogue by its path. A function is called with a name of its own for each value. */
async function textsOf(texts: object, path = ''): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  for (const [key, value] of Object.entries(texts)) {
    const here = path === '' ? key : `${path}.${key}`
    if (typeof value === 'string') found.set(here, value)
    else if (typeof value === 'function')
      for (const values of [
        ['«1»', '«2»'],
        [undefined, '«2»'],
      ])
        found.set(`${here}(${values.map(String)})`, String(await value(...values)))
    else for (const [inner, text] of await textsOf(value, here)) found.set(inner, text)
  }
  return found
}

/** Texts whose first value may not be left out, and those that are the same word in several languages. */
const SAME_IN_SOME =
  /detail\.scopes|connect\.support|minutesLeft|facts\.(application|version|mode)|start\.production/

test.each(LANGUAGES.filter((one) => one !== 'en'))('%s has every text, of its own', async (language) => {
  const english = await textsOf(wordsOf('en').texts)
  const own = await textsOf(wordsOf(language).texts)
  expect([...own.keys()]).toEqual([...english.keys()])
  for (const [path, text] of own) {
    expect(text.trim(), path).not.toBe('')
    if (SAME_IN_SOME.test(path)) continue
    const letters = (one = '') => one.replaceAll(/«\d»|undefined|NaN/g, '')
    expect(letters(text), path).not.toBe(letters(english.get(path)))
    // each value that the English sentence has is in the translation too
    for (const value of english.get(path)?.match(/«\d»/g) ?? []) expect(text, path).toContain(value)
  }
})

test('French has an unbreakable space before and inside its double punctuation', async () => {
  for (const [path, text] of await textsOf(wordsOf('fr').texts))
    expect(text.replaceAll(/<[^>]*>|«\d»/g, ''), path).not.toMatch(/ [;:?!»]|« |[a-zé][;?!»]/)
})

test('numbers, dates and lists are written as the language writes them', () => {
  expect(wordsOf('de').number(1234.5)).toBe('1.234,5')
  expect(wordsOf('ja').date(1_795_305_601)).toBe('2026年11月22日')
  expect(wordsOf('en').time(1_795_305_601)).toMatch(/November 22, 2026 at 12:00 AM UTC/)
  expect(wordsOf('fr').list(['a', 'b', 'c'])).toBe('a, b et c')
  expect(plural('pl', 5, { one: '# plik', few: '# pliki', many: '# plików', other: '# pliku' })).toBe(
    '5 plików',
  )
  expect(plural('fr', 0, { one: '# minute', other: '# minutes' })).toBe('0 minute')
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
