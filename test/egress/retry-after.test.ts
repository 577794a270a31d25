import { expect, test } from 'vitest'
import { formatRetryAfter, parseRetryAfter } from '../../src/egress/retry-after.ts'

const NOW = Date.UTC(2026, 10, 22, 12) / 1000

test.each([
  ['7', 7],
  [' 7 ', 7],
  ['0.5', 0.5],
  ['0', 0],
  ['9'.repeat(400), undefined],
  ['86400', 300],
  ['Sun, 22 Nov 2026 12:00:30 GMT', 30],
  ['Sun, 22 Nov 2026 11:59:30 GMT', 0],
  ['Fri, 31 Dec 9999 23:59:59 GMT', 300],
  ['soon', undefined],
  ['', undefined],
  [undefined, undefined],
])('Retry-After %j asks to wait for %j seconds, of 300 at most', (value, seconds) => {
  expect(parseRetryAfter(value, NOW, 300)).toBe(seconds)
})

test('Retry-After is written in whole seconds, none too few', () => {
  expect([0.2, 1, 59.5].map(formatRetryAfter)).toEqual(['1', '1', '60'])
})
