import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import {
  type RepairedTokenResponse,
  readUserInfo,
  repairTokenResponse,
  TokenResponseFault,
  type TokenResponseRules,
} from '../../src/providers/token-response.ts'

const NOW = 1_800_000_000
const WITHOUT_ZONE = new Date((NOW + 60) * 1000).toISOString().slice(0, 19)
const JSON_TYPE = 'application/json'
const FORM_TYPE = 'application/x-www-form-urlencoded'
const TOKEN = 'SECRET-access-token'

interface Answer {
  readonly status?: number
  readonly type?: string | undefined
  readonly body: unknown
  readonly rules?: Partial<TokenResponseRules>
}

function repair({ status = 200, type = JSON_TYPE, body, rules = {} }: Answer): RepairedTokenResponse {
  const bytes =
    body instanceof Uint8Array ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
  return repairTokenResponse(status, type, bytes, {
    responseContentType: JSON_TYPE,
    tokenTypes: [],
    keepIdToken: true,
    now: NOW,
    ...rules,
  })
}

/** A good answer with these members changed. */
function tokens(members: Record<string, unknown> = {}): Record<string, unknown> {
  return { access_token: TOKEN, token_type: 'Bearer', ...members }
}

const CLEAN = { access_token: TOKEN, token_type: 'bearer' }

function jwt(claims: unknown): string {
  return `eyJhbGciOiJSUzI1NiJ9.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.c2ln`
}

describe('a token response is repaired', () => {
  test.each<[string, Answer, Record<string, unknown>]>([
    [
      'a plain one',
      { body: tokens({ expires_in: 60, scope: 'a b', refresh_token: 'r' }) },
      { ...CLEAN, expires_in: 60, scope: 'a b', refresh_token: 'r' },
    ],
    [
      'a form',
      { type: FORM_TYPE, body: `access_token=${TOKEN}&token_type=bearer&scope=a%2Cb` },
      { ...CLEAN, scope: 'a b' },
    ],
    [
      'a form that calls itself HTML',
      { type: 'text/html', body: `access_token=${TOKEN}&token_type=bearer` },
      CLEAN,
    ],
    [
      'a form without a content type',
      { type: undefined, body: `access_token=${TOKEN}&token_type=bearer` },
      CLEAN,
    ],
    ['JSON that calls itself a form', { type: FORM_TYPE, body: tokens() }, CLEAN],
    ['JSON that calls itself text', { type: 'text/plain; charset=x', body: tokens() }, CLEAN],
    ['JSON with a byte order mark', { body: `\uFEFF${JSON.stringify(tokens())}` }, CLEAN],
    ['UTF-16', { body: Buffer.from(`\uFEFF${JSON.stringify(tokens())}`, 'utf16le') }, CLEAN],
    [
      'duplicate members',
      { body: `{"access_token":"old","access_token":"${TOKEN}","token_type":"bearer"}` },
      CLEAN,
    ],
    [
      'duplicate form members',
      { type: FORM_TYPE, body: `access_token=old&access_token=${TOKEN}&token_type=bearer` },
      CLEAN,
    ],
    ['a 201', { status: 201, body: tokens() }, CLEAN],
    ['an empty error', { body: tokens({ error: '', error_description: null }) }, CLEAN],
    ['an error object that says ok', { body: tokens({ error: { code: 'ok', message: '' } }) }, CLEAN],
    [
      'prototype members',
      { body: `{"__proto__":{"scope":"x"},"constructor":1,"access_token":"${TOKEN}","token_type":"bearer"}` },
      CLEAN,
    ],

    [
      'commas between scopes',
      { body: tokens({ scope: 'repo,user:email' }) },
      { ...CLEAN, scope: 'repo user:email' },
    ],
    [
      'commas and spaces between scopes',
      { body: tokens({ scope: 'a, b,  c' }) },
      { ...CLEAN, scope: 'a b c' },
    ],
    [
      'a comma within one of several scopes',
      { body: tokens({ scope: 'a,b c' }) },
      { ...CLEAN, scope: 'a,b c' },
    ],
    ['a list of scopes', { body: tokens({ scope: ['a', 'b', 3] }) }, { ...CLEAN, scope: 'a b' }],
    ['an empty scope', { body: tokens({ scope: '' }) }, CLEAN],
    ['a scope that is null', { body: tokens({ scope: null }) }, CLEAN],
    [
      'a scope with control characters',
      { body: tokens({ scope: 'a \u0000b c' }) },
      { ...CLEAN, scope: 'a c' },
    ],

    ...(['3600', 3600, 3600.9, ' 3600 '] as const).map((value): [string, Answer, Record<string, unknown>] => [
      `expires_in ${JSON.stringify(value)}`,
      { body: tokens({ expires_in: value }) },
      { ...CLEAN, expires_in: 3600 },
    ]),
    ...[0, -1, '0', '-5', 'NaN', '3600abc', '', null, true, {}, [3600], 1e300, '9'.repeat(30), 0.5].map(
      (value): [string, Answer, Record<string, unknown>] => [
        `expires_in ${JSON.stringify(value)}`,
        { body: tokens({ expires_in: value }) },
        CLEAN,
      ],
    ),
    [
      'a literally huge expires_in',
      { body: `{"access_token":"${TOKEN}","token_type":"bearer","expires_in":1e999}` },
      CLEAN,
    ],
    ['expires_at in seconds', { body: tokens({ expires_at: NOW + 60 }) }, { ...CLEAN, expires_in: 60 }],
    [
      'expires_at in milliseconds',
      { body: tokens({ expires_at: `${(NOW + 60) * 1000}` }) },
      { ...CLEAN, expires_in: 60 },
    ],
    [
      'expires_at as a date',
      { body: tokens({ expires_at: new Date((NOW + 60) * 1000).toISOString() }) },
      { ...CLEAN, expires_in: 60 },
    ],
    [
      'expires_at as a date without a zone, which is UTC whatever the zone of this machine',
      { body: tokens({ expires_at: WITHOUT_ZONE }) },
      { ...CLEAN, expires_in: 60 },
    ],
    [
      'expires_at as a date without a zone, with a space',
      { body: tokens({ expires_at: WITHOUT_ZONE.replace('T', ' ') }) },
      { ...CLEAN, expires_in: 60 },
    ],
    ['expires_at as nonsense', { body: tokens({ expires_at: 'tomorrow' }) }, CLEAN],
    ['expires_at as no date', { body: tokens({ expires_at: '2026-99-99T99:99' }) }, CLEAN],
    ['expires_at in the past', { body: tokens({ expires_at: NOW - 1 }) }, CLEAN],
    [
      'both kinds of expiry',
      { body: tokens({ expires_in: 30, expires_at: NOW + 60 }) },
      { ...CLEAN, expires_in: 30 },
    ],
    [
      'an absolute expires_in',
      { body: tokens({ expires_in: NOW + 60 }), rules: { expirationFormat: 'absolute_unix_timestamp' } },
      { ...CLEAN, expires_in: 60 },
    ],
    [
      'a relative one called absolute',
      { body: tokens({ expires_in: 60 }), rules: { expirationFormat: 'absolute_unix_timestamp' } },
      { ...CLEAN, expires_in: 60 },
    ],

    [
      'a token type the entry accepts',
      { body: tokens({ token_type: 'User' }), rules: { tokenTypes: ['user'] } },
      CLEAN,
    ],
    ['no token type', { body: { access_token: TOKEN } }, CLEAN],
    ['a token type that is null', { body: tokens({ token_type: null }) }, CLEAN],
    [
      "a nested token's own type, not the one beside it",
      {
        body: { token_type: 'mac', authed_user: { access_token: TOKEN, token_type: 'Bearer' } },
        rules: { responseMap: { access_token: '$.authed_user.access_token' } },
      },
      CLEAN,
    ],
    [
      "a nested token's own type, which the entry accepts",
      {
        body: { token_type: 'bot', authed_user: { access_token: TOKEN, token_type: 'user' } },
        rules: { tokenTypes: ['user'], responseMap: { access_token: '$.authed_user.access_token' } },
      },
      CLEAN,
    ],
    [
      'a nested token without a type, beside another with one',
      {
        body: { token_type: 'bot', authed_user: { access_token: TOKEN } },
        rules: { responseMap: { access_token: '$.authed_user.access_token' } },
      },
      CLEAN,
    ],

    ...[null, '', 42, 'a\r\nb', 'é', {}].map((value): [string, Answer, Record<string, unknown>] => [
      `refresh_token ${JSON.stringify(value)}`,
      { body: tokens({ refresh_token: value }) },
      CLEAN,
    ]),
    [
      'an ID token that is kept',
      { body: tokens({ id_token: jwt({ sub: '1' }) }) },
      { ...CLEAN, id_token: jwt({ sub: '1' }) },
    ],
    ['an ID token that is null', { body: tokens({ id_token: null }) }, CLEAN],
    [
      'nested tokens',
      {
        body: {
          ok: true,
          access_token: 'bot',
          refresh_token: 'bot-refresh',
          scope: 'bot',
          authed_user: { access_token: TOKEN, token_type: 'user', scope: 'a,b' },
        },
        rules: {
          tokenTypes: ['user'],
          responseMap: {
            access_token: '$.authed_user.access_token',
            refresh_token: '$.authed_user.refresh_token',
            token_type: '$.authed_user.token_type',
            scope: '$.authed_user.scope',
          },
        },
      },
      { ...CLEAN, scope: 'a b' },
    ],
  ])('%s', (_, answer, body) => {
    const repaired = repair(answer)
    expect(repaired.status).toBe(200)
    expect({ ...repaired.body }).toEqual(body)
    expect(JSON.parse(JSON.stringify(repaired.body))).toEqual(body)
  })
})

describe('a refusal is told in the words of the RFC', () => {
  test.each<[string, Answer, number, Record<string, unknown>]>([
    [
      'in a 200',
      { body: { error: 'invalid_grant', error_description: 'gone' } },
      400,
      { error: 'invalid_grant', error_description: 'gone' },
    ],
    ['beside a token', { body: tokens({ error: 'access_denied' }) }, 400, { error: 'access_denied' }],
    [
      'GitHub, as a form',
      { type: FORM_TYPE, body: 'error=bad_verification_code&error_description=The+code+is+wrong' },
      400,
      { error: 'invalid_grant', error_description: 'The code is wrong' },
    ],
    [
      'GitHub, refresh',
      { body: { error: 'bad_refresh_token' } },
      400,
      { error: 'invalid_grant', error_description: 'bad_refresh_token' },
    ],
    [
      'GitHub, client',
      { body: { error: 'incorrect_client_credentials' } },
      400,
      { error: 'invalid_client', error_description: 'incorrect_client_credentials' },
    ],
    [
      'Slack',
      { body: { ok: false, error: 'invalid_code' } },
      400,
      { error: 'invalid_grant', error_description: 'invalid_code' },
    ],
    ['ok: false alone', { body: { ok: false } }, 400, { error: 'unknown_error' }],
    [
      'Zoho',
      { body: { error: 'invalid_client_secret' } },
      400,
      { error: 'invalid_client', error_description: 'invalid_client_secret' },
    ],
    [
      'Facebook',
      { status: 400, body: { error: { message: 'Bad thing', type: 'OAuthException', code: 190 } } },
      400,
      { error: 'OAuthException', error_description: 'Bad thing' },
    ],
    [
      'HubSpot',
      { status: 400, body: { status: 'BAD_REFRESH_TOKEN', message: 'missing or unknown' } },
      400,
      { error: 'invalid_grant', error_description: 'missing or unknown' },
    ],
    ['Atlassian', { status: 403, body: { error: 'invalid_grant' } }, 403, { error: 'invalid_grant' }],
    ['a 401', { status: 401, body: { error: 'invalid_client' } }, 401, { error: 'invalid_client' }],
    [
      'a 503',
      { status: 503, body: { error: 'temporarily_unavailable' } },
      503,
      { error: 'temporarily_unavailable' },
    ],
    [
      'prose for a code',
      { body: { error: 'Something <b>broke</b>' } },
      400,
      { error: 'unknown_error', error_description: 'Something <b>broke</b>' },
    ],
    [
      'control characters',
      { body: { error: 'x', error_description: 'a\r\nb\u001b[31mc\u0000\u202Ed é' } },
      400,
      { error: 'x', error_description: 'a b [31mc d' },
    ],
    [
      'an echoed secret',
      { body: { error: 'x', error_description: `code 4f9a8b7c6d5e4f3a2b1c0d is used` } },
      400,
      { error: 'x', error_description: 'code [removed] is used' },
    ],
    [
      'a description that is no text',
      { body: { error: 'x', error_description: { a: 1 } } },
      400,
      { error: 'x' },
    ],
    [
      'a long description',
      { body: { error: 'x', error_description: 'ab '.repeat(5000) } },
      400,
      { error: 'x', error_description: 'ab '.repeat(67).slice(0, 200) },
    ],
  ])('%s', (_, answer, status, body) => {
    const repaired = repair(answer)
    expect(repaired.status).toBe(status)
    expect({ ...repaired.body }).toEqual(body)
    expect(repaired.extra).toEqual({})
  })
})

describe('what cannot be used is a fault that quotes nothing', () => {
  test.each<[string, Answer, string]>([
    [
      'HTML',
      { type: 'text/html', body: `<html><body>${TOKEN}=1</body></html>` },
      'not readable (HTTP status 200)',
    ],
    [
      'HTML where a form is expected',
      { type: 'text/html', body: '<a href="?a=b">', rules: { responseContentType: FORM_TYPE } },
      'not readable (HTTP status 200)',
    ],
    ['half an object', { body: `{"access_token":"${TOKEN}"` }, 'not readable (HTTP status 200)'],
    ['nothing', { body: '' }, 'not readable (HTTP status 200)'],
    ['a list', { body: [tokens()] }, 'not readable (HTTP status 200)'],
    ['text', { body: JSON.stringify(TOKEN) }, 'not readable (HTTP status 200)'],
    ['prose', { type: 'text/plain', body: 'Error: code = 5' }, 'not readable (HTTP status 200)'],
    [
      'what could not be decompressed',
      { body: gzipSync('{}').subarray(0, 12) },
      'not readable (HTTP status 200)',
    ],
    [
      'an unreadable failure',
      { status: 502, type: 'text/html', body: '<h1>Bad gateway</h1>' },
      'not readable (HTTP status 502)',
    ],
    [
      'a failure without a code',
      { status: 500, body: { message: 'oops', status: 'error' } },
      'no error code (HTTP status 500)',
    ],
    ['no token', { body: {} }, 'no access_token'],
    ['null', { body: tokens({ access_token: null }) }, 'no access_token'],
    ['an empty token', { body: tokens({ access_token: '' }) }, 'no access_token'],
    ['a number', { body: tokens({ access_token: 42 }) }, 'access_token is not visible ASCII'],
    [
      'a line break in the token',
      { body: tokens({ access_token: `${TOKEN}\r\nX: y` }) },
      'access_token is not visible ASCII',
    ],
    [
      'a final line break',
      { body: tokens({ access_token: `${TOKEN}\n` }) },
      'access_token is not visible ASCII',
    ],
    [
      'a NUL in the token',
      { body: tokens({ access_token: `${TOKEN}\u0000` }) },
      'access_token is not visible ASCII',
    ],
    ['a token type that is no text', { body: tokens({ token_type: 1 }) }, 'token_type is not text'],
    [
      'another token type',
      { body: tokens({ token_type: 'mac' }) },
      'token_type is mac, not bearer, nor listed in token_types of the entry',
    ],
    [
      'DPoP',
      { body: tokens({ token_type: 'DPoP' }) },
      'token_type is DPoP, not bearer, nor listed in token_types of the entry',
    ],
    [
      'a token as type',
      { body: tokens({ token_type: TOKEN }) },
      'token_type is not bearer, nor listed in token_types of the entry',
    ],
    [
      'a part of a token as type',
      { body: tokens({ access_token: 'abcdef', token_type: 'bcd' }) },
      'token_type is not bearer, nor listed in token_types of the entry',
    ],
    [
      'a mapped token that is absent',
      { body: tokens(), rules: { responseMap: { access_token: '$.data.token' } } },
      'no access_token',
    ],
  ])('%s', (_, answer, message) => {
    const fault = (() => {
      try {
        return repair(answer)
      } catch (error) {
        return error
      }
    })()
    expect(fault).toBeInstanceOf(TokenResponseFault)
    expect(fault).toMatchObject({ message })
    expect((fault as Error).cause).toBeUndefined()
  })
})

describe('the other members', () => {
  test('are kept for tools, without anything secret', () => {
    const { extra } = repair({
      body: tokens({
        token_type: 'bot',
        refresh_token: 'SECRET-refresh',
        id_token: jwt({ sub: 'SECRET' }),
        instance_url: 'https://eu1.salesforce.com',
        team: { id: 'T1', name: 'Team', webhook_secret: 'SECRET' },
        authed_user: { id: 'U1', access_token: 'SECRET', scopes: ['a'] },
        x_refresh_token_expires_in: 8_726_400,
        client_secret: 'SECRET',
        signature: 'SECRET',
        tokens: { a: 'SECRET' },
        raw: `x ${TOKEN} y`,
        other: jwt({ a: 'SECRET' }),
        long: 'SECRET'.repeat(1000),
        deep: { a: { b: { c: { d: { e: 'SECRET' } } } } },
      }),
      rules: { tokenTypes: ['bot'] },
    })
    expect(extra).toEqual({
      token_type: 'bot',
      instance_url: 'https://eu1.salesforce.com',
      team: { id: 'T1', name: 'Team' },
      authed_user: { id: 'U1', scopes: ['a'] },
      x_refresh_token_expires_in: 8_726_400,
      deep: { a: { b: { c: {} } } },
    })
    expect(JSON.stringify(extra)).not.toMatch(/SECRET|eyJ/)
  })

  test('take no prototype along', () => {
    const { extra } = repair({
      body: `{"access_token":"t","token_type":"bearer","a":{"__proto__":{"x":1},"b":1}}`,
    })
    expect(JSON.stringify(extra)).toBe('{"a":{"b":1}}')
    expect((extra.a as { x?: number }).x).toBeUndefined()
  })
})

describe('an ID token that is not kept', () => {
  test('leaves its claims', () => {
    const { body, idTokenClaims } = repair({
      body: tokens({ id_token: jwt({ sub: '1', name: 'Ada' }) }),
      rules: { keepIdToken: false },
    })
    expect(body).toEqual(CLEAN)
    expect({ ...idTokenClaims }).toEqual({ sub: '1', name: 'Ada' })
  })

  test.each(['', 'x', 'a.b', 'a.b.c', 'a.b.c.d.e', jwt(['a']), 42, null])(
    'leaves none when it is %j',
    (id_token) => {
      const repaired = repair({ body: tokens({ id_token }), rules: { keepIdToken: false } })
      expect(repaired.body).toEqual(CLEAN)
      expect(repaired.idTokenClaims).toBeUndefined()
    },
  )
})

describe('user info', () => {
  const read = (body: unknown, map?: Record<string, string>) =>
    readUserInfo(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)), {
      ...(map && { responseMap: map }),
    })

  test('is a JSON object', () => {
    expect({ ...read('\uFEFF{"id":1,"__proto__":{"admin":true}}') }).toEqual({ id: 1 })
  })

  test('becomes what the map names, under any names', () => {
    expect({ ...read({ data: { viewer: { id: 7 } } }, { my_id: '$.data.viewer.id', none: '$.x' }) }).toEqual({
      my_id: 7,
    })
  })

  test('is a list as `items` (Xero, Atlassian)', () => {
    expect({ ...read('[{"id":1}]') }).toEqual({ items: [{ id: 1 }] })
    expect({ ...read('[{"id":1},{"id":2}]', { first: '$.items[0].id' }) }).toEqual({ first: 1 })
  })

  test.each(['', '[', '"x"', 'null', '{"id":', '<html>', 'id=1', '{"ok":false,"id":1}', '{"error":"x"}'])(
    'is refused as %j',
    (body) => {
      expect(() => read(body)).toThrow(TokenResponseFault)
    },
  )
})
