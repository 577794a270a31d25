import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { scrub } from '../../src/tools/scrub/scrub.ts'
import { createStreamScrubber } from '../../src/tools/scrub/scrub-stream.ts'
import { bytesHoldNoSecret } from '../../src/tools/scrub/secret-needles.ts'
import { WORKER_TOKEN_HEADER } from '../../src/tools/worker-token.ts'
import { propertyRuns } from '../property-runs.ts'
import { cutsAnEscape, naivelyHolds } from './naive-scrub.ts'

type Writing = (text: string) => string

const percent: Writing = (text) =>
  [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')
const unicode: Writing = (text) =>
  [...Array(text.length).keys()].map((i) => `\\u${text.charCodeAt(i).toString(16).padStart(4, '0')}`).join('')

/** What scrub promises to see through; several may be put one over the other where `over` says so. */
const PLAIN: readonly Writing[] = [
  (text) => text,
  (text) => encodeURIComponent(text),
  (text) => encodeURIComponent(encodeURIComponent(text)),
  percent,
  (text) => percent(text).toUpperCase(),
  (text) => new URLSearchParams({ '': text }).toString().slice(1),
  (text) => JSON.stringify(text).slice(1, -1),
  (text) => JSON.stringify(JSON.stringify(text)).slice(3, -3),
  unicode,
  (text) => unicode(text).toUpperCase().replaceAll('\\U', '\\u'),
  (text) => text.replaceAll('/', '\\/'),
  (text) => text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`),
  (text) =>
    text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;'),
  (text) => [...text].map((c) => `&#x${c.codePointAt(0)?.toString(16)};`).join(''),
]

// of backslashes alone nothing is left to look for, and white space around a secret may be trimmed where it is used
const secret = fc
  .oneof(
    fc.string({ minLength: 8, maxLength: 40 }),
    fc.string({ unit: 'grapheme', minLength: 8, maxLength: 20 }),
    fc.stringMatching(/^[A-Za-z0-9._~+/-]{8,60}=*$/),
    // begins as all tokens for workers do, of which only the beginning is searched for at first
    fc.stringMatching(/^[\w-]{1,30}\.[\w-]{8,20}$/).map((rest) => `${WORKER_TOKEN_HEADER}.${rest}`),
  )
  .filter((text) => text.isWellFormed() && text.replaceAll('\\', '').trim().length >= 8)
const around = fc.string({ unit: 'grapheme', maxLength: 12 }).filter((text) => text.isWellFormed())

/** The strings and keys in a JSON value. */
function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (Array.isArray(value)) return value.flatMap(textsOf)
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, one]) => [name, ...textsOf(one)])
}

const place = (text: string, where: number, other: unknown): unknown =>
  [
    text,
    { [text]: other },
    { deep: [{ a: other, b: text }] },
    [other, [[text]]],
    { a: { b: { c: { d: text } } } },
  ][where]

describe('threat 25: no secret is left in what a tool answers', () => {
  test('however it was written down', () => {
    fc.assert(
      fc.property(
        secret,
        fc.constantFrom(...PLAIN),
        around,
        around,
        fc.nat(4),
        fc.jsonValue({ maxDepth: 2 }),
        (hidden, write, before, after, where, other) => {
          const written = write(hidden)
          // `%` before `00%2F…` reads as another character: the text does not have the secret any more
          fc.pre(written === hidden || !cutsAnEscape(before + written + after, written))
          const texts = textsOf(scrub(place(before + written + after, where, other), [hidden]))
          for (const text of texts) {
            expect(text).not.toContain(hidden)
            expect(text).not.toContain(written)
          }
          expect(texts.some((text) => text.includes('[redacted]'))).toBe(true)
        },
      ),
    )
  })

  test('nor in base64, wherever it lies in what was encoded', () => {
    fc.assert(
      fc.property(
        secret,
        around,
        around,
        fc.constantFrom('base64' as const, 'base64url' as const),
        fc.constantFrom<Writing>(
          (text) => text,
          encodeURIComponent,
          (text) => JSON.stringify(text),
        ),
        fc.nat(4),
        (hidden, before, after, alphabet, write, where) => {
          const [length, start] = [Buffer.byteLength(hidden), Buffer.byteLength(before)]
          const whole = Buffer.from(before + hidden + after).toString(alphabet)
          // the characters that hold bits of the secret and of nothing else
          const core = whole.slice(Math.ceil((start * 8) / 6), Math.floor(((start + length) * 8) / 6))
          for (const text of textsOf(scrub(place(write(whole), where, null), [hidden]))) {
            expect(text).not.toContain(core)
            expect(Buffer.from(text, 'base64').includes(Buffer.from(hidden))).toBe(false)
          }
        },
      ),
    )
  })

  /** A text of written secrets, pieces of them, and escapes that begin before, end behind or lie between them. */
  const hostileText = (hidden: string) => {
    const written = fc.oneof(
      fc.constantFrom(...PLAIN).map((write) => write(hidden)),
      fc.nat(2).map((before) => Buffer.from('x'.repeat(before) + hidden).toString('base64')),
    )
    const piece = fc
      .tuple(written, fc.nat(60), fc.nat(60))
      .map(([text, from, length]) => text.slice(from, from + length).toWellFormed())
    const junk = fc.constantFrom(
      '\\',
      '\\\\',
      '\\u',
      '\\u00',
      '\\ud83d',
      '%',
      '%25',
      '%2',
      '%4',
      '&',
      '&#',
      '&#x',
      '&#x4',
      '&am',
      ';',
      '=',
      '+',
      'é',
      '🔑',
    )
    return fc.array(fc.oneof(written, piece, junk), { minLength: 1, maxLength: 8 }).map((all) => all.join(''))
  }
  const hiddenInText = secret.chain((hidden) => fc.tuple(fc.constant(hidden), hostileText(hidden)))

  test('as a plain search for every form finds it: none is left, and nothing else is touched', () => {
    fc.assert(
      fc.property(hiddenInText, ([hidden, text]) => {
        const clean = String(scrub(text, [hidden]))
        for (const left of clean.split('[redacted]')) expect(naivelyHolds(left, hidden)).toBe(false)
        expect(clean !== text).toBe(naivelyHolds(text, hidden))
      }),
      { numRuns: propertyRuns({ rare: 30 }) },
    )
  })

  test('as that search finds a token of plain characters, which is looked for without a scanner first', () => {
    const token = fc.stringMatching(/^[A-Za-z0-9._~+/-]{8,60}$/)
    const written = token.chain((hidden) => fc.tuple(fc.constant(hidden), hostileText(hidden)))
    // without escapes, which the scanner alone reads
    const plainly = token.chain((hidden) =>
      fc.tuple(
        fc.constant(hidden),
        fc
          .array(
            fc.oneof(
              fc.constantFrom(hidden, hidden.replaceAll('+', ' '), hidden.replaceAll('/', '\\/')),
              fc
                .tuple(fc.nat(2), fc.constantFrom('base64' as const, 'base64url' as const))
                .map(([before, alphabet]) => Buffer.from('x'.repeat(before) + hidden).toString(alphabet)),
              fc.tuple(fc.nat(60), fc.nat(60)).map(([from, length]) => hidden.slice(from, from + length)),
              fc.constantFrom('\\', '\t', '"', '&', '%', '+', '=', ' ', 'é'),
            ),
            { minLength: 1, maxLength: 6 },
          )
          .map((all) => all.join('')),
      ),
    )
    fc.assert(
      fc.property(fc.oneof(written, plainly), ([hidden, text]) => {
        const clean = String(scrub(text, [hidden]))
        for (const left of clean.split('[redacted]')) expect(naivelyHolds(left, hidden)).toBe(false)
        expect(clean !== text).toBe(naivelyHolds(text, hidden))
        const bytes = Buffer.from(text)
        if (bytesHoldNoSecret(bytes, [hidden], { isText: true }))
          expect(naivelyHolds(text, hidden)).toBe(false)
      }),
    )
  })

  test.each([
    ['%', 'x&w{z1T;~F8p{%', (hidden: string) => hidden + Buffer.from(hidden).toString('base64')],
    [
      'two secrets',
      '41z-y+xw1T;~F8p%',
      (hidden: string) => unicode(hidden.slice(0, 4)) + hidden.slice(4) + hidden,
    ],
  ])('nor one whose end makes an escape with what follows it: %s', (_, hidden, write) => {
    expect(scrub(write(hidden), [hidden])).toMatch(/^(\[redacted\]){2,}$/)
  })

  test('nor in a stream, wherever it is cut', () => {
    const masked = (bytes: Buffer, hidden: string, cuts: readonly number[]) => {
      const scrubber = createStreamScrubber([hidden], { isText: true })
      const places = [0, ...cuts.map((cut) => cut % bytes.length).sort((a, b) => a - b), bytes.length]
      const passed = places
        .slice(1)
        .map((end, i) => Buffer.from(scrubber.push(bytes.subarray(places[i], end))))
      return Buffer.concat([...passed, scrubber.end()])
    }
    fc.assert(
      fc.property(hiddenInText, fc.array(fc.nat(), { maxLength: 12 }), ([hidden, text], cuts) => {
        fc.pre(!/[\r\n]/.test(hidden + text))
        fc.pre(!cutsAnEscape(text, hidden)) // what is sent on already cannot be read again
        const bytes = Buffer.from(text)
        const whole = masked(bytes, hidden, [])
        expect(whole).toHaveLength(bytes.length)
        for (const left of whole.toString().split('*')) expect(naivelyHolds(left, hidden)).toBe(false)
        expect(masked(bytes, hidden, cuts).equals(whole)).toBe(true)
        expect(masked(bytes, hidden, [...bytes.keys()]).equals(whole)).toBe(true)
      }),
    )
  })

  test('what holds none is left as it is', () => {
    const value = fc.jsonValue({ maxDepth: 4 }).filter((one) => !JSON.stringify(one).includes('__proto__'))
    fc.assert(
      fc.property(value, (one) => {
        expect(scrub(one, ['no-such-secret-0123456789'])).toEqual(JSON.parse(JSON.stringify(one)))
      }),
    )
  })

  /** Processor time, which other processes do not lengthen, of the fastest of three. */
  const cost = (run: () => void) =>
    Math.min(
      ...[1, 2, 3].map(() => {
        const before = process.cpuUsage()
        run()
        return process.cpuUsage(before).user / 1000
      }),
    )
  const TOKEN = 'gho_16C7e42F292c6912E7710c838347Ae178B4a'
  const spelled = (count: number) =>
    Object.fromEntries(
      Array.from({ length: count }, (_, i) => [
        [...TOKEN].map((c, bit) => ((i >> bit) & 1 ? percent(c) : c)).join(''),
        1,
      ]),
    )
  const inForms = (count: number) => ({
    text: 'é€🔑'.repeat(count),
    forms: [TOKEN, percent(TOKEN), unicode(TOKEN), Buffer.from(TOKEN).toString('base64')],
  })
  const manySecrets = Array.from({ length: 200 }, (_, i) => `secret-number-${i}-${i * 7919}`)
  const harmlessKeys = (count: number) => ({
    ...Object.fromEntries(Array.from({ length: count }, (_, i) => [`key${i}`, i])),
    [TOKEN]: 1,
  })
  const push = (bytes: Buffer, piece: number) => {
    const scrubber = createStreamScrubber([TOKEN], { isText: true })
    for (let at = 0; at < bytes.length; at += piece) scrubber.push(bytes.subarray(at, at + piece))
    scrubber.end()
  }

  test.each<[string, number, (size: number) => void]>([
    ['keys that spell the secret in many ways', 500, (size) => scrub(spelled(size), [TOKEN])],
    ['what is not ASCII, with the secret in four forms', 10_000, (size) => scrub(inForms(size), [TOKEN])],
    ['two hundred secrets', 20_000, (size) => scrub(['secret-'.repeat(size)], manySecrets)],
    ['harmless keys', 4_000, (size) => scrub(harmlessKeys(size), [TOKEN])],
    ['the beginning of the secret', 2_000, (size) => scrub([TOKEN.slice(0, -1).repeat(size)], [TOKEN])],
    [
      'a stream of the beginning, escaped',
      1_000,
      (size) => push(Buffer.from(percent('gho_').repeat(size)), 7),
    ],
    ['a stream of one escape, byte by byte', 10_000, (size) => push(Buffer.from(`%${'25'.repeat(size)}`), 1)],
    ['a stream of backslashes, byte by byte', 20_000, (size) => push(Buffer.alloc(size, '\\'), 1)],
  ])('eight times as much takes about eight times as long: %s', (_, size, run) => {
    run(size)
    expect(cost(() => run(size * 8))).toBeLessThan(
      Math.max(
        cost(() => run(size)),
        3,
      ) *
        8 *
        4,
    )
  })

  test('its size bounds its time', () => {
    const hostile = fc.array(
      fc.constantFrom('\\', '+', '%25', '%', '&#', '&#x41;', '\\u00', '\ud83d', '"', 'é', 'x'),
      { minLength: 1, maxLength: 8 },
    )
    fc.assert(
      fc.property(hostile, secret, (unit, hidden) => {
        const text = unit.join('').repeat(10_000 / unit.length)
        const started = performance.now()
        scrub({ text }, [hidden, text.slice(0, 500)])
        expect(performance.now() - started).toBeLessThan(30_000)
      }),
      { numRuns: propertyRuns({ dear: 10 }) },
    )
  })
})
