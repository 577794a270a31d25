import fc from 'fast-check'

const anyCodePoint = fc
  .integer({ min: 0, max: 0x10ffff - 0x800 })
  .map((number) => String.fromCodePoint(number < 0xd800 ? number : number + 0x800)) // without surrogates

/**
 * Any Unicode text. `fc.string({ unit: 'binary' })` draws the same from a table of all code points, which takes a second
 * to make.
 */
export function anyText({ maxLength }: { readonly maxLength?: number } = {}): fc.Arbitrary<string> {
  return fc.string({ unit: anyCodePoint, ...(maxLength !== undefined && { maxLength }) })
}
