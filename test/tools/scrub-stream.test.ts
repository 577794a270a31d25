import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createStreamScrubber } from '../../src/tools/scrub/scrub-stream.ts'

const TOKEN = 'gho_16C7e42F292c6912E7710c838347Ae178B4a'

/** The text in these pieces, scrubbed: what came of each piece, and what came at the end. */
function scrubbed(pieces: readonly (string | Buffer)[], { secrets = [TOKEN], isText = true } = {}): string[] {
  const scrubber = createStreamScrubber(secrets, { isText })
  const passed = pieces.map((piece) => scrubber.push(Buffer.from(piece)))
  return [...passed, scrubber.end()].map((bytes) => Buffer.from(bytes).toString('latin1'))
}

const FORMS: readonly (readonly [string, string])[] = [
  ['as it is', TOKEN],
  ['percent-encoded', [...Buffer.from(TOKEN)].map((byte) => `%${byte.toString(16)}`).join('')],
  ['escaped as JSON', [...TOKEN].map((c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')],
  ['escaped as HTML', [...TOKEN].map((c) => `&#x${c.charCodeAt(0).toString(16)};`).join('')],
  ['in base64', Buffer.from(TOKEN).toString('base64')],
  ['in base64 behind one byte', Buffer.from(`:${TOKEN}`).toString('base64')],
  ['in base64url behind two bytes', Buffer.from(`a:${TOKEN}`).toString('base64url')],
]

/** What of the token's written form is left: none of its characters in a row. */
function holdsPart(text: string, written: string): boolean {
  for (let at = 0; at + 12 <= written.length; at++) if (text.includes(written.slice(at, at + 12))) return true
  return false
}

describe('a secret in a stream', () => {
  test.each(FORMS)('%s is masked over every border', (_, written) => {
    const text = `{"echo":"Bearer ${written}","more":1}`
    for (let at = 1; at < text.length; at++) {
      const result = scrubbed([text.slice(0, at), text.slice(at)]).join('')
      expect(result).toHaveLength(text.length)
      expect(holdsPart(result, written), `cut at ${at}: ${result}`).toBe(false)
      expect(result.startsWith('{"echo":"Bearer ')).toBe(true)
      expect(result.endsWith('","more":1}')).toBe(true)
    }
  })

  test.each(FORMS)('%s is masked when it comes byte by byte', (_, written) => {
    const text = `x ${written} y`
    const result = scrubbed([...text]).join('')
    expect(holdsPart(result, written), result).toBe(false)
    expect(result).toHaveLength(text.length)
  })

  test('is found among text that is not ASCII, which stays as it is', () => {
    const text = Buffer.from(`日本語 ${TOKEN} ü€`)
    const whole = Buffer.from(`日本語 ${'*'.repeat(TOKEN.length)} ü€`).toString('latin1')
    for (let at = 1; at < text.length; at++)
      expect(scrubbed([text.subarray(0, at), text.subarray(at)]).join('')).toBe(whole)
  })

  test('is found in other content as it is, and nothing else of that is touched', () => {
    const bytes = Buffer.concat([Buffer.from([0, 255, 128, 10]), Buffer.from(TOKEN), Buffer.from([1, 2, 3])])
    const result = scrubbed([bytes.subarray(0, 20), bytes.subarray(20)], { isText: false }).join('')
    expect(result).toBe(`\0\xff\x80\n${'*'.repeat(TOKEN.length)}\x01\x02\x03`)
  })

  test('whatever it is and wherever the borders are', () => {
    const secret = fc.string({
      unit: fc.constantFrom(...'abcXYZ019-._~+/%&\\=u'),
      minLength: 8,
      maxLength: 40,
    })
    fc.assert(
      fc.property(
        secret.filter((one) => !/^[\\+%&]*$/.test(one)),
        fc.string({ maxLength: 20 }),
        fc.array(fc.nat(30), { maxLength: 10 }),
        (token, around, cuts) => {
          const text = `${around}${token}${around}`
          const pieces: string[] = []
          let rest = Buffer.from(text)
          for (const cut of cuts) {
            pieces.push(rest.subarray(0, cut).toString('latin1'))
            rest = rest.subarray(cut)
          }
          const bytes = [...pieces.map((piece) => Buffer.from(piece, 'latin1')), rest]
          const result = scrubbed(bytes, { secrets: [token] }).join('')
          expect(result).not.toContain(token)
          expect(result).toHaveLength(Buffer.byteLength(text))
        },
      ),
    )
  })
})

describe('what is no secret', () => {
  test('of every line is passed on at once', () => {
    const events = Array.from({ length: 50 }, (_, i) => `data: {"n":${i},"g":"gho_"}\n\n`)
    expect(scrubbed(events)).toEqual([...events, ''])
    // also where a newline, unescaped, could be read as the token's first letter
    expect(scrubbed(events, { secrets: ['nnn_0123456789'] })).toEqual([...events, ''])
  })

  test('is the same at the end, whatever looks like a beginning', () => {
    const text = `gho_16C7 \\\\\\u00 %25 &#x6 Z2hv ${'\\'.repeat(100)} gho_`
    for (let at = 1; at < text.length; at++)
      expect(scrubbed([text.slice(0, at), text.slice(at)]).join('')).toBe(text)
  })

  test('is not kept back without end', () => {
    const scrubber = createStreamScrubber([TOKEN], { isText: true })
    const chunk = Buffer.alloc(16_384, '\\')
    let passed = 0
    for (let i = 0; i < 40; i++) passed += scrubber.push(chunk).length
    expect(40 * chunk.length - passed).toBeLessThanOrEqual(65_536)
  })

  test('passes as it is where there is no secret long enough', () => {
    expect(scrubbed(['short', 'est'], { secrets: ['short'] })).toEqual(['short', 'est', ''])
  })
})
