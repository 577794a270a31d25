import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { definitionTexts } from '../../src/providers/catalogue/definition-texts.ts'
import {
  describeScopes,
  englishSentence,
  type ScopeWords,
  SHARED_WORDS,
  translationsOf,
} from '../../src/providers/catalogue/scope-sentences.ts'
import { readDefinition } from '../../src/providers/definition/read-definition.ts'

const FOLDER = new URL('../../src/providers/catalogue/scope-sentences/', import.meta.url)
const english = new Set(
  [
    SHARED_WORDS,
    ...[...definitionTexts().values()].map((text) => readDefinition(JSON.parse(text)).facts.scopes ?? {}),
  ].flatMap((words) => Object.values(words).map(englishSentence)),
)

function findScopeSentence(words: ScopeWords | undefined, scope: string, language: string) {
  return describeScopes(words, [scope], language)[0]?.sentence
}

describe('the catalogue', () => {
  test('is translated into the languages of the pages', () => {
    expect(readdirSync(FOLDER).sort()).toEqual(
      ['de', 'es', 'fr', 'ja', 'pt', 'zh'].map((one) => `${one}.json`),
    )
  })

  test.each(['de', 'es', 'fr', 'ja', 'pt', 'zh'])('has every sentence in %s, and no other', (language) => {
    const own = translationsOf(language)
    expect([...english].filter((sentence) => !own.has(sentence))).toEqual([])
    expect([...own.keys()].filter((sentence) => !english.has(sentence))).toEqual([])
    for (const [sentence, text] of own) {
      expect(text, sentence).toMatch(/^\S[^<>]*[^.。\s]$/)
      expect(text.length, sentence).toBeLessThanOrEqual(200)
    }
    expect(Object.keys(JSON.parse(readFileSync(new URL(`${language}.json`, FOLDER), 'utf8')))).toHaveLength(
      own.size,
    )
  })
})

describe('how much a scope allows', () => {
  const scopesOf = (id: string) =>
    readDefinition(JSON.parse(definitionTexts().get(id) ?? '{}')).facts.scopes ?? {}

  test.each([
    // private code, secrets, money, whole accounts and private messages are marked
    ['docusign', 'user_write', 'admin', false],
    ['github', 'workflow', 'write', true],
    ['github', 'admin:public_key', 'admin', true],
    ['gitlab', 'read_repository', 'read', true],
    ['bitbucket', 'repository', 'read', true],
    ['heroku', 'read-protected', 'read', true],
    ['digitalocean', 'write', 'admin', true],
    ['google', 'https://www.googleapis.com/auth/cloud-platform', 'admin', true],
    ['google', 'https://www.googleapis.com/auth/documents.readonly', 'read', true],
    ['google', 'https://www.googleapis.com/auth/drive.file', 'write', false],
    ['google', 'https://www.googleapis.com/auth/gmail.labels', 'write', false],
    ['linkedin', 'rw_ads', 'write', true],
    ['linear', 'write', 'write', true],
    ['microsoft', 'Directory.AccessAsUser.All', 'admin', true],
    ['microsoft', 'Sites.ReadWrite.All', 'write', true],
    ['microsoft', 'User.Read', 'read', false],
    ['salesforce', 'web', 'admin', true],
    ['mollie', 'refunds.write', 'write', true],
    ['oura', 'heartrate', 'read', true],
    ['shopify', 'read_locations', 'read', false],
    ['slack', 'search:read.private', 'read', true],
    ['spotify', 'playlist-read-private', 'read', false],
    ['zendesk', 'write', 'admin', true],
  ])('%s: %s', (id, scope, level, sensitive) => {
    expect(findScopeSentence(scopesOf(id), scope, 'en')).toMatchObject({ level, sensitive })
  })

  test('what reaches money, private messages, keys or everything is marked, whatever its provider', () => {
    const unmarked = [...definitionTexts().keys()].flatMap((id) =>
      Object.entries(scopesOf(id)).flatMap(([scope, said]) => {
        const isMarked = typeof said !== 'string' && said.sensitive === true
        const isGrave =
          /private messages|repositories, private|(?<!See your) SSH keys|money|everything|in the name of others/
        return isGrave.test(englishSentence(said)) && !isMarked
          ? [`${id} ${scope}: ${englishSentence(said)}`]
          : []
      }),
    )
    expect(unmarked).toEqual([])
  })

  test.each([
    ['gitlab', 'gitlab-self-managed'],
    ['salesforce', 'salesforce-sandbox'],
  ])('is the same at %s and %s', (one, other) => {
    expect(scopesOf(other)).toEqual(scopesOf(one))
  })
})

describe('what a scope means', () => {
  const words = {
    repo: {
      text: { en: 'Read and change your code', de: 'Ihren Code lesen und ändern' },
      level: 'write',
      sensitive: true,
    },
    'repo:*': 'Something in repositories',
    'repo:*:read': { text: 'See your profile', level: 'read' },
    '*': 'Anything at all',
    'orders.*.v1.*': 'Orders of the first version',
  } as const

  test.each([
    ['repo', 'en', { text: 'Read and change your code', language: 'en', level: 'write', sensitive: true }],
    ['repo', 'de', { text: 'Ihren Code lesen und ändern', language: 'de', level: 'write', sensitive: true }],
    ['repo', 'fr', { text: 'Read and change your code', language: 'en', level: 'write', sensitive: true }],
    ['repo:status', 'en', { text: 'Something in repositories', language: 'en', sensitive: false }],
    ['repo:status:read', 'en', { text: 'See your profile', language: 'en', level: 'read', sensitive: false }],
    ['orders.eu.v1.all', 'en', { text: 'Orders of the first version', language: 'en', sensitive: false }],
    ['orders.v1.all', 'en', { text: 'Anything at all', language: 'en', sensitive: false }],
    ['*', 'en', { text: 'Anything at all', language: 'en', sensitive: false }],
  ])('%s in %s', (scope, language, expected) => {
    expect(findScopeSentence(words, scope, language)).toEqual(expected)
  })

  test('is not known of a scope that the definition does not describe', () => {
    expect(findScopeSentence({ repo: 'Code' }, 'repos', 'en')).toBeUndefined()
    expect(findScopeSentence({ 'a*a': 'Code' }, 'a', 'en')).toBeUndefined()
    expect(findScopeSentence({ repo: 'Code' }, '__proto__', 'en')).toBeUndefined()
    expect(findScopeSentence(undefined, 'repo', 'en')).toBeUndefined()
  })

  test('is known of the scopes of OpenID Connect, of some only beside openid', () => {
    const scopes = ['openid', 'profile', 'email', 'address', 'phone', 'offline_access']
    const texts = (asked: readonly string[], words?: ScopeWords) =>
      describeScopes(words, asked, 'en').map(({ sentence }) => sentence?.text)
    expect(texts(scopes)).toEqual([
      'Know who you are',
      'See your profile',
      'See your email address',
      'See your address',
      'See your phone number',
      'Keep this access while you are away',
    ])
    expect(texts(['profile', 'email', 'offline_access'])).toEqual([
      undefined,
      undefined,
      'Keep this access while you are away',
    ])
    expect(texts(['openid', 'email'], { email: 'Send mail' })).toEqual(['Know who you are', 'Send mail'])
  })

  test('a sentence of the catalogue is translated, one of an operator is as the operator wrote it', () => {
    const own = findScopeSentence({ x: 'See your profile' }, 'x', 'de')
    expect(own?.language).toBe('de')
    expect(findScopeSentence({ x: 'Count your sheep' }, 'x', 'de')).toMatchObject({
      text: 'Count your sheep',
      language: 'en',
    })
  })
})

test.each([
  [{ text: { de: 'Nur deutsch' } }, 'scopes.x'],
  [{ text: { en: 'A', DE: 'B' } }, 'scopes.x'],
  [{ text: 'A', level: 'all' }, 'scopes.x'],
  [{ text: 'A', danger: true }, 'scopes.x'],
])('a definition with %j is refused, by its member', (said, member) => {
  const text = definitionTexts().get('github') ?? ''
  expect(() => readDefinition({ ...JSON.parse(text), scopes: { x: said } })).toThrow(member)
})
