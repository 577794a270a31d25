import { describe, expect, test } from 'vitest'
import type { Provider } from '../../src/providers/provider.ts'
import { ownScopes } from '../../src/providers/provider-request.ts'

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
