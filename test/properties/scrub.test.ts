import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { scrub } from '../../src/tools/scrub.ts'

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
          const texts = textsOf(scrub(place(before + written + after, where, other), [hidden]))
          for (const text of texts) {
            expect(text).not.toContain(hidden)
            expect(text).not.toContain(written)
          }
          expect(texts.some((text) => text.includes('[redacted]'))).toBe(true)
        },
      ),
      { numRuns: 2000 },
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
      { numRuns: 2000 },
    )
  })

  test('what holds none is left as it is', () => {
    const value = fc.jsonValue({ maxDepth: 4 }).filter((one) => !JSON.stringify(one).includes('__proto__'))
    fc.assert(
      fc.property(value, (one) => {
        expect(scrub(one, ['no-such-secret-0123456789'])).toEqual(JSON.parse(JSON.stringify(one)))
      }),
      { numRuns: 500 },
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
        expect(performance.now() - started).toBeLessThan(2000)
      }),
      { numRuns: 10 },
    )
  })
})
