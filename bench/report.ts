/** One line of the result. */
export interface Figure {
  readonly name: string
  readonly value: string
  /** What must hold, in words; absent where nothing was promised. */
  readonly target?: string
  readonly met?: boolean
  /**
   * Other programs disturbed it, so that it is neither met nor missed. Absent: it counts if the machine was quiet during
   * the whole measurement. `false`: other programs cannot change it, as a number of requests.
   */
  readonly disturbed?: boolean
}

/** What a figure with a target says about it: other programs may have disturbed it. */
export function verdict({ met, disturbed }: Figure): '' | 'yes' | 'NO' | 'DISTURBED' {
  if (met === undefined) return ''
  if (disturbed) return 'DISTURBED'
  return met ? 'yes' : 'NO'
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}

export function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  const value = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))]
  if (value === undefined) throw new Error('nothing was measured')
  return value
}

/** `0.52 (0.50-0.55)`: the median, the least and the greatest value. */
export function spread(values: readonly number[], format: (value: number) => string): string {
  return `${format(median(values))} (${format(Math.min(...values))}-${format(Math.max(...values))})`
}

export function whole(value: number): string {
  return Math.round(value).toLocaleString('en')
}

export function table(figures: readonly Figure[]): string {
  const rows = [
    ['figure', 'measured', 'target', 'met'],
    ...figures.map((one) => [one.name, one.value, one.target ?? '', verdict(one)]),
  ]
  const widths = [0, 1, 2, 3].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  const lines = rows.map((row) => `| ${row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(' | ')} |`)
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`
  return [lines[0], rule, ...lines.slice(1)].join('\n')
}
