import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { definitionTexts } from '../../src/providers/catalogue/definition-texts.ts'
import { builtIn, builtInIds, findBuiltInByEndpoints } from '../../src/providers/catalogue/registry.ts'
import { describeScopes } from '../../src/providers/catalogue/scope-sentences.ts'
import { catalogueEntries } from '../../src/providers/catalogue/search.ts'
import { readDefinition } from '../../src/providers/definition/read-definition.ts'
import { isUserless } from '../../src/providers/provider-grant.ts'
import { environmentName } from '../../src/services/environment-client.ts'
import { DEFINITION_CHECKS, type Shipped } from './definition-checks.ts'

const shipped: readonly Shipped[] = [...definitionTexts()].map(([id, text]) => {
  const json = JSON.parse(text)
  return { id, json, definition: readDefinition(json) }
})

describe('a definition of the catalogue', () => {
  test.each(shipped)('$id', (one) => {
    for (const [promise, check] of Object.entries(DEFINITION_CHECKS))
      expect.soft(() => check(one), promise).not.toThrow()
  })
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
        provider.authorizationRequest?.endpoint,
        provider.tokenRequest?.endpoint,
      )
      return found === undefined || found.builtIn.id === id ? [] : [[id, found.builtIn.id]]
    })
    expect(others).toEqual([])
    const fixed = shipped.filter(({ definition, json }) => {
      const hosts = JSON.stringify([definition.endpoints.authorization, definition.endpoints.token])
      const isOwn =
        json.oauth2 !== undefined &&
        !isUserless(definition.provider) &&
        json.shares_endpoints_with === undefined
      return isOwn && !/\/\/[^/"]*\{/.test(hosts)
    })
    const pairs = fixed.map(({ definition: { endpoints } }) =>
      JSON.stringify([endpoints.authorization, endpoints.token]),
    )
    expect(pairs.filter((pair, at) => pairs.indexOf(pair) !== at)).toEqual([])
  })

  test('the counts are those of docs/guides/providers.md', () => {
    const entries = catalogueEntries()
    const ofOAuth = shipped.filter(({ json }) => json.oauth2 !== undefined)
    const userless = ofOAuth.filter(({ definition }) => isUserless(definition.provider))
    const methods = Map.groupBy(ofOAuth, ({ definition }) => definition.provider.tokenRequest?.authMethod)
    const counts = [
      ['definitions', entries.length],
      ['verified', entries.filter((one) => one.isVerified).length],
      ['unverified', entries.filter((one) => !one.isVerified).length],
      ['with typed credentials', shipped.filter(({ json }) => json.credentials !== undefined).length],
      ['with OAuth 1.0a', shipped.filter(({ json }) => json.oauth1 !== undefined).length],
      ['without a user', userless.length],
      ['a second way', shipped.filter(({ json }) => json.second_way_of !== undefined).length],
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
        shipped.filter(
          ({ json }) => (json.oauth2 ?? json.oauth1 ?? json.credentials)?.variables !== undefined,
        ).length,
      ],
      ...[...methods].map(([method, all]) => [`\`${method}\``, all.length] as const).sort(),
    ] as const
    const table = counts.map(([what, count]) => `| ${what} | ${count} |`).join('\n')
    console.info(table)
    expect(readFileSync(new URL('../../docs/guides/providers.md', import.meta.url), 'utf8')).toContain(table)
    expect(entries.filter((one) => one.isVerified).length).toBeGreaterThanOrEqual(300)
  })

  const BEST_KNOWN =
    'adobe adobe-sign airtable amazon apple asana atlassian attio auth0 autodesk bamboohr basecamp bitbucket bitly box buffer calcom calendly canva clickup clio clover cognito coinbase constantcontact databricks deviantart digitalocean discord disqus docusign dribbble dropbox dropbox-sign dwolla ebay etsy eventbrite exactonline facebook figma freshbooks front github gitlab google greenhouse gumroad gusto harvest helpscout heroku highlevel hubspot huggingface infusionsoft instagram intercom jumpcloud keycloak klaviyo line linear linkedin mailchimp mastodon meetup mercadolibre microsoft miro mollie monday mural netlify netsuite notion okta onelogin pagerduty patreon paypal pinterest pipedrive planningcenter podio procore quickbooks reddit ringcentral salesforce sentry servicenow shopify slack smartsheet snapchat snowflake soundcloud spotify square stackexchange strava stripe surveymonkey threads tiktok todoist tumblr twitch typeform uber vercel vimeo webex webflow wordpress workday wrike x xero yahoo yandex zendesk zettle zoho zoom'
  test('the best-known ones have a logo, and words for each scope that they send of themselves', () => {
    const lacking = BEST_KNOWN.split(' ').flatMap((id) => {
      const definition = builtIn(id)
      if (definition === undefined) return [`${id}: no definition`]
      const { facts, provider } = definition
      const sent = describeScopes(facts.scopes, provider.defaultScopes, 'en')
      const silent = sent.flatMap(({ scope, sentence }) =>
        sentence === undefined ? [`${id}: ${scope}`] : [],
      )
      return facts.logo === undefined ? [`${id}: no logo`, ...silent] : silent
    })
    expect(lacking).toEqual([])
  })

  // the lists of Arcade, Auth0 and better-auth, without what no longer exists
  const LISTED =
    'airtable amazon apple asana atlassian attio baidu basecamp bitbucket bitly box calendly clickup cognito digitalocean discord docomo dribbble dropbox dwolla exactonline facebook figma freshbooks github gitlab google heroku hubspot huggingface imgur instagram kakao kick line linear linkedin mailchimp microsoft microsoft-powerbi miro naver notion pagerduty paybin paypal pinterest planningcenter polar quickbooks railway reddit roblox salesforce shopify slack soundcloud spotify square stripe ticktick tiktok tumblr twitch untappd vercel vimeo vk wechat weibo wordpress x xero yahoo yammer yandex zendesk zoho zoom'
  test('those that others know too are among them', () => {
    expect(LISTED.split(' ').filter((id) => builtIn(id)?.id !== id)).toEqual([])
  })
})
