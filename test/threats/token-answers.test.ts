import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createOutgoing, type Outgoing } from '../../src/egress/outgoing.ts'
import { createOAuthClient, type OAuthClient } from '../../src/providers/oauth-client.ts'
import type { Provider } from '../../src/providers/provider.ts'
import { ProviderRefusal } from '../../src/providers/provider-refusal.ts'
import { answer, type Loopback, listen } from '../loopback.ts'
import { clientAt } from './callers.ts'

// Answers of a token endpoint, through the whole OAuth client: a real server, the guarded client, the corrections of
// wrong responses and openid-client. Each answer is tried for a code and for a refresh token, with the same result.

interface TokenAnswer {
  readonly status?: number
  readonly type?: string
  readonly headers?: Record<string, string>
  readonly body: string | Buffer | Record<string, unknown> | readonly unknown[]
}

const NOW = 1_800_000_000
const TOKEN = 'at-SECRET-4f9a8b7c6d5e4f3a2b1c0d'
const GOOD = { access_token: TOKEN, token_type: 'Bearer', expires_in: 3600 }
const FORM = 'application/x-www-form-urlencoded'
const [CLIENT_SECRET, CODE, REFRESH_TOKEN] = ['SECRET-client', 'SECRET-code', 'SECRET-refresh']

let next: TokenAnswer
let server: Loopback
let outgoing: Outgoing
let oauth: OAuthClient

beforeAll(async () => {
  server = await listen((_, res) => {
    const { status = 200, type = 'application/json', body, headers } = next
    const text = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body)
    answer(res, status, type, text, headers)
  })
  outgoing = createOutgoing({ allowedHosts: ['127.0.0.1'] })
  oauth = createOAuthClient(outgoing, () => NOW)
})
beforeEach(() => {
  next = { body: GOOD }
})
afterAll(async () => {
  await outgoing?.close()
  await server?.close()
})

/** Returns the grant or the refusal, which must be the same for a code and for a refresh token. */
async function ask(given: TokenAnswer, provider: Partial<Provider> = {}): Promise<Record<string, unknown>> {
  next = given
  const client = clientAt(`${server.url}/token`, provider)
  const secrets = { providerIdentity: 'p', codeVerifier: 'v'.repeat(43) }
  const redeem = () => oauth.redeem(client, new URLSearchParams({ code: CODE, state: 's' }), secrets)
  const refresh = () => oauth.refresh(client, { refreshToken: REFRESH_TOKEN, accessToken: 'an-old-token' })
  const outcome = async (sent: Promise<unknown>): Promise<Record<string, unknown>> => {
    try {
      return { ...((await sent) as object) }
    } catch (error) {
      if (!(error instanceof ProviderRefusal)) throw error
      const { reason, message } = error
      for (const secret of [TOKEN, CLIENT_SECRET, CODE, REFRESH_TOKEN]) expect(message).not.toContain(secret)
      expect(message).toMatch(/^[\x20-\x7e…]{1,400}$/)
      return { reason, message }
    }
  }
  const [{ userInfo: _, ...byCode }, byRefresh] = [await outcome(redeem()), await outcome(refresh())]
  expect(byRefresh).toEqual(byCode)
  return byCode
}

const granted = (more: Record<string, unknown> = {}) => ({ accessToken: TOKEN, tokenType: 'bearer', ...more })
const unusable = (message: RegExp) => ({
  reason: 'provider_bad_response',
  message: expect.stringMatching(message),
})

const utf16 = (text: string, { bigEndian = false, mark = true } = {}) => {
  const bytes = Buffer.from((mark ? '\ufeff' : '') + text, 'utf16le')
  return bigEndian ? bytes.swap16() : bytes
}

describe('threat 17: a body that is no JSON object and no form', () => {
  test.each<[string, TokenAnswer, Record<string, unknown>]>([
    ['HTML', { type: 'text/html', body: `<!doctype html><p>${TOKEN}</p>` }, unusable(/not readable/)],
    ['HTML called JSON', { body: '<!doctype html><h1>Sign in</h1>' }, unusable(/not readable/)],
    ['HTML called a form', { type: FORM, body: '<a href="?access_token=x">' }, unusable(/not readable/)],
    ['text', { type: 'text/plain', body: 'Internal error = yes' }, unusable(/not readable/)],
    ['half an object', { body: JSON.stringify(GOOD).slice(0, -3) }, unusable(/not readable/)],
    ['an object and more', { body: `${JSON.stringify(GOOD)}}` }, unusable(/not readable/)],
    ['two objects', { body: JSON.stringify(GOOD).repeat(2) }, unusable(/not readable/)],
    ['nothing', { body: '' }, unusable(/not readable/)],
    ['white space', { body: ' \r\n\t ' }, unusable(/not readable/)],
    ['a list', { body: [GOOD] }, unusable(/not readable/)],
    ['a number', { body: '1' }, unusable(/not readable/)],
    ['null', { body: 'null' }, unusable(/not readable/)],
    ['a string', { body: JSON.stringify(TOKEN) }, unusable(/not readable/)],
    ['JSONP', { body: `callback(${JSON.stringify(GOOD)})` }, unusable(/not readable/)],
    ['a guarded object', { body: `)]}'\n${JSON.stringify(GOOD)}` }, unusable(/not readable/)],
    ['comments', { body: `/* hi */ ${JSON.stringify(GOOD)}` }, unusable(/not readable/)],
    [
      'deep nesting',
      { body: `${'{"a":'.repeat(30_000)}1${'}'.repeat(30_000)}` },
      unusable(/no access_token/),
    ],
    ['bytes that are not text', { body: Buffer.from([0x80, 0x81, 0xfe]) }, unusable(/not readable/)],
    [
      'UTF-16 without a mark',
      { body: utf16(JSON.stringify(GOOD), { mark: false }) },
      unusable(/not readable/),
    ],
    ['UTF-32', { body: Buffer.from([0, 0, 0, 0x7b, 0, 0, 0, 0x7d]) }, unusable(/not readable/)],
    ['a byte order mark', { body: `\ufeff${JSON.stringify(GOOD)}` }, granted({ expiresIn: 3600 })],
    ['UTF-16LE', { body: utf16(JSON.stringify(GOOD)) }, granted({ expiresIn: 3600 })],
    ['UTF-16BE', { body: utf16(JSON.stringify(GOOD), { bigEndian: true }) }, granted({ expiresIn: 3600 })],
    ['JSON called HTML', { type: 'text/html', body: GOOD }, granted({ expiresIn: 3600 })],
    ['JSON called a form', { type: FORM, body: GOOD }, granted({ expiresIn: 3600 })],
    ['JSON of no type', { type: '', body: GOOD }, granted({ expiresIn: 3600 })],
    [
      'a form',
      { type: FORM, body: `access_token=${TOKEN}&token_type=bearer&expires_in=60` },
      granted({ expiresIn: 60 }),
    ],
    ['a form called JSON', { body: `access_token=${TOKEN}&token_type=bearer` }, granted()],
    [
      'a form of text/plain',
      { type: 'text/plain', body: `access_token=${TOKEN}&token_type=bearer` },
      granted(),
    ],
  ])('%s', async (_, given, expected) => {
    expect(await ask(given)).toMatchObject(expected)
  })
})

describe('threat 18: duplicate keys: the last one counts, everywhere', () => {
  test.each<[string, TokenAnswer, Record<string, unknown>]>([
    ['JSON', { body: `{"access_token":"first","token_type":"bearer","access_token":"${TOKEN}"}` }, granted()],
    [
      'JSON, escaped',
      { body: `{"access_token":"first","token_type":"bearer","access\\u005ftoken":"${TOKEN}"}` },
      granted(),
    ],
    ['a form', { type: FORM, body: `access_token=first&token_type=bearer&access_token=${TOKEN}` }, granted()],
    [
      'a last one that is null',
      { body: `{"access_token":"${TOKEN}","token_type":"bearer","access_token":null}` },
      unusable(/no access_token/),
    ],
    [
      'an error beside tokens',
      { body: `{"error":"","access_token":"${TOKEN}","token_type":"bearer","error":"invalid_grant"}` },
      { reason: 'invalid_grant' },
    ],
  ])('%s', async (_, given, expected) => {
    expect(await ask(given)).toMatchObject(expected)
  })
})

describe('threat 19: prototype keys reach no prototype', () => {
  const evil =
    '"__proto__":{"polluted":true,"access_token":"evil","error":"x"},"constructor":{"prototype":{"polluted":true}},"prototype":{"polluted":true}'
  test.each<[string, TokenAnswer, Record<string, unknown>]>([
    ['beside the tokens', { body: `{${evil},${JSON.stringify(GOOD).slice(1)}` }, granted()],
    ['instead of the tokens', { body: `{${evil}}` }, unusable(/no access_token/)],
    ['deep within', { body: `{"a":{${evil},"b":[{${evil}}]},${JSON.stringify(GOOD).slice(1)}` }, granted()],
    ['within the error', { status: 400, body: `{"error":{${evil}}}` }, unusable(/no error code/)],
    [
      'in a form',
      { type: FORM, body: `__proto__=x&constructor=x&access_token=${TOKEN}&token_type=bearer` },
      granted(),
    ],
    [
      'by inherited names',
      { body: { toString: 'x', hasOwnProperty: 'y', valueOf: 'z', ...GOOD } },
      granted(),
    ],
  ])('%s', async (_, given, expected) => {
    const outcome = await ask(given)
    expect(outcome).toMatchObject(expected)
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
    expect((outcome as { polluted?: boolean }).polluted).toBeUndefined()
    expect(JSON.stringify(outcome)).not.toMatch(/polluted|evil/)
  })
})

describe('threat 20: expires_in: 1 second to ten years, otherwise unknown', () => {
  const TEN_YEARS = 10 * 365 * 86_400
  test.each<[string, number | undefined]>([
    ['3600', 3600],
    ['"3600"', 3600],
    ['" 3600 "', 3600],
    ['3600.9', 3600],
    ['"3600.9"', 3600],
    ['1', 1],
    [`${TEN_YEARS}`, TEN_YEARS],
    [`${TEN_YEARS + 1}`, undefined],
    ['0', undefined],
    ['"0"', undefined],
    ['0.5', undefined],
    ['-0', undefined],
    ['-1', undefined],
    ['"-3600"', undefined],
    ['"NaN"', undefined],
    ['"Infinity"', undefined],
    ['1e300', undefined],
    ['1e999', undefined],
    ['"1e3"', undefined],
    ['"0x10"', undefined],
    ['"3600abc"', undefined],
    ['"３６００"', undefined],
    ['"1,000"', undefined],
    ['""', undefined],
    ['null', undefined],
    ['true', undefined],
    ['[3600]', undefined],
    ['{"a":1}', undefined],
    ['9007199254740993', undefined],
    [`"${'9'.repeat(400)}"`, undefined],
  ])('%s is %s', async (text, expected) => {
    const body = `{"access_token":"${TOKEN}","token_type":"bearer","expires_in":${text}}`
    const outcome = await ask({ body })
    expect(outcome).toMatchObject(granted())
    expect(outcome.expiresIn).toBe(expected)
  })
})

describe('threat 21: wrong or missing token_type and access_token', () => {
  test.each<[string, Record<string, unknown>, Record<string, unknown>, Partial<Provider>?]>([
    ['bearer', { token_type: 'bearer' }, granted()],
    ['BEARER', { token_type: 'BEARER' }, granted()],
    ['spaces around', { token_type: ' Bearer ' }, granted()],
    ['no type', { token_type: undefined }, granted()],
    ['an empty type', { token_type: '' }, granted()],
    ['null', { token_type: null }, granted()],
    ['a number', { token_type: 1 }, unusable(/token_type is not text/)],
    ['a list', { token_type: ['bearer'] }, unusable(/token_type is not text/)],
    ['MAC', { token_type: 'mac' }, unusable(/token_type is mac, not bearer/)],
    ['DPoP', { token_type: 'DPoP' }, unusable(/token_type is DPoP, not bearer/)],
    ['N_A', { token_type: 'N_A' }, unusable(/token_type is not bearer/)],
    ['bearer and more', { token_type: 'bearer, mac' }, unusable(/token_type is not bearer/)],
    ['a Turkish ı', { token_type: 'bearerı' }, unusable(/token_type is not bearer/)],
    ['another that the entry takes', { token_type: 'Bot' }, granted(), { tokenTypes: ['bot'] }],
    ['none, which the entry takes', { token_type: undefined }, granted(), { tokenTypes: [''] }],
    [
      'another than the entry takes',
      { token_type: 'mac' },
      unusable(/not bearer/),
      { tokenTypes: ['bot', ''] },
    ],
    ['no token', { access_token: undefined }, unusable(/no access_token/)],
    ['an empty token', { access_token: '' }, unusable(/no access_token/)],
    ['a null token', { access_token: null }, unusable(/no access_token/)],
    ['a numeric token', { access_token: 42 }, unusable(/not visible ASCII/)],
    ['a token that is true', { access_token: true }, unusable(/not visible ASCII/)],
    ['a token in a list', { access_token: [TOKEN] }, unusable(/not visible ASCII/)],
    ['a token in an object', { access_token: { value: TOKEN } }, unusable(/not visible ASCII/)],
    ['only a refresh token', { access_token: undefined, refresh_token: TOKEN }, unusable(/no access_token/)],
  ])('%s', async (_, members, expected, provider) => {
    expect(await ask({ body: { ...GOOD, ...members } }, provider)).toMatchObject(expected)
  })
})

describe('threat 22: a text that could end a header line is no token', () => {
  const wrong = [
    '\r\nx-evil: 1',
    '\n',
    '\r',
    '\0',
    '\t',
    '\u007f',
    '\u001b[31m',
    '\u0085',
    '\u2028',
    'é',
    '𝒜',
    '\ud800',
    '\u200b',
    '\ufeff',
  ]
  test.each(wrong)('%j within an access token', async (characters) => {
    for (const access_token of [`${TOKEN}${characters}`, `${characters}${TOKEN}`, `at${characters}at`])
      expect(await ask({ body: { ...GOOD, access_token } })).toMatchObject(unusable(/not visible ASCII/))
    const form = new URLSearchParams({ access_token: `${TOKEN}${characters}x`, token_type: 'bearer' })
    expect(await ask({ type: FORM, body: form.toString() })).toMatchObject(unusable(/not visible ASCII/))
  })

  test.each(wrong)('%j within a refresh token or an ID token: it counts as absent', async (characters) => {
    const refresh_token = `r${characters}t`
    const outcome = await ask({
      body: { ...GOOD, refresh_token, id_token: refresh_token, scope: `read r${characters}w` },
    })
    expect(outcome).toMatchObject(granted())
    expect(outcome.refreshToken).toBeUndefined()
    for (const scope of (outcome.scopes ?? []) as string[]) expect(scope).toMatch(/^[\x21-\x7e]+$/)
  })
})

describe('threat 23: an error in a 200', () => {
  test.each<[string, TokenAnswer, string]>([
    ['error', { body: { error: 'invalid_grant' } }, 'invalid_grant'],
    ['error beside tokens', { body: { ...GOOD, error: 'access_denied' } }, 'provider_refused'],
    ['a form', { type: FORM, body: 'error=bad_verification_code&error_description=x' }, 'invalid_grant'],
    [
      'a form beside tokens',
      { type: FORM, body: `access_token=${TOKEN}&token_type=bearer&error=x` },
      'provider_refused',
    ],
    ['ok: false (Slack)', { body: { ok: false, error: 'invalid_refresh_token' } }, 'invalid_grant'],
    ['ok: false beside tokens', { body: { ok: false, ...GOOD } }, 'provider_refused'],
    [
      'an error object (Facebook)',
      { body: { error: { message: 'no', type: 'OAuthException', code: 190 } } },
      'provider_refused',
    ],
    [
      'an error object beside tokens',
      { body: { ...GOOD, error: { code: 'invalid_grant' } } },
      'invalid_grant',
    ],
    ['Zoho', { body: { error: 'invalid_code' } }, 'invalid_grant'],
    ['a wrong client', { body: { error: 'incorrect_client_credentials' } }, 'invalid_client'],
    ['a busy server', { body: { error: 'temporarily_unavailable' } }, 'provider_unavailable'],
    ['a wrong scope', { body: { error: 'invalid_scope' } }, 'invalid_scope'],
    ['a 400 with tokens', { status: 400, body: GOOD }, 'provider_bad_response'],
    ['a 500 with tokens', { status: 500, body: GOOD }, 'provider_unavailable'],
    ['a 401 with tokens', { status: 401, body: GOOD }, 'provider_bad_response'],
  ])('%s', async (_, given, reason) => {
    expect(await ask(given)).toMatchObject({ reason })
  })

  test.each<[string, unknown]>([
    ['an empty error', ''],
    ['no error', null],
    ['error: false', false],
    ['an error object that says ok (TikTok)', { code: 'ok', message: '' }],
    ['an empty error object', {}],
  ])('%s is none', async (_, error) => {
    expect(await ask({ body: { ...GOOD, error } })).toMatchObject(granted())
  })
})

describe('threat 24: an error description is shown without secrets and control characters', () => {
  test('without the secrets of the request: the code and its verifier, the refresh token and the access token', async () => {
    const client = clientAt(`${server.url}/token`)
    const codeVerifier = 'verifierverifierverifierverifierverifierver'
    const messageOf = (sent: Promise<unknown>) =>
      sent.then(
        () => 'granted',
        ({ message }: Error) => message,
      )
    const saying = (...said: string[]) => ({
      status: 400,
      body: { error: 'invalid_grant', error_description: `not ${said.join(' nor ')} here` },
    })
    next = saying(CODE, codeVerifier)
    const secrets = { providerIdentity: 'p', codeVerifier }
    const response = new URLSearchParams({ code: CODE, state: 's' })
    expect(await messageOf(oauth.redeem(client, response, secrets))).toContain(
      'not [removed] nor [removed] here',
    )
    next = saying(REFRESH_TOKEN, 'an-old-token')
    expect(
      await messageOf(oauth.refresh(client, { refreshToken: REFRESH_TOKEN, accessToken: 'an-old-token' })),
    ).toContain('not [removed] nor [removed] here')
  })

  const echoes = [CLIENT_SECRET, TOKEN]
  const evil = `<script>alert(1)</script><img src=x onerror=y>\r\nset-cookie: a=b\r\n\u001b[31;1mRED\u001b]8;;http://evil\u0007\0\u202e${echoes.join(' ')}`
  test.each<[string, TokenAnswer]>([
    ['in the description', { status: 400, body: { error: 'invalid_grant', error_description: evil } }],
    ['in the code', { status: 400, body: { error: evil } }],
    ['in the message', { status: 400, body: { error: { message: evil, code: evil } } }],
    ['in the uri', { status: 400, body: { error: 'invalid_grant', error_uri: evil } }],
    [
      'in a form',
      {
        status: 400,
        type: FORM,
        body: new URLSearchParams({ error: evil, error_description: evil }).toString(),
      },
    ],
    ['in other members', { status: 400, body: { error: 'invalid_grant', hint: evil, [evil]: evil } }],
    ['in the page', { status: 400, type: 'text/html', body: evil }],
    [
      'in the www-authenticate header',
      {
        status: 401,
        headers: { 'www-authenticate': `Bearer error="${CLIENT_SECRET}"` },
        body: { error: 'invalid_client' },
      },
    ],
    ['as a code that is a secret', { status: 400, body: { error: TOKEN } }],
    ['as a long code', { status: 400, body: { error: 'a'.repeat(5000) } }],
  ])('%s', async (_, given) => {
    const { message } = await ask(given)
    expect(message).not.toMatch(/[<>\p{C}]/u)
    for (const secret of echoes) expect(message).not.toContain(secret)
    expect(String(message).length).toBeLessThan(400)
  })
})

describe('failure R6 and R7: an answer that asks to try again later', () => {
  test.each<[string, TokenAnswer, number | undefined]>([
    ['seconds', { status: 429, headers: { 'retry-after': '17' }, body: '' }, 17],
    [
      'a date',
      { status: 503, headers: { 'retry-after': new Date((NOW + 30) * 1000).toUTCString() }, body: '' },
      30,
    ],
    ['too long', { status: 429, headers: { 'retry-after': '86400' }, body: '' }, 300],
    [
      'a date far off',
      { status: 503, headers: { 'retry-after': 'Fri, 31 Dec 9999 23:59:59 GMT' }, body: '' },
      300,
    ],
    ['the past', { status: 503, headers: { 'retry-after': 'Thu, 01 Jan 1970 00:00:00 GMT' }, body: '' }, 1],
    ['zero', { status: 429, headers: { 'retry-after': '0' }, body: '' }, 1],
    ['nonsense', { status: 429, headers: { 'retry-after': 'soon' }, body: '' }, undefined],
    ['a negative', { status: 429, headers: { 'retry-after': '-5' }, body: '' }, 1],
    ['nothing', { status: 502, body: '<h1>Bad gateway</h1>' }, undefined],
    ['with invalid_grant', { status: 503, body: { error: 'invalid_grant' } }, undefined],
  ])('%s', async (_, given, seconds) => {
    next = given
    const client = clientAt(`${server.url}/token`)
    const error = await oauth
      .refresh(client, { refreshToken: REFRESH_TOKEN, accessToken: 'old' })
      .catch((thrown: unknown) => thrown)
    // the grant is still valid, so the user need not consent again
    expect(error).toMatchObject({ name: 'ProviderRefusal', reason: 'provider_unavailable' })
    expect((error as ProviderRefusal).retryAfter).toBe(seconds)
  })
})
