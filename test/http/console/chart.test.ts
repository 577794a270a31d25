import { describe, expect, test } from 'vitest'
import { FAILURE_REASONS } from '../../../src/domain/authorization.ts'
import { barChart, type ChartOptions } from '../../../src/http/console/chart.ts'
import { ERROR_WORDS, outcomeWords } from '../../../src/http/console/outcome-words.ts'
import { ERROR_KINDS } from '../../../src/tools/tool-error.ts'

const HOUR = 3600
/** 2026-11-28T00:00:00Z */
const MIDNIGHT = 1_795_824_000

const chart = (options: Partial<ChartOptions>, label = 'value') =>
  String(
    barChart([{ hour: options.from ?? MIDNIGHT, name: 'runs', label, count: 3 }], {
      ...{ id: 'c', title: 'Runs', from: MIDNIGHT, columns: 24, hoursEach: 1, tickHours: 6 },
      ...options,
    }),
  )

const ticks = (view: string) =>
  [...view.matchAll(/<line class="tick"[^>]*\/><text [^>]*>([^<]+)<\/text>/g)].map(([, text]) => text)

describe('the axis of a chart has', () => {
  test.each<[string, Partial<ChartOptions>, readonly string[]]>([
    ['hours of a day', {}, ['28 Nov', '06:00', '12:00', '18:00']],
    ['hours from another hour on', { from: MIDNIGHT - 7 * HOUR }, ['18:00', '28 Nov', '06:00', '12:00']],
    [
      'days of a week',
      { from: MIDNIGHT - 6 * HOUR, columns: 28, hoursEach: 6, tickHours: 24 },
      ['28 Nov', '29 Nov', '30 Nov', '1 Dec', '2 Dec', '3 Dec', '4 Dec'],
    ],
  ])('%s', (_, options, expected) => {
    expect(ticks(chart(options))).toEqual(expected)
  })

  test('every fifth day of a month', () => {
    expect(ticks(chart({ columns: 30, hoursEach: 24, tickHours: 120 }))).toHaveLength(6)
  })
})

describe('the legend of a chart', () => {
  test('every kind of error has words of its own', () => {
    const words = ERROR_KINDS.map((kind) => ERROR_WORDS[kind])
    expect(words.filter((text) => !/^[\w:, ]{5,40}$/.test(text ?? ''))).toEqual([])
    expect(new Set(words).size).toBe(ERROR_KINDS.length)
  })

  test.each([...ERROR_KINDS, ...FAILURE_REASONS])('says %s in words', (label) => {
    const view = chart({}, label)
    expect(view).toContain(`</svg>${outcomeWords(label)} 3</li>`)
    expect(view).not.toContain(label)
    expect(view).not.toMatch(/>[^<]*[A-Z]{3}[A-Z ]{6}[^<]*</)
  })

  test('a column says its hour and values to the pointer', () => {
    expect(chart({}, 'TOOL_RUNTIME_FATAL')).toContain('<title>28 Nov, 00:00 UTC: error in the tool 3</title>')
    expect(chart({})).toContain('<title>28 Nov, 23:00 UTC: nothing</title>')
  })
})
