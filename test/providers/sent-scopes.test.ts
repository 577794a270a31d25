import { describe, expect, test } from 'vitest'
import { unionOfScopes } from '../../src/domain/scopes.ts'
import { definitionTexts } from '../../src/providers/catalogue/definition-texts.ts'
import { withOfflineAccess } from '../../src/providers/catalogue/registry.ts'
import { describeScopes } from '../../src/providers/catalogue/scope-sentences.ts'
import { readDefinition } from '../../src/providers/definition/read-definition.ts'
import type { Provider } from '../../src/providers/provider.ts'
import { authorizationRequestOf, ownScopes } from '../../src/providers/provider-request.ts'

/** The scopes in the authorization request of a client of the provider. */
function sentScopes(provider: Provider, scopes: readonly string[]): string[] {
  const client = { clientId: 'c', clientSecret: 's' }
  const redirectUri = 'https://gatepass.example/callback'
  const { endpoint, params } = authorizationRequestOf({ provider, client, redirectUri }, scopes, [], {})
  const all = { ...Object.fromEntries(endpoint.searchParams), ...params }
  return Object.entries(all)
    .filter(([name]) => name.includes('scope'))
    .flatMap(([, value]) => value.split(provider.scopeSeparator ?? ' '))
}

describe('in every definition of the catalogue', () => {
  const definitions = [...definitionTexts().values()].map((text) => readDefinition(JSON.parse(text)))

  test('what the pages show is what is sent', () => {
    for (const definition of definitions) {
      const provider = withOfflineAccess(definition)
      const scopes = ['first.scope', 'second']
      expect(new Set(sentScopes(provider, scopes)), definition.id).toEqual(
        new Set(unionOfScopes(scopes, ownScopes(provider))),
      )
    }
  })

  test('the scopes that it adds itself have words', () => {
    const without = definitions.flatMap((definition) =>
      describeScopes(definition.facts.scopes, ownScopes(withOfflineAccess(definition)), 'en')
        .filter(({ sentence }) => sentence === undefined)
        .map(({ scope }) => `${definition.id}: ${scope}`),
    )
    expect(without).toEqual([])
  })
})

describe('an entry of an operator adds', () => {
  const providerWith = (params: Record<string, string>, endpoint = 'https://login.example/authorize') =>
    ({ authorizationRequest: { endpoint, params } }) as unknown as Provider

  test.each([
    ['the text beside its scopes', { scope: 'base {{scopes}} offline' }, ['base', 'offline']],
    ['a fixed scope', { scope: 'base,more' }, ['base', 'more']],
    [
      'the scopes of a second token',
      { scope: '{{scopes}}', user_scope: 'identity.basic' },
      ['identity.basic'],
    ],
    ['nothing', { prompt: 'consent', audience: 'scopes' }, []],
  ])('%s', (_, params, expected) => {
    expect(ownScopes(providerWith(params))).toEqual(expected)
  })

  test('the scope in the query of its endpoint', () => {
    expect(ownScopes(providerWith({}, 'https://login.example/authorize?scope=base'))).toEqual(['base'])
  })
})
