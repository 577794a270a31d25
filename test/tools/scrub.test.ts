import { describe, expect, test } from 'vitest'
import { scrub } from '../../src/tools/scrub/scrub.ts'
import { signWorkerToken } from '../../src/tools/worker-token.ts'

const SECRETS = [
  'gho_16C7e42F292c6912E7710c838347Ae178B4a', // letters, digits, underscore
  'ya29.a0AfH6SMB-x_y~z', // as Google's
  'a+b/c==d&e?f%g h', // all that percent-encoding changes
  'quote"back\\slash\nline\ttab',
  "it's <html> & more",
  'pässwörd-🔑-schlüssel',
  '++++++++', // nothing but special characters
  '////\\\\\\\\',
  '12345678',
  signWorkerToken('key-of-the-worker', { iss: 'https://gatepass.example' }),
]

const b64 = (text: string) => Buffer.from(text).toString('base64')
const lower = (text: string) => text.replaceAll(/%[0-9A-F]{2}/g, (one) => one.toLowerCase())
const everyByte = (text: string) => [...text].map((c) => (/[A-Za-z0-9]/.test(c) ? c : percent(c))).join('')
const percent = (text: string) =>
  [...Buffer.from(text)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('')
const asciiJson = (text: string) =>
  JSON.stringify(text).replaceAll(
    /[^\x20-\x7e]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
const html = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

const FORMS: [string, (secret: string) => string][] = [
  ['itself', (secret) => secret],
  ['within a sentence', (secret) => `the token is "${secret}".`],
  ['twice, side by side', (secret) => secret + secret],
  ['in a header', (secret) => `Authorization: Bearer ${secret}\r\n`],
  ['percent-encoded', (secret) => `?t=${encodeURIComponent(secret)}&x=1`],
  ['percent-encoded in lower case', (secret) => lower(encodeURIComponent(secret))],
  ['percent-encoded in full', everyByte],
  ['percent-encoded twice', (secret) => encodeURIComponent(encodeURIComponent(secret))],
  ['in a form', (secret) => new URLSearchParams({ token: secret }).toString()],
  ['base64', b64],
  ['base64 without padding', (secret) => b64(secret).replace(/=+$/, '')],
  ['base64 in a query', (secret) => encodeURIComponent(b64(secret))],
  ['base64url', (secret) => Buffer.from(secret).toString('base64url')],
  ['in Basic', (secret) => `Basic ${b64(`user:${secret}`)}`],
  ['in a longer base64, one byte on', (secret) => b64(`u${secret}tail`)],
  ['in a longer base64url, two bytes on', (secret) => Buffer.from(`us${secret}tail`).toString('base64url')],
  ['JSON', (secret) => JSON.stringify({ token: secret })],
  ['JSON in JSON', (secret) => JSON.stringify(JSON.stringify({ token: secret }))],
  ['JSON in ASCII', asciiJson],
  ['JSON with escaped slashes', (secret) => JSON.stringify(secret).replaceAll('/', '\\/')],
  ['HTML', html],
]

/** What must be nowhere in the answer: the secret, whichever way it is taken out of its form. */
function leaks(text: string, secret: string): boolean {
  const once = [text, attempt(() => decodeURIComponent(text)), text.replaceAll('\\/', '/')]
  const twice = once.flatMap((one) => [one, attempt(() => JSON.parse(one) as string), b64Decoded(one)])
  return twice.some((one) => typeof one === 'string' && one.includes(secret))
}

function attempt(read: () => string): string {
  try {
    return read()
  } catch {
    return ''
  }
}

function b64Decoded(text: string): string {
  return Buffer.from(text.replace(/^Basic /, ''), 'base64').toString()
}

describe.each(SECRETS)('a secret like %j', (secret) => {
  test.each(FORMS)('is not left %s', (_, form) => {
    const written = form(secret)
    const scrubbed = scrub({ deep: [{ text: `<${written}>` }], alone: written }, [secret, 'another-secret'])
    const { alone, deep } = scrubbed as { alone: string; deep: [{ text: string }] }
    expect(alone).toContain('[redacted]')
    expect(deep[0].text).toMatch(/^<.*\[redacted\].*>$/s)
    expect(leaks(alone, secret)).toBe(false)
  })

  test('is not left in a key', () => {
    expect(scrub({ [secret]: 1, [`${secret} ${secret}`]: 2 }, [secret])).toEqual({
      '[redacted]': 1,
      // where one can be found across two, they are one
      [secret === '++++++++' ? '[redacted]_2' : '[redacted] [redacted]']: 2,
    })
  })
})

describe('scrub', () => {
  test.each<[string, unknown, readonly string[], unknown]>([
    [
      'leaves what has no secret as it is',
      { a: [1, null, 'x', { b: true }] },
      ['no-such-secret'],
      { a: [1, null, 'x', { b: true }] },
    ],
    ['leaves everything without secrets', ['gho_12345678'], [], ['gho_12345678']],
    ['leaves short secrets', 'seven77 is short', ['seven77'], 'seven77 is short'],
    ['finds a number', { pin: 1234567890, other: 12 }, ['1234567890'], { pin: '[redacted]', other: 12 }],
    [
      'keeps keys apart',
      { 'token-aaaa': 1, 'token-bbbb': 2 },
      ['token-aaaa', 'token-bbbb'],
      { '[redacted]': 1, '[redacted]_2': 2 },
    ],
    [
      'keeps keys apart also from those that look like it',
      { 'token-aaaa': 1, '[redacted]_2': 2, 'token-bbbb': 3, 'token-cccc': 4, '[redacted]': 5 },
      ['token-aaaa', 'token-bbbb', 'token-cccc'],
      { '[redacted]': 1, '[redacted]_2': 2, '[redacted]_3': 3, '[redacted]_4': 4, '[redacted]_5': 5 },
    ],
    [
      'takes the longer of two that begin alike',
      'prefix-12-rest-34',
      ['prefix-12', 'prefix-12-rest-34'],
      '[redacted]',
    ],
    ['knows a secret without its line end', 'key: abcdefgh!', ['abcdefgh\n'], 'key: [redacted]!'],
    ['passes undefined', undefined, ['abcdefgh'], undefined],
    ['refuses what is no JSON', { big: 1n }, ['abcdefgh'], '[not JSON]'],
  ])('%s', (_, value, secrets, expected) => {
    expect(scrub(value, secrets)).toEqual(expected)
  })

  test('a secret that was escaped for JSON is found, also before a character that makes an escape of its end', () => {
    const secret = '1x@]g2[d=&94\\f"E%W%b'
    const escaped = JSON.stringify(secret).slice(1, -1)
    expect(scrub(`${escaped}A`, [secret])).toBe('[redacted]A')
    expect(scrub({ said: [`it is ${escaped}A`] }, [secret])).toEqual({ said: ['it is [redacted]A'] })
  })

  test('copies', () => {
    const value = { inner: { text: 'x' } }
    const copy = scrub(value, ['abcdefgh']) as typeof value
    expect(copy).toEqual(value)
    expect(copy.inner).not.toBe(value.inner)
  })

  test('drops __proto__, matched or not', () => {
    const value: unknown = JSON.parse(
      '{"__proto__": {"admin": true}, "a": {"__proto__": "abcdefgh"}, "constructor": 1}',
    )
    const copy = scrub(value, ['abcdefgh'])
    expect(JSON.stringify(copy)).toBe('{"a":{},"constructor":1}')
    expect((copy as { admin?: boolean }).admin).toBeUndefined()
  })

  test('bounds the depth', () => {
    const nested: unknown = JSON.parse(`${'['.repeat(300)}"abcdefgh"${']'.repeat(300)}`)
    const text = JSON.stringify(scrub(nested, ['abcdefgh']))
    expect(text).toBe(`${'['.repeat(100)}"[too deep]"${']'.repeat(100)}`)
    const endless: unknown = JSON.parse(`${'['.repeat(200_000)}${']'.repeat(200_000)}`)
    expect(['[not JSON]', '[too deep]']).toContain([scrub(endless, [])].flat(Infinity)[0])
  })

  test('takes no longer for hostile text', () => {
    const started = performance.now()
    const secret = `\\"+/${'x'.repeat(2000)}`
    for (const text of ['\\'.repeat(1_000_000), '+'.repeat(1_000_000), secret.slice(0, -1).repeat(500)])
      scrub({ text }, [secret, '++++++++/', `${'\\'.repeat(20)}!`])
    expect(performance.now() - started).toBeLessThan(60_000)
  })
})
