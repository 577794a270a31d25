import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Outgoing, OutgoingError, type OutgoingResponse } from '../../src/egress/outgoing.ts'
import type { Grant } from '../../src/providers/grant.ts'
import { createOAuthClient } from '../../src/providers/oauth-client.ts'
import { ProviderRefusal, retryAfterSeconds } from '../../src/providers/provider-refusal.ts'
import { applyResponseMap, evaluateText, parseExpression } from '../../src/providers/response-map.ts'
import {
  readUserInfo,
  repairTokenResponse,
  TokenResponseFault,
  type TokenResponseRules,
} from '../../src/providers/token-response.ts'
import { anyText } from '../any-text.ts'
import { clientAt } from '../threats/callers.ts'

const NOW = 1_800_000_000
const VSCHAR = /^[\x20-\x7e]+$/

const text = fc.oneof(
  fc.string(),
  anyText(),
  fc.constantFrom('bearer', 'Bearer', 'at_1', 'a\r\nb', 'é', 'ok', ''),
)
const value = fc.oneof(
  text,
  fc.jsonValue({ maxDepth: 3 }),
  fc.double({ noDefaultInfinity: true, noNaN: true }),
  fc.integer(),
  fc.constantFrom(null, true, false, 0, -1, 1e300, '3600', '-5', '1e9', 'NaN'),
)
const MEMBERS = [
  'access_token',
  'refresh_token',
  'id_token',
  'token_type',
  'expires_in',
  'expires_at',
  'scope',
  'error',
  'error_description',
  'ok',
  'code',
  'status',
  'message',
  '__proto__',
  'constructor',
  'team',
] as const
const members = fc
  .array(fc.tuple(fc.oneof(fc.constantFrom(...MEMBERS), fc.string()), value), { maxLength: 10 })
  .map(
    (entries) =>
      `{${entries.map(([name, one]) => `${JSON.stringify(name)}:${JSON.stringify(one)}`).join(',')}}`,
  )
/** Mostly good, so that what lies behind the first checks is reached. */
const likely = members.map((json) =>
  json.replace(/^\{/, `{"access_token":"at","token_type":"bearer"${json === '{}' ? '' : ','}`),
)
const form = fc
  .array(fc.tuple(fc.constantFrom(...MEMBERS), text), { maxLength: 8 })
  .map((entries) => new URLSearchParams(entries.map(([name, one]) => [name, one.toWellFormed()])).toString())
const body = fc.oneof(
  members.map((json) => Buffer.from(json)),
  likely.map((json) => Buffer.from(json)),
  likely.map((json) => Buffer.from(`\ufeff${json}`, 'utf16le')),
  likely.chain((json) => fc.nat(json.length).map((end) => Buffer.from(json.slice(0, end)))),
  form.map((one) => Buffer.from(one)),
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
  fc.json().map((one) => Buffer.from(one)),
)
const status = fc.oneof(
  fc.constantFrom(200, 200, 200, 201, 204, 400, 401, 403, 429, 500, 503),
  fc.integer({ min: 100, max: 599 }),
)
const contentType = fc.constantFrom(
  undefined,
  '',
  'application/json',
  'text/html',
  'application/x-www-form-urlencoded; charset=x',
  'x',
)
const rules: fc.Arbitrary<TokenResponseRules> = fc.record(
  {
    responseContentType: fc.constantFrom(
      'application/json' as const,
      'application/x-www-form-urlencoded' as const,
    ),
    tokenTypes: fc.constantFrom([], [''], ['bot'], ['', 'mac']),
    keepIdToken: fc.boolean(),
    now: fc.constant(NOW),
    expirationFormat: fc.constantFrom('absolute_unix_timestamp' as const, 'relative_seconds' as const),
    responseMap: fc.constantFrom(
      { access_token: '$.team', scope: "join($.scope, ' ')" },
      { expires_in: "jwt_decode($.id_token, '$.exp')" },
    ),
  },
  { requiredKeys: ['responseContentType', 'tokenTypes', 'keepIdToken', 'now'] },
)

describe('threats 17 to 24: whatever a token endpoint answers', () => {
  test('the repairs give clean members or their own fault', () => {
    fc.assert(
      fc.property(status, contentType, body, rules, (code, type, bytes, how) => {
        try {
          const repaired = repairTokenResponse(code, type, bytes, how)
          const { access_token, refresh_token, token_type, expires_in, scope, error, error_description } =
            repaired.body
          if (repaired.status === 200) {
            expect(access_token).toMatch(VSCHAR)
            expect(token_type).toBe('bearer')
            if (refresh_token !== undefined) expect(refresh_token).toMatch(VSCHAR)
            if (scope !== undefined) expect(scope).toMatch(/^[\x21-\x7e]+( [\x21-\x7e]+)*$/)
            if (expires_in !== undefined)
              expect(
                Number.isInteger(expires_in) &&
                  Number(expires_in) >= 1 &&
                  Number(expires_in) <= 10 * 365 * 86_400,
              ).toBe(true)
            expect(error).toBeUndefined()
          } else {
            expect(error).toMatch(/^[A-Za-z][\w.:-]{0,63}$/)
            expect(access_token).toBeUndefined()
            if (error_description !== undefined) expect(error_description).toMatch(/^[\x20-\x7e]{1,200}$/)
          }
          expect(Object.keys(repaired.extra)).not.toContain('__proto__')
        } catch (error) {
          if (!(error instanceof TokenResponseFault)) throw error
        }
      }),
    )
  })

  test('the client gives a grant or a ProviderRefusal, to a code and to a refresh token', async () => {
    const answered = fc.record({
      status,
      headers: fc.record({ 'content-type': contentType.map(String), 'retry-after': text }),
      body,
    })
    const failed = fc
      .constantFrom(
        'host_not_allowed' as const,
        'busy' as const,
        'unreachable' as const,
        'timeout' as const,
        'too_large' as const,
        'redirected' as const,
      )
      .map((kind) => new OutgoingError(kind, 'a host', { requestSent: true }))
    await fc.assert(
      fc.asyncProperty(
        fc.oneof({ weight: 9, arbitrary: answered }, { weight: 1, arbitrary: failed }),
        async (outcome) => {
          const oauth = createOAuthClient(answering(outcome), () => NOW)
          const client = clientAt('https://public.example/token')
          const response = new URLSearchParams({ code: 'c', state: 's' })
          for (const sent of [
            oauth.redeem(client, response, { providerIdentity: 'p', codeVerifier: 'v'.repeat(43) }),
            oauth.refresh(client, { refreshToken: 'r', accessToken: 'a' }),
          ])
            await sent.then(sound, (error: unknown) => {
              expect(error).toBeInstanceOf(ProviderRefusal)
              expect((error as Error).message).toMatch(/^[\x20-\x7e]{1,300}$/)
            })
        },
      ),
    )
  })

  test('user info is an object without a prototype, or a fault', () => {
    fc.assert(
      fc.property(body, (bytes) => {
        try {
          expect(Object.getPrototypeOf(readUserInfo(bytes, {}))).toBeNull()
        } catch (error) {
          if (!(error instanceof TokenResponseFault)) throw error
        }
      }),
    )
  })

  test('Retry-After is 1 second to 5 minutes, or nothing', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          text,
          fc.integer().map(String),
          fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
        ),
        (given) => {
          const seconds = retryAfterSeconds(given, NOW)
          if (seconds !== undefined) expect(seconds >= 1 && seconds <= 300).toBe(true)
        },
      ),
    )
  })
})

test('threat 26: a response map never throws and never looks at what is inherited', () => {
  const expression = fc.oneof(
    fc.string({ maxLength: 60 }),
    fc
      .array(
        fc.constantFrom(
          '$',
          '.a',
          '.constructor',
          '.__proto__',
          '[0]',
          "['a b']",
          'join(',
          'jwt_decode(',
          ',',
          "'",
          '"',
          ')',
          ' ',
          '\\',
          '.é',
        ),
        { maxLength: 14 },
      )
      .map((parts) => parts.join('')),
  )
  fc.assert(
    fc.property(expression, fc.jsonValue({ maxDepth: 4 }), (written, document) => {
      expect(Object.keys(parseExpression(written))).toHaveLength(1)
      const found = evaluateText(written, document)
      expect(typeof found).not.toBe('function')
      if (found !== null && typeof found === 'object')
        expect(JSON.stringify(document)).toContain(JSON.stringify(found))
      applyResponseMap({ access_token: written }, document)
    }),
  )
})

function answering(outcome: OutgoingResponse | OutgoingError): Outgoing {
  return {
    send: async () => {
      if (outcome instanceof OutgoingError) throw outcome
      return outcome
    },
    stream: () => Promise.reject(new Error('nothing here is read as a stream')),
    allows: () => true,
    lookUpTxt: async () => ({ outcome: 'found', values: [] }),
    close: async () => {},
  }
}

function sound(grant: Grant): void {
  expect(grant.accessToken).toMatch(VSCHAR)
  if (grant.refreshToken !== undefined) expect(grant.refreshToken).toMatch(VSCHAR)
  if (grant.expiresIn !== undefined)
    expect(Number.isInteger(grant.expiresIn) && grant.expiresIn >= 1).toBe(true)
  for (const scope of grant.scopes ?? []) expect(scope).toMatch(/^[\x21-\x7e]+$/)
}
