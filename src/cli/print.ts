import { stripVTControlCharacters, styleText } from 'node:util'

// Standard output is for results; progress and hints for people go to standard error.

let isStdoutClosed = false

/**
 * Ignores EPIPE: when a reader such as `head` closes the pipe, the command continues and its further output is dropped.
 * Any other error of these streams ends the process, as it does by default.
 */
export function ignoreClosedPipes(): void {
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error
      if (stream === process.stdout) isStdoutClosed = true
    })
}

/** Whether the reader of standard output has closed it, so that a long output may stop. */
export function isOutputClosed(): boolean {
  return isStdoutClosed
}

/** Prints a line to standard output. */
export function print(line = ''): void {
  if (!isStdoutClosed) process.stdout.write(`${line}\n`)
}

/** Prints JSON to standard output: indented on a terminal, else on one line. */
export function printJson(value: unknown): void {
  print(JSON.stringify(value, null, process.stdout.isTTY ? 2 : 0))
}

export const MARKS = {
  ok: styleText('green', '✓'),
  warning: styleText('yellow', '!'),
  failed: styleText('red', '✗'),
} as const

export function bold(text: string): string {
  return styleText('bold', text)
}

export function dim(text: string): string {
  return styleText('dim', text)
}

/** Makes text from outside (a tool's name, an account) one line, without characters that could control the terminal. */
export function sanitize(text: string): string {
  return stripVTControlCharacters(text).replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
}

/** `sanitize` for a cell of a table: at most 60 characters. */
export function shortened(text: string): string {
  const line = sanitize(text)
  return line.length > 60 ? `${line.slice(0, 59)}…` : line
}

/** Formats a table with a heading. Styles are removed from cells, because they would count in the width of a column. */
export function table(heading: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [heading.map((name) => name.toUpperCase()), ...rows.map((row) => row.map(sanitize))]
  const widths = heading.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)))
  const [first = '', ...lines] = all.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
  return [dim(first), ...lines].join('\n')
}

/** A number with its noun: `1 tool`, `1,200 tools`. */
export function quantity(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`
}

/** `2026-11-21` of an RFC 3339 timestamp. */
export function toDay(timestamp: string): string {
  return timestamp.slice(0, 10)
}

/** `2026-11-21 08:15 UTC` of an RFC 3339 timestamp. */
export function toMinute(timestamp: string): string {
  return `${timestamp.slice(0, 16).replace('T', ' ')} UTC`
}

/** `2026-11-21 08:15:30 UTC` of an RFC 3339 timestamp. */
export function toSecond(timestamp: string): string {
  return `${timestamp.slice(0, 19).replace('T', ' ')} UTC`
}
