import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  baseStringOf,
  percentEncode,
  signatureOf,
  signedAuthorization,
} from '../../../src/providers/oauth1/signature.ts'
import '../../random-input.ts'

const PHOTOS = { clientId: 'dpf43f3p2l4k3l03', clientSecret: 'kd94hf93k423kf44' } as const

describe('the examples of RFC 5849', () => {
  test('the base string of section 3.4.1.1 has query, header and form, sorted', () => {
    const base = baseStringOf(
      {
        method: 'post',
        url: new URL('http://EXAMPLE.com:80/request?b5=%3D%253D&a3=a&c%40=&a2=r%20b'),
        form: Buffer.from('c2&a3=2+q'),
      },
      {
        oauth_consumer_key: '9djdj82h48djs9d2',
        oauth_token: 'kkk9d7dh3k39sjv7',
        oauth_signature_method: 'HMAC-SHA1',
        oauth_timestamp: '137131201',
        oauth_nonce: '7d8f3e4a',
      },
    )
    expect(base).toBe(
      'POST&http%3A%2F%2Fexample.com%2Frequest&a2%3Dr%2520b%26a3%3D2%2520q%26a3%3Da%26b5%3D%253D%25253D%26c%2540%3D%26c2%3D%26oauth_consumer_key%3D9djdj82h48djs9d2%26oauth_nonce%3D7d8f3e4a%26oauth_signature_method%3DHMAC-SHA1%26oauth_timestamp%3D137131201%26oauth_token%3Dkkk9d7dh3k39sjv7',
    )
  })

  test.each([
    [
      'the token request',
      { method: 'POST', url: new URL('https://photos.example.net/token') },
      {
        oauth_token: 'hh5s93j4hdidpola',
        oauth_timestamp: '137131201',
        oauth_nonce: 'walatlh',
        oauth_verifier: 'hfdp7dh39dks9884',
      },
      'hdhd0244k9j7ao03',
      'gKgrFCywp7rO0OXSjdot/IHF7IU=',
    ],
    [
      'a request to the API',
      { method: 'GET', url: new URL('http://photos.example.net/photos?file=vacation.jpg&size=original') },
      { oauth_token: 'nnch734d00sl2jdk', oauth_timestamp: '137131202', oauth_nonce: 'chapoH' },
      'pfkkdhi9sl3r4s00',
      'MdpQcU8iPSUjWoN/UDMsK2sui9I=',
    ],
  ])('section 1.2 signs %s', (_, request, params, tokenSecret, signature) => {
    const all = { oauth_consumer_key: PHOTOS.clientId, oauth_signature_method: 'HMAC-SHA1', ...params }
    const keys = { ...PHOTOS, tokenSecret, signatureMethod: 'HMAC-SHA1' } as const
    expect(signatureOf(keys, baseStringOf(request, all))).toBe(signature)
  })

  test('section 3.4.4: with PLAINTEXT the signature is the two secrets, encoded', () => {
    const keys = { clientId: 'c', clientSecret: 'djr9rjt0jd78jf88', tokenSecret: 'jjd999tj88uiths3' } as const
    expect(signatureOf({ ...keys, signatureMethod: 'PLAINTEXT' }, '')).toBe(
      'djr9rjt0jd78jf88&jjd999tj88uiths3',
    )
    expect(signatureOf({ clientId: 'c', clientSecret: 'a&b', signatureMethod: 'PLAINTEXT' }, '')).toBe(
      'a%26b&',
    )
  })
})

describe('the encoding of section 3.6', () => {
  test.each([
    ['abcABC123', 'abcABC123'],
    ['-._~', '-._~'],
    ['%', '%25'],
    ['+', '%2B'],
    ['&=*', '%26%3D%2A'],
    ["!'()", '%21%27%28%29'],
    ['\n', '%0A'],
    ['\u0080', '%C2%80'],
    ['\u3001', '%E3%80%81'],
    ['😀', '%F0%9F%98%80'],
  ])('%j becomes %s', (text, encoded) => {
    expect(percentEncode(text)).toBe(encoded)
  })

  test('it is undone by decoding, and leaves no character that a header or a query could read otherwise', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (given) => {
        const text = given.toWellFormed()
        const encoded = percentEncode(text)
        expect(encoded).toMatch(/^(?:[\w.~-]|%[0-9A-F]{2})*$/)
        expect(decodeURIComponent(encoded)).toBe(text)
      }),
    )
  })
})

describe('what is signed', () => {
  const url = new URL('https://api.example/path')
  const params = { oauth_nonce: 'n' }

  test('the same parameters give the same base string in a query, in a form, and in any order', () => {
    const pairs = fc.array(fc.tuple(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' })), {
      maxLength: 6,
    })
    fc.assert(
      fc.property(pairs, (drawn) => {
        const query = new URLSearchParams(drawn).toString()
        const reversed = new URLSearchParams([...drawn].reverse()).toString()
        const base = (request: object) => baseStringOf({ method: 'POST', url, ...request }, params)
        const expected = base({ path: `/path${query === '' ? '' : `?${query}`}` })
        expect(base({ form: Buffer.from(reversed) })).toBe(expected)
      }),
    )
  })

  test('bytes that are not UTF-8 stay those bytes', () => {
    expect(baseStringOf({ method: 'GET', url, path: '/path?a=%ff' }, params)).toContain('a%3D%25FF')
  })

  test('a port is signed unless it is that of the scheme, and the path as it is sent', () => {
    const at = (text: string, path?: string) =>
      decodeURIComponent(
        baseStringOf({ method: 'GET', url: new URL(text), ...(path && { path }) }, {}).split('&')[1] ?? '',
      )
    expect(at('https://a.example:443/')).toBe('https://a.example/')
    expect(at('https://a.example:8443/x')).toBe('https://a.example:8443/x')
    expect(at('https://a.example', '/a%2Fb//c?q')).toBe('https://a.example/a%2Fb//c')
  })

  test('each request has a nonce of its own, and the realm outside of the signature', () => {
    const keys = {
      clientId: 'c',
      clientSecret: 's',
      signatureMethod: 'HMAC-SHA256',
      realm: 'Photos',
    } as const
    const sign = (nonce?: string) => signedAuthorization(keys, { method: 'GET', url }, 1_800_000_000, nonce)
    const [one, other] = [sign(), sign()]
    const nonceOf = (header: string) => /oauth_nonce="([^"]{32})"/.exec(header)?.[1]
    expect(nonceOf(one)).toBeDefined()
    expect(nonceOf(one)).not.toBe(nonceOf(other))
    expect(one).toMatch(/^OAuth realm="Photos", oauth_consumer_key="c", .*oauth_timestamp="1800000000"/)
    const { realm: _, ...without } = keys
    const signatureIn = (header: string) => /oauth_signature="([^"]+)"/.exec(header)?.[1]
    const unrealmed = signedAuthorization(without, { method: 'GET', url }, 1_800_000_000, 'n')
    expect(signatureIn(sign('n'))).toBe(signatureIn(unrealmed))
  })
})
