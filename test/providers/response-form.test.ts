import { expect, test } from 'vitest'
import { formOfResponse } from '../../src/providers/response-form.ts'

const formOf = (text: string, type = 'application/json') =>
  formOfResponse({ status: 200, headers: { 'content-type': type }, body: new TextEncoder().encode(text) })

test.each<[string, object, readonly string[]]>([
  ['the standard members first', { a: 1, access_token: 'x' }, ['access_token: text', 'a: number']],
  ['separators of scopes', { scope: 'a b' }, ['scope: spaces']],
  ['commas', { scope: 'a,b' }, ['scope: commas']],
  ['commas with spaces', { scope: 'a, b' }, ['scope: spaces']],
  ['a list', { scope: ['a'] }, ['scope: list']],
  ['a lifetime', { expires_in: 3600 }, ['expires_in: number']],
  ['a lifetime as text', { expires_in: '3600' }, ['expires_in: number']],
  ['none', { expires_in: 0 }, ['expires_in: zero']],
  ['a time', { expires_in: 1_800_000_000 }, ['expires_in: unix_seconds']],
  ['a time in milliseconds', { expiry: 1_800_000_000_000 }, ['expiry: unix_milliseconds']],
  ['a date', { expires_at: '2027-01-01T00:00:00Z' }, ['expires_at: date']],
  ['a type', { token_type: 'Bot' }, ['token_type: bot']],
  ['a type that is no name', { token_type: 'x1 y' }, ['token_type: text']],
  ['nested tokens', { user: { access_token: 'x', id: 1 } }, ['user.access_token: text', 'user: object']],
  ['nothing', { scope: '', refresh_token: null }, ['refresh_token: null', 'scope: empty']],
])('%s', (_, members, forms) => {
  expect(formOf(JSON.stringify(members))).toEqual(forms)
})

test('no value is among the forms: neither a token as a type nor one as a name', () => {
  const token = 'abcdefghij'
  const long = 'a1b2c3d4e5f6a1b2c3d4'
  const forms = formOf(JSON.stringify({ access_token: token, token_type: token, [long]: { scope: token } }))
  expect(forms).toEqual(['access_token: text', 'token_type: text'])
})

test('is bounded, and reads forms; anything else has none', () => {
  const many = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`member_${i}`, i]))
  expect(formOf(JSON.stringify(many))).toHaveLength(16)
  expect(formOf('access_token=x&scope=a%2Cb', 'application/x-www-form-urlencoded')).toEqual([
    'access_token: text',
    'scope: commas',
  ])
  expect(formOf('<h1>Hello</h1>', 'text/html')).toBeUndefined()
})
