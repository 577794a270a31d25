import { expect, test } from 'vitest'
import {
  endpointPattern,
  hostVariables,
  matchPattern,
} from '../../src/providers/catalogue/endpoint-patterns.ts'

const declared = {
  subdomain: { pattern: '[a-z0-9-]{1,63}', value: 'acme' },
  region: { pattern: 'com|eu', oneOf: ['com', 'eu'], value: 'com' },
}
const zendesk = 'https://{subdomain}.zendesk.com/oauth/tokens'

test.each([
  ['a host with a variable', zendesk, 'https://acme.zendesk.com/oauth/tokens', { subdomain: 'acme' }],
  [
    'two variables in a host',
    'https://{subdomain}.x.{region}/t',
    'https://a-b.x.eu/t',
    { subdomain: 'a-b', region: 'eu' },
  ],
  [
    'a segment of the path',
    'https://x.test/{tenant}/t',
    'https://x.test/my.tenant/t',
    { tenant: 'my.tenant' },
  ],
  [
    'the same value twice',
    'https://{subdomain}.x.test/{subdomain}/t',
    'https://a.x.test/a/t',
    { subdomain: 'a' },
  ],
])('%s matches', (_, pattern, endpoint, values) => {
  expect(matchPattern(pattern, endpoint, declared)).toEqual(values)
})

test.each([
  ['another domain', zendesk, 'https://acme.zendesk.com.evil.test/oauth/tokens'],
  ['a domain that only ends alike', zendesk, 'https://evilzendesk.com/oauth/tokens'],
  ['a value that its pattern refuses', zendesk, 'https://a.b.zendesk.com/oauth/tokens'],
  ['no value', zendesk, 'https://.zendesk.com/oauth/tokens'],
  ['another path', zendesk, 'https://acme.zendesk.com/oauth/token'],
  ['a dot of the pattern is a dot', zendesk, 'https://acme.zendeskxcom/oauth/tokens'],
  ['a value that is not listed', 'https://x.{region}/t', 'https://x.cn/t'],
  ['two values for one variable', 'https://{subdomain}.x.test/{subdomain}/t', 'https://a.x.test/b/t'],
])('%s does not match', (_, pattern, endpoint) => {
  expect(matchPattern(pattern, endpoint, declared)).toBeUndefined()
})

test('the pattern of a template is its origin and path', () => {
  expect(endpointPattern('https://{{ subdomain }}.zendesk.com/a/{{tenant}}?x=1')).toBe(
    'https://{subdomain}.zendesk.com/a/{tenant}',
  )
  expect(endpointPattern('https://{{subdomain}}.x.test')).toBe('https://{subdomain}.x.test/')
})

test('only variables of hosts are host variables', () => {
  expect([...hostVariables({ token: [zendesk, 'https://x.test/{tenant}/t'] })]).toEqual(['subdomain'])
})

test('a variable may be a port', () => {
  const pattern = endpointPattern('https://{{ subdomain }}.x.test:{{port}}/t?a=b')
  expect(pattern).toBe('https://{subdomain}.x.test:{port}/t')
  expect(matchPattern(pattern, 'https://a.x.test:8443/t', {})).toEqual({ subdomain: 'a', port: '8443' })
})
