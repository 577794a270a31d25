import { expect, test } from 'vitest'
import { readDefinition } from '../../src/providers/definition/read-definition.ts'
import { matchingText } from '../../src/providers/matching-text.ts'
import { variableFault, withFixedVariables } from '../../src/providers/variables.ts'

test('no request of a definition goes to the host of its example once the values are known', () => {
  const endpoint = (path: string) => ({ endpoint: `https://{{shop}}.example.com/${path}` })
  const { provider } = readDefinition({
    id: 'shop',
    name: 'Shop',
    oauth2: {
      variables: { shop: { pattern: '[a-z]+', example: 'acme' } },
      authorize_request: endpoint('authorize'),
      token_request: endpoint('token'),
      refresh_request: endpoint('refresh'),
      exchange_request: endpoint('exchange'),
      user_info_request: { ...endpoint('me'), triggers: { on_token_grant: true } },
      token_introspection_request: { ...endpoint('about'), triggers: { on_token_grant: true } },
      revocation_request: endpoint('revoke'),
    },
  })
  expect(JSON.stringify(provider)).toContain('https://acme.example.com/exchange')
  const fixed = withFixedVariables(provider, { shop: 'mine' })
  expect(fixed.exchangeRequest?.endpoint).toBe('https://mine.example.com/exchange')
  expect(JSON.stringify(fixed)).not.toMatch(/acme|\{\{shop/)
})

test.each(['a/b', 'a?b', 'a#b', 'a@b', 'a\\b', '..', 'a..b', 'a%2fb', '', 'a:b', 'a b'])(
  'a value cannot end the part of the URL that it is put into, whatever its pattern: %s',
  (value) => {
    expect(variableFault({ pattern: '.*', value })).toMatch(/nor a single segment of a path/)
    expect(variableFault({ pattern: '.*', value: 'a-b.c_d:8443' })).toBeUndefined()
  },
)

test('nested counts of a pattern make no text longer than a value may be', () => {
  expect(matchingText('[a-z]{3}-(?:x){2}')).toBe('aaa-xx')
  expect(matchingText('(?:(?:(?:a{999}){999}){999}){999}')).toBeUndefined()
})
