import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { endpointFault } from '../../src/egress/endpoint.ts'
import { isPublicAddress, parseAllowedHost, reachRules } from '../../src/egress/public-address.ts'
import { anyText } from '../any-text.ts'

// The judge here computes with numbers and knows nothing of Node's BlockList.

const rules = reachRules([])

/** First and last address of each range that is not everybody's. */
const SPECIAL_IPV4: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['168.63.129.16', 32],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
]
const toNumber = (dotted: string) => dotted.split('.').reduce((sum, byte) => sum * 256 + Number(byte), 0)
const toDotted = (number: number) => [24, 16, 8, 0].map((shift) => (number >>> shift) & 255).join('.')
const ranges = SPECIAL_IPV4.map(([network, prefix]) => ({
  first: toNumber(network),
  size: 2 ** (32 - prefix),
}))
const isSpecial = (number: number) =>
  ranges.some(({ first, size }) => number >= first && number < first + size)

const specialIpv4 = fc
  .constantFrom(...ranges)
  .chain(({ first, size }) => fc.integer({ min: 0, max: size - 1 }).map((offset) => first + offset))
const publicIpv4 = fc.integer({ min: 0, max: 2 ** 32 - 1 }).filter((number) => !isSpecial(number))

const digit = fc.constantFrom(
  (text: string) => text,
  (text: string) => text.replace(/\d/g, (d) => String.fromCodePoint(0xff10 + Number(d))), // full width
  (text: string) => text.replace(/\d/g, (d) => String.fromCodePoint(0x1d7ce + Number(d))), // mathematical bold
  (text: string) => text.replace(/\d/g, (d) => `%3${d}`),
  (text: string) => text.replace(/[1-9]/g, (d) => String.fromCodePoint(0x245f + Number(d))), // circled
)
const radix = fc.constantFrom(
  (number: number) => String(number),
  (number: number) => `0x${number.toString(16)}`,
  (number: number) => `0X${number.toString(16).toUpperCase()}`,
  (number: number) => `0x000${number.toString(16)}`,
  (number: number) => `0${number.toString(8)}`,
  (number: number) => `000${number.toString(8)}`,
)

/** Any text that the URL parser reads as this address: one to four parts, each in a radix and with digits of its own. */
const spellingOf = (address: fc.Arbitrary<number>) =>
  fc
    .record({
      address,
      parts: fc.integer({ min: 1, max: 4 }),
      radices: fc.array(radix, { minLength: 4, maxLength: 4 }),
      digits: fc.array(digit, { minLength: 4, maxLength: 4 }),
      dot: fc.constantFrom('.', '。', '．', '｡', '%2e'),
      end: fc.constantFrom('', '', '.', '..', '...', '。'),
    })
    .map(({ address, parts, radices, digits, dot, end }) => {
      const leading = [24, 16, 8].slice(0, parts - 1).map((shift) => (address >>> shift) & 255)
      const last = parts === 4 ? address & 255 : address % 2 ** (8 * (5 - parts))
      const texts = [...leading, last].map((part, i) => digits[i]?.(radices[i]?.(part) ?? '') ?? '')
      return { address, text: texts.join(dot) + end }
    })

const port = fc.constantFrom('', ':443', ':8443', ':65535')

describe('threat 14a: any spelling of an IPv4 address', () => {
  test('of a private one is refused', () => {
    fc.assert(
      fc.property(spellingOf(specialIpv4), port, ({ address, text }, at) => {
        const url = URL.parse(`https://${text}${at}/x`)
        if (url === null) return // some mixes are no host at all
        expect(rules.allowsUrl(url), `${text} is ${toDotted(address)}`).toBe(false)
        expect(endpointFault(`https://${text}${at}/x`, () => false)).toBeDefined()
      }),
    )
  })

  test('of a public one is accepted, by https alone', () => {
    fc.assert(
      fc.property(spellingOf(publicIpv4), port, ({ address, text }, at) => {
        expect(isPublicAddress(toDotted(address))).toBe(true)
        const url = URL.parse(`https://${text}${at}/x`)
        if (url === null) return
        expect(rules.allowsUrl(url), text).toBe(true)
        url.protocol = 'http:'
        expect(rules.allowsUrl(url), text).toBe(false)
      }),
    )
  })

  test('is allowed by exactly the ranges that hold it', () => {
    const range = fc.record({ network: fc.nat(2 ** 32 - 1), prefix: fc.integer({ min: 8, max: 32 }) })
    fc.assert(
      fc.property(specialIpv4, range, fc.boolean(), (address, { network, prefix }, near) => {
        const size = 2 ** (32 - prefix)
        const base = near ? address : network
        const first = base - (base % size)
        const inside = address >= first && address < first + size
        const allowing = reachRules([{ kind: 'range', family: 'ipv4', network: toDotted(base), prefix }])
        for (const protocol of ['http', 'https'])
          expect(allowing.allowsUrl(new URL(`${protocol}://${toDotted(address)}/`))).toBe(inside)
      }),
    )
  })
})

const MAX = 2n ** 128n - 1n
const toGroups = (number: bigint) =>
  Array.from({ length: 8 }, (_, i) => Number((number >> BigInt(112 - 16 * i)) & 0xffffn))
const SPECIAL_IPV6: readonly (readonly [bigint, bigint])[] = [
  [0x2001_0000n << 96n, 23n],
  [0x2001_0db8n << 96n, 32n],
  [0x2002n << 112n, 16n],
  [0x3fffn << 112n, 20n],
]
const isPublicIpv6 = (number: bigint) =>
  number >> 125n === 1n &&
  !SPECIAL_IPV6.some(([network, prefix]) => number >> (128n - prefix) === network >> (128n - prefix))

/** Compressed or not, in either case, the last 32 bits dotted or not. */
const ipv6Spelling = fc.record({
  compress: fc.boolean(),
  upper: fc.boolean(),
  dotted: fc.boolean(),
  pad: fc.boolean(),
})

function spell(
  number: bigint,
  how: { compress: boolean; upper: boolean; dotted: boolean; pad: boolean },
): string {
  const groups = toGroups(number).map((group) => group.toString(16).padStart(how.pad ? 4 : 1, '0'))
  const last = toDotted(Number(number & 0xffffffffn))
  const parts = how.dotted ? [...groups.slice(0, 6), last] : groups
  const text = parts.join(':')
  const compressed = how.compress ? text.replace(/(^|:)(0+:){2,}/, '::').replace(/^(0+:)+:/, '::') : text
  return how.upper ? compressed.toUpperCase() : compressed
}

const interesting = [0n, 1n, 0xffff_7f00_0001n, (0x64_ff9bn << 96n) | 0x7f00_0001n, 0x2002_7f00n << 96n]
const anyIpv6 = fc.oneof(
  fc.bigInt({ min: 0n, max: MAX }),
  fc.bigInt({ min: 1n << 125n, max: (2n << 125n) - 1n }),
  fc.constantFrom(
    ...interesting,
    ...[0xfc00n, 0xfd00n, 0xfe80n, 0xfec0n, 0xff02n].map((top) => (top << 112n) | 1n),
  ),
  specialIpv4.map((v4) => (0xffffn << 32n) | BigInt(v4)),
  specialIpv4.map((v4) => (0x64_ff9bn << 96n) | BigInt(v4)),
  specialIpv4.map((v4) => (0x2002n << 112n) | (BigInt(v4) << 80n)),
)

test('threat 14b: any spelling of an IPv6 address is judged by what it is', () => {
  fc.assert(
    fc.property(anyIpv6, ipv6Spelling, port, (number, how, at) => {
      const url = URL.parse(`https://[${spell(number, how)}]${at}/`)
      expect(url, spell(number, how)).not.toBeNull()
      if (url !== null) expect(rules.allowsUrl(url), spell(number, how)).toBe(isPublicIpv6(number))
      if (url !== null) expect(rules.allowsUrl(new URL(url.href.replace('https', 'http')))).toBe(false)
    }),
  )
})

test('threat 14c: what a name resolves to may be dialled when it is public, whoever says it', () => {
  fc.assert(
    fc.property(fc.oneof(specialIpv4, publicIpv4), anyIpv6, (v4, v6) => {
      expect(rules.allowsAddress('https:', toDotted(v4))).toBe(!isSpecial(v4))
      expect(
        rules.allowsAddress(
          'https:',
          toGroups(v6)
            .map((group) => group.toString(16))
            .join(':'),
        ),
      ).toBe(isPublicIpv6(v6))
      expect(rules.allowsAddress('http:', toDotted(v4))).toBe(false)
    }),
  )
})

/** URLs of any name. `fc.webUrl` makes a table of all code points first, which takes seconds. */
const webUrl = fc
  .tuple(
    fc.constantFrom('https://', 'http://'),
    fc.constantFrom('', '', 'user@', ':password@', 'user:password@'),
    fc.domain(),
    fc.constantFrom('', ':443', ':8443'),
    anyText().map((path) => `/${path.isWellFormed() ? encodeURIComponent(path) : ''}`),
    fc.constantFrom('', '?x=1', '?'),
    fc.constantFrom('', '', '#part', '#'),
  )
  .map((parts) => parts.join(''))

test('threat 14: no text makes a check throw, and what is allowed is https to a name or a public address', () => {
  const text = fc.oneof(
    anyText(),
    webUrl,
    fc
      .tuple(fc.constantFrom('https://', 'http://', 'HTTPS:', 'javascript:', ''), fc.string())
      .map((two) => two.join('')),
  )
  fc.assert(
    fc.property(text, (given) => {
      const fault = endpointFault(given, () => false)
      expect(fault === undefined || typeof fault === 'string').toBe(true)
      if (fault === undefined) {
        const url = new URL(given)
        expect([url.protocol, url.username, url.password, url.hash]).toEqual(['https:', '', '', ''])
        expect(/^(.*\.)?localhost\.*$/.test(url.hostname)).toBe(false)
      }
      parseAllowedHost(given)
    }),
  )
})
