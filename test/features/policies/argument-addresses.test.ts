import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readAddressList } from '../../../src/features/policies/argument-addresses.ts'
import { canonicalHost, domainTest, hostOfUrl } from '../../../src/features/policies/argument-hosts.ts'

const texts = (list: string) => readAddressList(list)?.map(({ text }) => text)

describe('an address list (RFC 5322)', () => {
  test.each<[string, readonly string[]]>([
    ['', []],
    [' \t ', []],
    ['a@acme.com', ['a@acme.com']],
    ['A.B+c@ACME.com', ['a.b+c@acme.com']],
    ['a@acme.com, e@evil.com', ['a@acme.com', 'e@evil.com']],
    ['"a@acme.com" <e@evil.com>', ['e@evil.com']],
    ['e@evil.com (a@acme.com)', ['e@evil.com']],
    ['(a@acme.com (nested \\) )) e(x)@(y)evil.com', ['e@evil.com']],
    ['"Doe, Jane" <jane@acme.com>, Bob Q. Doe <bob@acme.com>', ['jane@acme.com', 'bob@acme.com']],
    ['Jörg Müller <joerg@bücher.example>', ['joerg@xn--bcher-kva.example']],
    ['"ceo"@acme.com', ['ceo@acme.com']],
    ['"c\\e\\o"@acme.com', ['ceo@acme.com']],
    ['e@evil。com, e@ｅｖｉｌ．com', ['e@evil.com', 'e@evil.com']],
    ['e@xn--bcher-kva.example', ['e@xn--bcher-kva.example']],
    ['e@evil.com.', ['e@evil.com']],
    ['Team: a@acme.com, E <e@evil.com>;', ['a@acme.com', 'e@evil.com']],
    ['undisclosed recipients:;, a@acme.com', ['a@acme.com']],
  ])('%j has the addresses %j', (list, addresses) => {
    expect(texts(list)).toEqual(addresses)
  })

  test.each([
    'a@acme.com\n@evil',
    'a@acme.com\r\n e@evil.com',
    'a@acme.com\0',
    'user@acme.com@evil.com',
    'a@acme.com <e@evil.com>',
    '<@acme.com:e@evil.com>',
    'a@acme.com; e@evil.com',
    'a@acme.com e@evil.com',
    'a@acme.com,,e@evil.com',
    ',a@acme.com',
    'a@acme.com,',
    'Team: a@acme.com',
    'Team: Inner: a@acme.com;;',
    'a . b@acme.com',
    'a..b@acme.com',
    '.a@acme.com',
    '"e@evil.com,"@acme.com',
    '"<e@evil.com>"@acme.com',
    'e＠evil.com，a@acme.com',
    'a@acme.com，e@evil.com',
    'a@acme.com＠evil.com',
    'a@[127.0.0.1]',
    'a@[acme.com]',
    'a@',
    '@acme.com',
    '""@acme.com',
    '<>',
    'acme.com',
    '"a@acme.com',
    '(a@acme.com',
    'a@acme.com)',
    'a@acme%2ecom',
    'a@acme.com/evil.com',
    'a@acme.com#evil.com',
    'a@acme.com:25',
    'a@ac\u200bme.com',
    '\u202ea@acme.com',
    'a\u00a0@acme.com',
    'a@acme..com',
    'a@xn--\u00fc.com',
  ])('%j is none', (list) => {
    expect(readAddressList(list)).toBeUndefined()
  })

  const local = fc.stringMatching(/^[a-z0-9!#$%&'*+/=?^_`{|}~-]{1,8}$/)
  const domain = fc.constantFrom('acme.com', 'evil.com', 'a.b.example')
  const name = fc.string({ maxLength: 12 }).map((text) => text.replace(/[^\x20-\x7e]/g, ''))
  const quoted = name.map((text) => `"${text.replace(/["\\]/g, '\\$&')}"`)
  const comment = name.map((text) => `(${text.replace(/[()\\]/g, '\\$&')})`)
  const mailbox = fc.record({ address: fc.tuple(local, domain), quoted, comment, form: fc.nat(3) })

  test('each address is found, whatever stands in quotation marks and comments', () => {
    fc.assert(
      fc.property(fc.array(mailbox, { minLength: 1, maxLength: 6 }), (all) => {
        const list = all.map(({ address: [user, host], quoted, comment, form }) => {
          const address = `${user}@${host}`
          return [address, `${quoted} <${address}>`, `${comment}${address} ${comment}`, `<${address}>`][form]
        })
        expect(texts(list.join(', '))).toEqual(all.map(({ address }) => address.join('@')))
      }),
    )
  })

  test('what is read has no more "@" than addresses, outside of quotation marks and comments', () => {
    const parts = fc.constantFrom(
      'a',
      '@',
      ',',
      '<',
      '>',
      '"',
      '(',
      ')',
      ':',
      ';',
      '.',
      ' ',
      '\\',
      'é',
      'acme.com',
      '\n',
    )
    fc.assert(
      fc.property(fc.array(parts, { maxLength: 14 }), (drawn) => {
        const list = drawn.join('')
        const found = readAddressList(list)
        if (found === undefined) return
        const bare = list.replace(/\\./g, '').replace(/"[^"]*"/g, '')
        const commented = bare.includes('(')
        if (!commented) expect(bare.split('@').length - 1).toBe(found.length)
      }),
      { numRuns: 20_000 },
    )
  })

  test('a long list takes time in proportion to its length', () => {
    const started = performance.now()
    for (const list of [
      '('.repeat(300_000),
      'a '.repeat(150_000),
      '"'.repeat(300_000),
      'a,'.repeat(150_000),
      '\\('.repeat(150_000),
    ])
      expect(readAddressList(list)).toBeUndefined()
    expect(readAddressList(Array(20_000).fill('a@acme.com').join(','))).toHaveLength(20_000)
    expect(performance.now() - started).toBeLessThan(30_000)
  })
})

describe('a URL', () => {
  test.each<[string, string | undefined]>([
    ['https://acme.com/x?y#z', 'acme.com'],
    ['HTTPS://ACME.COM.:8443', 'acme.com'],
    ['https://acme.com@evil.com', 'evil.com'],
    ['https://acme.com:pw@evil.com/', 'evil.com'],
    ['https://evil.com#@acme.com', 'evil.com'],
    ['https://evil.com?@acme.com', 'evil.com'],
    ['https://evil.com/@acme.com', 'evil.com'],
    ['https://acme。com', 'acme.com'],
    ['https://bücher.example', 'xn--bcher-kva.example'],
    ['http://0x7f.1/', '127.0.0.1'],
    ['http://[::1]:80/', '[::1]'],
    ['https://evil.com\\@acme.com', undefined],
    ['https:\\\\acme.com', undefined],
    ['https:acme.com', undefined],
    ['https:///acme.com', undefined],
    ['//acme.com', undefined],
    ['acme.com', undefined],
    ['https://a@b@acme.com', undefined],
    ['https://acme%2ecom', undefined],
    ['https://evil.com%2f.acme.com', undefined],
    ['https://evil.com／.acme.com', undefined],
    ['https://ac\tme.com', undefined],
    [' https://acme.com', undefined],
    ['https://acme.com https://evil.com', undefined],
    ['javascript://acme.com/%0aalert(1)', undefined],
    ['mailto:a@acme.com', undefined],
    ['https://', undefined],
  ])('%j is of the host %j', (url, host) => {
    expect(hostOfUrl(url)).toBe(host)
  })
})

test('a domain is itself alone, and with a star what is below it', () => {
  const isIn = domainTest(['ACME.com.', '*.acme.org', 'Bücher.example', '[::1]'])
  const hosts = [
    'acme.com',
    'a.acme.com',
    'acme.org',
    'b.a.acme.org',
    'evilacme.org',
    'xn--bcher-kva.example',
    '[::1]',
  ]
  expect(hosts.map((host) => isIn?.(host))).toEqual([true, false, false, true, false, true, true])
  for (const bad of ['', 'a b', 'https://acme.com', 'acme.com/x', '*', '*.', 'a.*.com', 'acme.com:1', 'a@b'])
    expect(domainTest([bad]), bad).toBeUndefined()
  expect(canonicalHost('x'.repeat(300))).toBeUndefined()
})
