import { expect, test } from 'vitest'
import { stringLiteralsOf } from './string-literals.ts'

test('a name that stands in a comment alone is not found', () => {
  const source =
    "// 'in a comment'\n/* 'in another' */\ntest('in the title of a test', () => {}) // 'beside it'"
  expect(stringLiteralsOf('a.test.ts', source)).toEqual(['in the title of a test'])
})
