import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { missingScopes, splitScope, unionOfScopes } from '../../src/domain/scopes.ts'
import { clientCredentials } from '../../src/providers/client-authentication.ts'
import { requestOf } from '../../src/providers/provider-request.ts'
import type { RequestBlock } from '../../src/providers/request-block.ts'
import {
  checkTemplate,
  type Placeholder,
  renderParams,
  renderTemplate,
} from '../../src/providers/template.ts'
import { propertyRuns } from '../property-runs.ts'

const NAMES = ['client_id', 'client_secret', 'redirect_uri', 'refresh_token', 'access_token'] as const
const specialText = fc.constantFrom(
  '{{client_secret}}',
  '{{ access_token }}',
  '{{',
  '}}',
  '$&',
  '$1',
  '\r\n',
  '"',
  '&',
  '=',
  '%',
  '+',
  ' ',
  '#',
  '\\',
)
const value = fc
  .array(fc.oneof(specialText, fc.string(), fc.string({ unit: 'grapheme' })), { maxLength: 5 })
  .map((parts) => parts.join('').toWellFormed())
const values = fc.record({
  client_id: value,
  client_secret: value,
  redirect_uri: value,
  refresh_token: value,
  access_token: value,
})
const literal = fc.string({ unit: 'grapheme', minLength: 1 }).filter((one) => !/[{}\s]/.test(one))
const part = fc.oneof(
  literal.map((one) => ({ literal: one })),
  fc.constantFrom(...NAMES).map((name) => ({ name })),
)

describe('threat 26: templates', () => {
  test('inserted values are never read as templates: the result is the parts in their order', () => {
    fc.assert(
      fc.property(fc.array(part, { maxLength: 6 }), values, (parts, filled) => {
        const template = parts.map((one) => ('name' in one ? `{{${one.name}}}` : one.literal)).join('')
        expect(checkTemplate(template, NAMES)).toBeUndefined()
        expect(renderTemplate(template, filled)).toBe(
          parts.map((one) => ('name' in one ? filled[one.name] : one.literal)).join(''),
        )
      }),
    )
  })

  test('a text without a fault is a template that names only allowed values', () => {
    const written = fc
      .array(fc.oneof(specialText, fc.constantFrom('{{scopes}}', '{{x}}', '{{constructor}}'), fc.string()), {
        maxLength: 6,
      })
      .map((parts) => parts.join(''))
    fc.assert(
      fc.property(
        written,
        fc.subarray<Placeholder>([...NAMES, 'scopes']),
        values,
        (template, allowed, filled) => {
          if (checkTemplate(template, allowed) !== undefined) return
          const rest = template.replace(/\{\{\s*([A-Za-z_]+)\s*\}\}/g, (_, name) => {
            expect(allowed).toContain(name)
            return ''
          })
          expect(rest).not.toContain('{{')
          expect(typeof renderTemplate(template, { ...filled, scopes: ['a'] })).toBe('string')
        },
      ),
    )
  })

  test('every encoding decodes to the original values', () => {
    const params = { id: '{{client_id}}', 'a&b=': 'x{{client_secret}}', token: '{{refresh_token}}' }
    fc.assert(
      fc.property(values, (filled) => {
        const expected = renderParams(params, filled)
        expect(
          new URL(String(requestOf(block({ method: 'GET', params }), filled).url)).searchParams.size,
        ).toBe(Object.keys(expected).length + 1)
        expect(
          Object.fromEntries(
            new URL(String(requestOf(block({ method: 'GET', params }), filled).url)).searchParams,
          ),
        ).toEqual({ own: '1', ...expected })
        expect(
          Object.fromEntries(new URLSearchParams(String(requestOf(block({ params }), filled).body))),
        ).toEqual(expected)
        expect(
          JSON.parse(
            String(requestOf(block({ params, requestContentType: 'application/json' }), filled).body),
          ),
        ).toEqual(expected)
        const { authorization = '' } =
          requestOf(block({ authMethod: 'client_secret_basic', params: {} }), filled, {
            client: clientCredentials('client_secret_basic', {
              clientId: filled.client_id,
              clientSecret: filled.client_secret,
            }),
          }).headers ?? {}
        // without a secret the client is public
        if (filled.client_secret === '') {
          expect(authorization).toBe('')
          return
        }
        expect(authorization).toMatch(/^Basic [A-Za-z0-9+/]+=*$/)
        const pair = Buffer.from(authorization.slice(6), 'base64').toString().split(':')
        expect(pair.map((one) => decodeURIComponent(one.replaceAll('+', ' ')))).toEqual([
          filled.client_id,
          filled.client_secret,
        ])
      }),
    )
  })

  test('joined scopes have each scope once, and none is lost or added', () => {
    const scope = fc
      .string({ minLength: 1 })
      .filter((one) => /^[\x21\x23-\x2b\x2d-\x5b\x5d-\x7e]+$/.test(one))
    fc.assert(
      fc.property(
        fc.array(scope),
        fc.array(scope),
        fc.constantFrom(' ' as const, ',' as const),
        (scopes, existing_scopes, scopeSeparator) => {
          const rendered = renderTemplate('{{scopes}} {{existing_scopes}}', {
            scopes,
            existing_scopes,
            scopeSeparator,
          })
          expect(rendered === '' ? [] : rendered.split(scopeSeparator)).toEqual([
            ...new Set([...scopes, ...existing_scopes]),
          ])
        },
      ),
      { numRuns: propertyRuns({ rare: 5 }) },
    )
  })
})

describe('scopes', () => {
  const scope = fc.constantFrom(
    'read',
    'write',
    'a b',
    'a,b',
    'a',
    'b',
    'offline_access',
    'https://x.example/y',
    '',
  )
  const scopes = fc.array(scope, { maxLength: 6 })

  test('missing scopes are among the needed ones, and nothing is missing once they are granted', () => {
    fc.assert(
      fc.property(scopes, scopes, (needed, granted) => {
        const missing = missingScopes(needed, granted)
        for (const one of missing) expect(needed).toContain(one)
        expect(missingScopes(needed, [...granted, ...missing])).toEqual([])
        expect(missingScopes(needed, needed)).toEqual([])
        for (const one of granted) expect(missing).not.toContain(one)
      }),
    )
  })

  test('a union has each scope once, and a union with its parts does not change it', () => {
    fc.assert(
      fc.property(scopes, scopes, (one, other) => {
        const union = unionOfScopes(one, other)
        expect(new Set(union)).toEqual(new Set([...one, ...other]))
        expect(union.length).toBe(new Set(union).size)
        expect(unionOfScopes(union, one, other)).toEqual(union)
      }),
    )
  })

  test('a split scope has no separators left', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        for (const one of splitScope(text)) expect(one).toMatch(/^[^\s,]+$/)
      }),
    )
  })
})

function block(of: Partial<RequestBlock>): RequestBlock {
  return {
    endpoint: 'https://public.example/token?own=1',
    method: 'POST',
    params: {},
    authMethod: 'none',
    requestContentType: 'application/x-www-form-urlencoded',
    responseContentType: 'application/json',
    ...of,
  }
}
