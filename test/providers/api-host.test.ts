import { describe, expect, test } from 'vitest'
import { apiHeaders, isApiHost, parseApiHost } from '../../src/providers/api-host.ts'
import { builtIn } from '../../src/providers/catalogue/registry.ts'
import type { ProviderApi } from '../../src/providers/provider.ts'

function allows(hosts: readonly string[], url: string): boolean {
  return isApiHost({ api: { hosts } }, new URL(url))
}

describe('a host of an API', () => {
  test.each([
    ['api.example.com', 'api.example.com'],
    ['API.Example.COM.', 'api.example.com'],
    ['api.example.com:443', 'api.example.com'],
    ['api.example.com:8443', 'api.example.com:8443'],
    ['*.example.com', '*.example.com'],
    ['*.Example.com:8443', '*.example.com:8443'],
    ['127.0.0.1:8080', '127.0.0.1:8080'],
    ['0x7f.1', '127.0.0.1'],
    ['[::1]:80', '[::1]:80'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['', undefined],
    ['*', undefined],
    ['*.', undefined],
    ['*.com', undefined],
    ['*.com.', undefined],
    ['*.0.0.1', undefined],
    ['*.[::1]', undefined],
    ['a.*.example.com', undefined],
    ['**.example.com', undefined],
    ['*.*.example.com', undefined],
    ['a*.example.com', undefined],
    ['https://api.example.com', undefined],
    ['api.example.com/', undefined],
    ['api.example.com/x', undefined],
    ['a@api.example.com', undefined],
    ['api.example.com?x', undefined],
    ['api.example.com#x', undefined],
    ['api.example.com\\x', undefined],
    ['api example.com', undefined],
    ['api.example.com:0', undefined],
    ['api.example.com:99999', undefined],
    ['%61pi.example.com', undefined],
    ['.', undefined],
  ])('%j is written %j', (text, expected) => {
    expect(parseApiHost(text)).toBe(expected)
  })

  test.each<[readonly string[], string, boolean]>([
    [['api.example.com'], 'https://api.example.com/x?y', true],
    [['api.example.com'], 'https://API.example.com./x', true],
    [['api.example.com'], 'https://api.example.com:443/', true],
    [['api.example.com'], 'https://api.example.com:8443/', false],
    [['api.example.com'], 'https://evil.api.example.com/', false],
    [['api.example.com'], 'https://api.example.com.evil.test/', false],
    [['api.example.com'], 'https://api.example.com@evil.test/', false],
    [['api.example.com'], 'https://user@api.example.com/', false],
    [['api.example.com'], 'ftp://api.example.com/', false],
    [['api.example.com'], 'file://api.example.com/', false],
    [['*.example.com'], 'https://a.example.com/', true],
    [['*.example.com'], 'https://a.b.example.com/', true],
    [['*.example.com'], 'https://example.com/', false],
    [['*.example.com'], 'https://.example.com/', false],
    [['*.example.com'], 'https://evilexample.com/', false],
    [['*.example.com'], 'https://a.example.com:8443/', false],
    [['*.example.com:8443'], 'https://a.example.com:8443/', true],
    [['a.example', 'b.example'], 'https://b.example/', true],
    [[], 'https://a.example/', false],
  ])('of %j, %s: %s', (hosts, url, expected) => {
    expect(URL.canParse(url) && allows(hosts, url)).toBe(expected)
  })

  test('an entry that names none allows none', () => {
    expect(isApiHost({}, new URL('https://api.example.com/'))).toBe(false)
  })
})

test('the Authorization value is a bearer token, or what the entry says', () => {
  const headersOf = (accessToken: string, api?: ProviderApi) =>
    apiHeaders(api === undefined ? {} : { api }, { accessToken, clientId: 'c' })
  expect(headersOf('TOKEN')).toEqual({ authorization: 'Bearer TOKEN' })
  const api = { hosts: ['a.example'], authorization: 'token {{access_token}}' }
  expect(headersOf('{{access_token}}', api)).toEqual({ authorization: 'token {{access_token}}' })
})

test("what asks Google who the user is is one of its API's hosts too", () => {
  const google = builtIn('google')?.provider
  expect(isApiHost(google ?? {}, new URL(google?.userInfoRequest?.endpoint ?? ''))).toBe(true)
})
