import { describe, expect, test } from 'vitest'
import { builtIn, findBuiltInByEndpoints, withOfflineAccess } from '../../src/providers/catalogue/registry.ts'
import { authorizationRequestIn, tokenRequestIn } from '../../src/providers/provider-endpoints.ts'
import { renderParams } from '../../src/providers/template.ts'

function known(id: string) {
  const found = builtIn(id)
  if (found === undefined) throw new Error(`${id} is not in the catalogue`)
  return found
}

describe('the catalogue', () => {
  // id, authorization host, token host, PKCE, client authentication, scope separator, refreshes
  test.each([
    ['airtable', 'airtable.com', 'airtable.com', 'S256', 'client_secret_basic', ' ', true],
    ['asana', 'app.asana.com', 'app.asana.com', 'S256', 'client_secret_post', ' ', true],
    ['atlassian', 'auth.atlassian.com', 'auth.atlassian.com', 'S256', 'client_secret_post', ' ', true],
    ['attio', 'app.attio.com', 'app.attio.com', 'S256', 'client_secret_post', ' ', false],
    ['clickup', 'app.clickup.com', 'api.clickup.com', 'none', 'client_secret_post', ' ', false],
    ['discord', 'discord.com', 'discord.com', 'S256', 'client_secret_post', ' ', true],
    ['dropbox', 'www.dropbox.com', 'api.dropboxapi.com', 'S256', 'client_secret_post', ' ', true],
    ['figma', 'www.figma.com', 'api.figma.com', 'none', 'client_secret_basic', ',', true],
    ['github', 'github.com', 'github.com', 'S256', 'client_secret_post', ' ', true],
    ['gitlab', 'gitlab.com', 'gitlab.com', 'S256', 'client_secret_post', ' ', true],
    ['google', 'accounts.google.com', 'oauth2.googleapis.com', 'S256', 'client_secret_post', ' ', true],
    ['hubspot', 'app.hubspot.com', 'api.hubapi.com', 'S256', 'client_secret_post', ' ', true],
    ['linear', 'linear.app', 'api.linear.app', 'S256', 'client_secret_post', ',', true],
    ['linkedin', 'www.linkedin.com', 'www.linkedin.com', 'none', 'client_secret_post', ' ', true],
    [
      'microsoft',
      'login.microsoftonline.com',
      'login.microsoftonline.com',
      'S256',
      'client_secret_post',
      ' ',
      true,
    ],
    [
      'microsoft-powerbi',
      'login.microsoftonline.com',
      'login.microsoftonline.com',
      'S256',
      'client_secret_post',
      ' ',
      true,
    ],
    ['notion', 'api.notion.com', 'api.notion.com', 'none', 'client_secret_basic', ' ', true],
    [
      'pagerduty',
      'identity.pagerduty.com',
      'identity.pagerduty.com',
      'S256',
      'client_secret_post',
      ' ',
      true,
    ],
    ['reddit', 'www.reddit.com', 'www.reddit.com', 'none', 'client_secret_basic', ' ', true],
    ['salesforce', 'login.salesforce.com', 'login.salesforce.com', 'S256', 'client_secret_post', ' ', true],
    ['slack', 'slack.com', 'slack.com', 'none', 'client_secret_post', ',', true],
    ['spotify', 'accounts.spotify.com', 'accounts.spotify.com', 'S256', 'client_secret_basic', ' ', true],
    ['strava', 'www.strava.com', 'www.strava.com', 'S256', 'client_secret_post', ',', true],
    ['twitch', 'id.twitch.tv', 'id.twitch.tv', 'none', 'client_secret_post', ' ', true],
    ['x', 'x.com', 'api.x.com', 'S256', 'client_secret_basic', ' ', true],
    ['zoom', 'zoom.us', 'zoom.us', 'S256', 'client_secret_basic', ' ', true],
  ])('knows %s', (id, authorizationHost, tokenHost, pkce, authMethod, separator, refreshes) => {
    const { provider } = known(id)
    expect(new URL(authorizationRequestIn(provider).endpoint).host).toBe(authorizationHost)
    expect(new URL(tokenRequestIn(provider).endpoint).host).toBe(tokenHost)
    expect(provider.pkce).toBe(pkce)
    expect(provider.tokenRequest?.authMethod).toBe(authMethod)
    expect(provider.scopeSeparator).toBe(separator)
    expect(provider.refreshRequest !== undefined).toBe(refreshes)
  })

  test.each([
    ['google', 'https://accounts.google.com'],
    ['github', 'https://github.com/login/oauth'],
  ])('expects the iss that %s sends', (id, issuer) => {
    expect(known(id).provider.issuer).toBe(issuer)
  })

  test.each([
    ['google', { access_type: 'offline', prompt: 'consent', scope: 'a' }],
    ['dropbox', { token_access_type: 'offline', scope: 'a' }],
    ['reddit', { duration: 'permanent', scope: 'a' }],
    ['x', { scope: 'a offline.access' }],
    ['microsoft', { scope: 'a offline_access' }],
    ['atlassian', { audience: 'api.atlassian.com', prompt: 'consent', scope: 'a offline_access' }],
  ])('asks %s for a refresh token when used by its id', (id, params) => {
    const values = { client_id: 'c', redirect_uri: 'https://g.test/cb', scopes: ['a'] }
    const { params: asked } = authorizationRequestIn(withOfflineAccess(known(id)))
    expect(renderParams(asked, values)).toEqual({
      response_type: 'code',
      client_id: 'c',
      redirect_uri: 'https://g.test/cb',
      ...params,
    })
    expect(known(id).provider.authorizationRequest?.params).not.toHaveProperty('access_type')
  })

  test('asks Slack for a user token', () => {
    const { params } = authorizationRequestIn(known('slack').provider)
    expect(renderParams(params, { scopes: ['a', 'b'], scopeSeparator: ',' })).toMatchObject({
      user_scope: 'a,b',
    })
    expect(params).not.toHaveProperty('scope')
  })

  test.each([
    ['GitHub', 'github'],
    ['MICROSOFT-POWERBI', 'microsoft-powerbi'],
    ['constructor', undefined],
    ['__proto__', undefined],
    ['', undefined],
  ])('finds %j by its id', (id, found) => {
    expect(builtIn(id)?.id).toBe(found)
  })

  test.each([
    ['https://twitter.com/i/oauth2/authorize', 'https://api.x.com/2/oauth2/token', 'x'],
    ['https://x.com/i/oauth2/authorize', 'https://api.twitter.com/2/oauth2/token', 'x'],
    ['https://accounts.google.com/o/oauth2/v2/auth', 'https://oauth2.googleapis.com/token', 'google'],
    [
      'https://login.microsoftonline.com/t/oauth2/v2.0/authorize',
      'https://login.microsoftonline.com/t/oauth2/v2.0/token',
      'microsoft',
    ],
    [
      'https://login.microsoftonline.com/t/oauth2/v2.0/authorize',
      'https://login.microsoftonline.com/another/oauth2/v2.0/token',
      undefined,
    ],
    [
      'https://login.microsoftonline.com/common/oauth2/v2.0/authorize',
      'https://login.microsoftonline.com/another/oauth2/v2.0/token',
      undefined,
    ],
    ['https://api.hubapi.com/oauth/authorize', 'https://api.hubapi.com/oauth/v1/token', undefined],
    ['https://app.hubspot.com/oauth/authorize', 'https://api.hubapi.com/oauth/v1/token', 'hubspot'],
    ['https://github.com/login/oauth/access_token', 'https://github.com/login/oauth/authorize', undefined],
    ['https://github.com/login/oauth/authorize', 'https://github.com/somebody/page', undefined],
    ['https://accounts.google.com/o/oauth2/v2/auth', 'https://evil.test/token', undefined],
    ['https://evil.test/auth', 'https://oauth2.googleapis.com/token', undefined],
    ['https://accounts.google.com/auth', 'https://api.x.com/token', undefined],
    ['https://github.com:8443/login', 'https://github.com/login', undefined],
    ['https://github.com.evil.test/login', 'https://github.com.evil.test/login', undefined],
    ['nonsense', 'https://github.com/login', undefined],
  ])('%s and %s belong to %s', (authorization, token, id) => {
    expect(findBuiltInByEndpoints(authorization, token)?.builtIn.id).toBe(id)
  })
})
