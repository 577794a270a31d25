import { describe, expect, test } from 'vitest'
import {
  applyResponseMap,
  checkResponseMap,
  evaluateText,
  parseExpression,
  selectByMap,
} from '../../src/providers/response-map.ts'

const jwt = (claims: object) => `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.sig`

const document = {
  a: { b: 1, list: [{ c: 'x' }], 'with space': 'yes', "it's": 'quoted' },
  scopes: ['read', 'write', 3, null, {}],
  tok: jwt({ scp: ['r', 'w'], nested: { claim: 'deep' } }),
  outer: { id_token: jwt({ inner: jwt({ sub: 'user-1' }) }) },
  broken: 'not-a-jwt',
  'data-x': 'dash',
}

describe('an expression', () => {
  test.each([
    ['$', document],
    ['$.a.b', 1],
    [' $.a.b ', 1],
    ['$.a.list[0].c', 'x'],
    ["$['a']['with space']", 'yes'],
    ['$["a"].b', 1],
    ["$.a['it\\'s']", 'quoted'],
    ['$.data-x', 'dash'],
    ['$.a.list[7].c', undefined],
    ['$.a.b.c', undefined],
    ['$.nothing', undefined],
    ['$.scopes.length', undefined],
    ['$.constructor.name', undefined],
    ['$.__proto__', undefined],
    ["$['__proto__']", undefined],
    ['$.a.list[0].toString', undefined],
    ["join('$.scopes',' ')", 'read write 3'],
    ["join($.scopes, ',')", 'read,write,3'],
    ["join('$.a.list[0].c', ' ')", 'x'],
    ["join('$.nothing', ' ')", undefined],
    ["jwt_decode('$.tok', '$.nested.claim')", 'deep'],
    ["join(jwt_decode('$.tok', '$.scp'), ' ')", 'r w'],
    ["jwt_decode(jwt_decode('$.outer.id_token', '$.inner'), '$.sub')", 'user-1'],
    ["jwt_decode('$.tok', join('$.scp', '+'))", 'r+w'],
    ["jwt_decode('$.broken', '$.sub')", undefined],
    ["jwt_decode('$.a', '$.sub')", undefined],
  ])('%s finds what stands there', (text, found) => {
    expect(parseExpression(text)).toHaveProperty('expression')
    expect(evaluateText(text, document)).toEqual(found)
  })

  test.each([
    ['', /neither a path/],
    ['a.b', /neither a path/],
    ['$.', /no name after the dot/],
    ['$..a', /no name after the dot/],
    ['$.a b', /goes on after its end/],
    ['$.a[', /something other than an index/],
    ['$.a[*]', /something other than an index/],
    ['$.a[-1]', /something other than an index/],
    ['$.a[?(@.x)]', /something other than an index/],
    ['$.a[0', /wants \]/],
    ["$['a", /not closed/],
    ["join('$.a')", /wants ,/],
    ["join('$.a', ' '", /wants \)/],
    ["join('$.a', $.b)", /quoted text/],
    ["join('nope', ' ')", /neither a path/],
    ["exec('$.a')", /neither a path/],
    [`$${'.a'.repeat(33)}`, /more than 32 steps/],
    [`$.${'a'.repeat(500)}`, /longer than 500/],
    [`${'join('.repeat(10)}$.a${",' ')".repeat(10)}`, /nested deeper/],
  ])('%j is refused', (text, fault) => {
    expect(parseExpression(text)).toEqual({ fault: expect.stringMatching(fault) })
    expect(evaluateText(text, document)).toBeUndefined()
  })
})

describe('a response map', () => {
  const map = { access_token: '$.authed_user.access_token', refresh_token: '$.authed_user.refresh_token' }
  const body = JSON.parse(
    '{"ok":true,"access_token":"bot","refresh_token":"bots","expires_in":5,"authed_user":{"access_token":"user"},"__proto__":{"x":1}}',
  )

  test('moves mapped members, drops those not found and keeps the rest', () => {
    const mapped = applyResponseMap(map, body)
    expect(mapped).toMatchObject({ ok: true, access_token: 'user', expires_in: 5 })
    expect(mapped).not.toHaveProperty('refresh_token')
    expect(Object.getPrototypeOf(mapped)).toBeNull()
    expect(mapped.x).toBeUndefined()
  })

  test('selects the mapped members alone', () => {
    expect({ ...selectByMap({ name: '$.authed_user.access_token', none: '$.x' }, body) }).toEqual({
      name: 'user',
    })
  })

  test.each(['a text', null, 5, ['$.a']])('a body of %j has no members', (odd) => {
    expect({ ...applyResponseMap(map, odd) }).toEqual({})
  })

  test('is checked when it is registered', () => {
    expect(checkResponseMap(map)).toBeUndefined()
    expect(checkResponseMap({ ...map, scope: 'join(' })).toMatch(/^scope /)
  })
})
