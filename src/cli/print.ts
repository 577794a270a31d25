import { stripVTControlCharacters, styleText } from 'node:util'

// Standard output is for what was asked for; what only people need while they wait goes to standard error.

let isReaderGone = false

/**
 * A reader such as `head` that has read enough closes its end of the pipe: the command goes on, and what it would still
 * print is dropped. Any other error of these streams ends the process as it would without this.
 */
export function surviveClosedPipes(): void {
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error
      if (stream === process.stdout) isReaderGone = true
    })
}

/** Whether nobody reads standard output any more, so that a long output may end. */
export function readerIsGone(): boolean {
  return isReaderGone
}

export function print(line = ''): void {
  if (!isReaderGone) process.stdout.write(`${line}\n`)
}

export function printJson(value: unknown): void {
  print(JSON.stringify(value, null, process.stdout.isTTY ? 2 : 0))
}

export const MARKS = {
  ok: styleText('green', '✓'),
  warning: styleText('yellow', '!'),
  failed: styleText('red', '✗'),
} as const

export function strong(text: string): string {
  return styleText('bold', text)
}

export function faint(text: string): string {
  return styleText('dim', text)
}

/** What others wrote (a tool's name, an account), as one line that cannot steer the terminal. */
export function plain(text: string): string {
  return stripVTControlCharacters(text).replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
}

/** Columns as wide as their widest cell, under a heading. Cells are text, not styled. */
export function table(heading: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [heading.map((name) => name.toUpperCase()), ...rows.map((row) => row.map(plain))]
  const widths = heading.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)))
  const [first = '', ...lines] = all.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
  return [faint(first), ...lines].join('\n')
}
