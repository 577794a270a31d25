import { RE2JS } from 're2js'
import { describe, expect, test, vi } from 'vitest'
import { fitsPattern, patternFault } from '../../src/providers/callback-members.ts'
import { checkSchema } from '../../src/tools/json-schema/schema-validator.ts'

describe('threat 41: a pattern that an administrator of one project writes', () => {
  const LARGE = '(?:[a-z0-9]{1,31}){1,31}'

  test('is refused if its program is too large', () => {
    expect(patternFault(LARGE)).toBe('repeats too much')
    expect(patternFault(`[${'a-z'.repeat(100)}]`)).toBe('has more than 300 characters')
    expect(patternFault(`(?i)${'\\pL'.repeat(8)}`)).toBeUndefined()
    expect(patternFault(`(?i)${'\\pL'.repeat(9)}`)).toBe('has more than 8 Unicode classes')
    expect(patternFault('(?<=a)b')).toContain('is not a regular expression')
  })

  test('matches no value if the check would take too many steps', () => {
    const pattern = '[a-z]{1,400}'
    expect(patternFault(pattern)).toBeUndefined()
    expect(fitsPattern(pattern, 'a'.repeat(100))).toBe(true)
    expect(fitsPattern(pattern, 'a'.repeat(400))).toBe(false)
  })

  test('is compiled once, also one that is refused', () => {
    const compile = vi.spyOn(RE2JS, 'compile')
    try {
      for (let i = 0; i < 5; i++) {
        expect(fitsPattern('[a-f]{3}-once', 'abc-once')).toBe(true)
        expect(fitsPattern('[a-f]{3}-once', `${i}`)).toBe(false)
        expect(fitsPattern('(?:[a-y0-9]{1,31}){1,31}', `${i}`)).toBe(false)
        expect(() => checkSchema({ pattern: '^(?:abcdefghijklmnopqrst){600}$', maxLength: i })).toThrow(
          'repeats too much',
        )
      }
      expect(compile.mock.calls.map(([source]) => source)).toEqual([
        '[a-f]{3}-once',
        '(?:[a-y0-9]{1,31}){1,31}',
        '^(?:abcdefghijklmnopqrst){600}$',
      ])
    } finally {
      compile.mockRestore()
    }
  })
})
