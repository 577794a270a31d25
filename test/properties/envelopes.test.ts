import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Sealed } from '../../src/domain/sealed.ts'
import { createSealer, type SealingContext, UnknownKeyError, UnsealError } from '../../src/store/seal.ts'

const key = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes))
const text = fc.string({ unit: 'grapheme', maxLength: 200 }).filter((one) => one.isWellFormed())
const name = fc.string({ maxLength: 12 })
const place: fc.Arbitrary<SealingContext> = fc.record(
  { table: name, column: name, rowId: name, projectId: name, userId: name, providerUid: name },
  { requiredKeys: ['table', 'column', 'rowId', 'projectId'] },
)
const withDefaults = ({ userId = '', providerUid = '', ...rest }: SealingContext) => ({
  ...rest,
  userId,
  providerUid,
})

describe('threat 32, 33: an envelope', () => {
  test('opens where it was sealed, with any ring that has its key', () => {
    fc.assert(
      fc.property(key, key, text, place, (one, other, secret, where) => {
        const sealed = createSealer([one]).seal(secret, where)
        expect(createSealer([one]).open(sealed, where)).toBe(secret)
        expect(createSealer([other, one]).open(sealed, where)).toBe(secret)
        if (!one.equals(other))
          expect(() => createSealer([other]).open(sealed, where)).toThrow(UnknownKeyError)
      }),
    )
  })

  test('does not open with any bit of it turned over', () => {
    fc.assert(
      fc.property(
        key,
        text,
        place,
        fc.integer({ min: 2, max: 4 }),
        fc.nat(),
        (one, secret, where, part, bit) => {
          const sealer = createSealer([one])
          const parts = sealer.seal(secret, where).split('.')
          const bytes = Buffer.from(parts[part] ?? '', 'base64url')
          if (bytes.length === 0) return // the ciphertext of an empty text
          const at = bit % (bytes.length * 8)
          bytes[at >> 3] = (bytes[at >> 3] ?? 0) ^ (1 << (at & 7))
          parts[part] = bytes.toString('base64url')
          expect(() => sealer.open(parts.join('.') as Sealed, where)).toThrow(UnsealError)
        },
      ),
    )
  })

  test('does not open cut short, lengthened, or with its parts in another order', () => {
    const parts = fc.array(fc.oneof(fc.nat(4), fc.constant('')), { maxLength: 7 })
    fc.assert(
      fc.property(key, text, place, fc.nat(), parts, (one, secret, where, cut, order) => {
        const sealer = createSealer([one])
        const sealed = sealer.seal(secret, where)
        const wrongs = [
          sealed.slice(0, cut % sealed.length),
          sealed.slice(1 + (cut % (sealed.length - 1))),
          `${sealed}.`,
          order.map((i) => (i === '' ? '' : sealed.split('.')[i])).join('.'),
        ]
        for (const wrong of wrongs)
          if (wrong !== sealed) expect(() => sealer.open(wrong as Sealed, where)).toThrow(UnsealError)
        for (const bytes of [4, 8, 12, 15]) {
          const short = sealed.split('.')
          short[4] = Buffer.from(short[4] ?? '', 'base64url')
            .subarray(0, bytes)
            .toString('base64url')
          expect(() => sealer.open(short.join('.') as Sealed, where)).toThrow(UnsealError)
        }
      }),
    )
  })

  test('does not open in any other place', () => {
    fc.assert(
      fc.property(key, text, place, place, (one, secret, where, elsewhere) => {
        const sealer = createSealer([one])
        const sealed = sealer.seal(secret, where)
        for (const [member, value] of Object.entries(elsewhere)) {
          const moved = { ...where, [member]: value }
          if (JSON.stringify(withDefaults(moved)) === JSON.stringify(withDefaults(where))) continue
          if (
            Object.entries(withDefaults(moved)).every(
              ([name, one]) => withDefaults(where)[name as keyof SealingContext] === one,
            )
          )
            continue
          expect(() => sealer.open(sealed, moved)).toThrow(UnsealError)
        }
      }),
    )
  })

  test('is no other text', () => {
    fc.assert(
      fc.property(
        key,
        fc.oneof(
          fc.string(),
          fc.array(fc.string({ maxLength: 6 })).map((all) => ['v2', ...all].join('.')),
        ),
        place,
        (one, given, where) => {
          expect(() => createSealer([one]).open(given as Sealed, where)).toThrow(UnsealError)
        },
      ),
    )
  })
})
