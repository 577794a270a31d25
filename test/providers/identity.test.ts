import { describe, expect, test } from 'vitest'
import { builtIn, withOfflineAccess } from '../../src/providers/catalogue/registry.ts'
import { formerIdentitiesOf, identityOf } from '../../src/providers/identity.ts'
import type { Provider } from '../../src/providers/provider.ts'
import { authorizationRequestIn, tokenRequestIn } from '../../src/providers/provider-endpoints.ts'

function known(id: string): Provider {
  const found = builtIn(id)
  if (found === undefined) throw new Error(`${id} is not in the catalogue`)
  return withOfflineAccess(found)
}

const at = (provider: Provider, authorization: string, token: string): Provider => ({
  ...provider,
  authorizationRequest: { ...authorizationRequestIn(provider), endpoint: authorization },
  tokenRequest: { ...tokenRequestIn(provider), endpoint: token },
  ...(provider.refreshRequest && { refreshRequest: { ...provider.refreshRequest, endpoint: token } }),
})
const microsoft = (tenant: string) =>
  at(
    known('microsoft'),
    `https://login.microsoftonline.com/${tenant}/oauth2/v2.0/authorize`,
    `https://login.microsoftonline.com/${tenant}/oauth2/v2.0/token`,
  )

describe('the identity of an entry', () => {
  test('of the catalogue stays over a new version of a path', () => {
    const hubspot = known('hubspot')
    const old = at(
      hubspot,
      'https://app.hubspot.com/oauth/authorize',
      'https://api.hubapi.com/oauth/v1/token',
    )
    expect(identityOf(old, 'c')).toBe(identityOf(hubspot, 'c'))
    expect(identityOf(old, 'c')).not.toBe(identityOf(hubspot, 'd'))
  })

  test('of the catalogue has the value of its variables', () => {
    expect(identityOf(microsoft('common'), 'c')).toBe(identityOf(known('microsoft'), 'c'))
    expect(identityOf(microsoft('tenant-a'), 'c')).not.toBe(identityOf(known('microsoft'), 'c'))
    expect(identityOf(microsoft('tenant-a'), 'c')).not.toBe(identityOf(microsoft('tenant-b'), 'c'))
  })

  test('is another where one endpoint is not of the catalogue', () => {
    const github = known('github')
    const { userInfoRequest } = github
    if (userInfoRequest === undefined) throw new Error('GitHub has user info')
    const elsewhere = { ...userInfoRequest, endpoint: 'https://evil.example/user' }
    expect(identityOf({ ...github, userInfoRequest: elsewhere }, 'c')).not.toBe(identityOf(github, 'c'))
  })

  test('is that of the issuer where its metadata names the endpoints', () => {
    const provider = (issuer: string, host: string): Provider => ({
      ...at(known('attio'), `https://${host}/authorize`, `https://${host}/token`),
      issuer,
      fromIssuer: ['authorization', 'token', 'user_info'],
    })
    const before = identityOf(provider('https://a.example', 'one.example'), 'c')
    expect(identityOf(provider('https://a.example', 'two.example'), 'c')).toBe(before)
    expect(identityOf(provider('https://b.example', 'one.example'), 'c')).not.toBe(before)
  })

  test('has among its former ones the same endpoints, before the catalogue knew them', () => {
    const github = known('github')
    expect(formerIdentitiesOf(github, 'c')).not.toContain(identityOf(github, 'c'))
    const own = at(known('attio'), 'https://own.example/authorize', 'https://own.example/token')
    expect(formerIdentitiesOf(own, 'c')).toContain(identityOf(own, 'c'))
  })
})
