import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { definitionTexts } from '../../src/providers/catalogue/definition-texts.ts'
import { findLogo } from '../../src/providers/catalogue/logos.ts'
import { builtIn, builtInIds, findBuiltInByEndpoints } from '../../src/providers/catalogue/registry.ts'
import { englishSentence } from '../../src/providers/catalogue/scope-sentences.ts'
import { catalogueEntries } from '../../src/providers/catalogue/search.ts'
import { type Definition, readDefinition } from '../../src/providers/definition/read-definition.ts'
import { endpointsOf } from '../../src/providers/provider.ts'
import { environmentName } from '../../src/services/environment-client.ts'

/** A definition with its file's text, and the JSON of it. */
interface Shipped {
  readonly id: string
  readonly json: {
    readonly id: string
    readonly oauth2: Readonly<Record<string, unknown>>
    readonly other_endpoints?: Readonly<Record<string, readonly string[]>>
    readonly shares_endpoints_with?: string
  }
  readonly definition: Definition
}

const shipped: readonly Shipped[] = [...definitionTexts()].map(([id, text]) => {
  const json = JSON.parse(text)
  return { id, json, definition: readDefinition(json) }
})
const rows = shipped.map((one) => [one.id, one] as const)

/** All URLs of the file, by their place. */
function urlsIn(value: unknown, path = ''): (readonly [path: string, url: string])[] {
  if (typeof value === 'string') return /^https?:/i.test(value) ? [[path, value]] : []
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) => urlsIn(inner, `${path}.${name}`))
}

describe('a definition of the catalogue', () => {
  test.each(rows)(
    '%s says where its facts are from, and when they were checked',
    (id, { definition, json }) => {
      const { facts } = definition
      expect(json.id).toBe(id)
      expect(facts.category).toBeDefined()
      expect(facts.sources?.length).toBeGreaterThan(0)
      expect(facts.verified).toBeTypeOf('boolean')
      expect(Number.isNaN(Date.parse(facts.checked ?? ''))).toBe(false)
      expect(json.oauth2).toHaveProperty('authorize_request.endpoint')
      expect(json.oauth2).toHaveProperty('token_request.endpoint')
    },
  )

  test.each(rows)(
    '%s has https URLs without fragments, and declares what they name',
    (_, { json, definition }) => {
      const declared = [...Object.keys(definition.provider.variables ?? {}), 'client_id']
      const keptValues = Object.entries(definition.provider.keptValues ?? {})
      const kept = keptValues.map(([name]) => name)
      const told = keptValues.flatMap(([name, { from }]) => (from === 'authorization_response' ? [name] : []))
      const namedAt = (path: string) => {
        if (path.startsWith('.oauth2.api')) return [...declared, ...kept]
        return path.startsWith('.oauth2.authorize_request') ? declared : [...declared, ...told]
      }
      for (const [path, url] of urlsIn({ oauth2: json.oauth2, other_endpoints: json.other_endpoints })) {
        // scopes may be URLs, and patterns look like some
        if (/scope|pattern|issuer/.test(path)) continue
        expect(url, path).toMatch(/^https:\/\/[^#\s]+$/)
        for (const [, name] of url.matchAll(/\{\{(\w+)\}\}/g)) expect(namedAt(path), path).toContain(name)
      }
      for (const url of Object.values(endpointsOf(definition.provider)))
        expect(new URL(url).protocol).toBe('https:')
    },
  )

  test.each(rows)('%s explains scopes, variables and its registration in words', (_, { definition }) => {
    const { facts, provider } = definition
    for (const [scope, meaning] of Object.entries(facts.scopes ?? {})) {
      expect(scope).toMatch(/^[\x21\x23-\x5b\x5d-\x7e]+$/)
      const sentence = englishSentence(meaning)
      expect(sentence, scope).toMatch(/^[A-Z][^<>]{2,}[^.]$/)
      // only how long the access lasts has no level
      const level = typeof meaning === 'string' ? undefined : meaning.level
      expect(level === undefined, scope).toBe(/^Keep this access/.test(sentence))
      if (level === 'read')
        expect(sentence, scope).toMatch(
          /^(?:See|Read|Know|Search|Download)(?!.*\b(?:and|or) (?:change|delete|send)\b)/,
        )
    }
    for (const [name, { label, example, oneOf }] of Object.entries(provider.variables ?? {}))
      expect([name, label && (example ?? oneOf?.[0])]).toEqual([name, expect.any(String)])
    if (facts.registration !== undefined) {
      expect(facts.registration.steps?.length).toBeGreaterThan(0)
      expect(Object.keys(facts.registration.fields ?? {})).toEqual([
        'redirect_uri',
        'client_id',
        'client_secret',
      ])
    }
    if (facts.logo !== undefined) expect(findLogo(facts.logo)?.path).toMatch(/^[Mm][\d\w .,-]+$/)
  })

  test.each(rows.filter(([, { json }]) => json.shares_endpoints_with !== undefined))(
    '%s shares its endpoints with a definition that has them',
    (_, { json, definition }) => {
      const other = builtIn(json.shares_endpoints_with ?? '')
      expect(other?.endpoints.authorization).toEqual(definition.endpoints.authorization)
      expect(other?.endpoints.token).toEqual(definition.endpoints.token)
    },
  )
})

describe('the definitions together', () => {
  test('no two have one name, and none has two in the environment', () => {
    const names = shipped.flatMap(({ id, definition }) => [id, ...(definition.facts.also_known_as ?? [])])
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([])
    const variables = builtInIds().map(environmentName)
    expect(variables.filter((name, at) => variables.indexOf(name) !== at)).toEqual([])
  })

  test('the endpoints of each one lead to it alone, so that no order decides', () => {
    const others = shipped.flatMap(({ id, json, definition: { provider } }) => {
      if (json.shares_endpoints_with !== undefined) return []
      const found = findBuiltInByEndpoints(
        provider.authorizationRequest.endpoint,
        provider.tokenRequest.endpoint,
      )
      return found === undefined || found.builtIn.id === id ? [] : [[id, found.builtIn.id]]
    })
    expect(others).toEqual([])
    const fixed = shipped.filter(({ definition, json }) => {
      const hosts = JSON.stringify([definition.endpoints.authorization, definition.endpoints.token])
      return !/\/\/[^/"]*\{/.test(hosts) && json.shares_endpoints_with === undefined
    })
    const pairs = fixed.map(({ definition: { endpoints } }) =>
      JSON.stringify([endpoints.authorization, endpoints.token]),
    )
    expect(pairs.filter((pair, at) => pairs.indexOf(pair) !== at)).toEqual([])
  })

  test('the counts are those of docs/providers.md', () => {
    const entries = catalogueEntries()
    const methods = Map.groupBy(shipped, ({ definition }) => definition.provider.tokenRequest.authMethod)
    const counts = [
      ['definitions', entries.length],
      ['verified', entries.filter((one) => one.isVerified).length],
      ['unverified', entries.filter((one) => !one.isVerified).length],
      [
        'with words for scopes',
        shipped.filter(({ definition }) => definition.facts.scopes !== undefined).length,
      ],
      [
        'with a page where clients are registered',
        shipped.filter(({ definition }) => definition.facts.registration !== undefined).length,
      ],
      [
        'with variables',
        shipped.filter(({ definition }) => definition.provider.variables !== undefined).length,
      ],
      ...[...methods].map(([method, all]) => [`\`${method}\``, all.length] as const).sort(),
    ] as const
    const table = counts.map(([what, count]) => `| ${what} | ${count} |`).join('\n')
    console.info(table)
    expect(readFileSync(new URL('../../docs/providers.md', import.meta.url), 'utf8')).toContain(table)
    expect(entries.filter((one) => one.isVerified).length).toBeGreaterThanOrEqual(300)
  })

  // the lists of Arcade, Auth0 and better-auth, without what no longer exists
  const LISTED =
    'airtable amazon apple asana atlassian attio baidu basecamp bitbucket bitly box calendly clickup cognito digitalocean discord docomo dribbble dropbox dwolla exactonline facebook figma freshbooks github gitlab google heroku hubspot huggingface imgur instagram kakao kick line linear linkedin mailchimp microsoft microsoft-powerbi miro naver notion pagerduty paybin paypal pinterest planningcenter polar quickbooks railway reddit roblox salesforce shopify slack soundcloud spotify square stripe ticktick tiktok tumblr twitch untappd vercel vimeo vk wechat weibo wordpress x xero yahoo yammer yandex zendesk zoho zoom'
  test.each(LISTED.split(' '))('%s, which others know too, is among them', (id) => {
    expect(builtIn(id)?.id).toBe(id)
  })
})
