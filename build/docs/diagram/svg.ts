import { escapeHtml } from '../highlight.ts'

/** About the width of a letter at the size of the texts. */
const LETTER = 6.7
export const LINE = 17

export const widthOf = (text: string): number => Math.ceil(text.length * LETTER)

/** Puts the words of a text into lines of at most so many letters. */
export function linesOf(text: string, most: number): string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= most)
      lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}

/** Lines of text, centred at a point. */
export function textAt(x: number, y: number, lines: readonly string[]): string {
  const top = y - ((lines.length - 1) * LINE) / 2 + 4.5
  return lines.map((line, at) => `<text x="${x}" y="${top + at * LINE}">${escapeHtml(line)}</text>`).join('')
}

export interface Box {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

export function boxAt({ x, y, width, height }: Box, kind: string): string {
  return `<rect class="${kind}" x="${x - width / 2}" y="${y - height / 2}" width="${width}" height="${height}" rx="8"/>`
}

/** A line with an arrowhead at its end. */
export function arrow(path: string, end: readonly [number, number], towards: 1 | -1, kind = ''): string {
  const [x, y] = end
  const back = x - 8 * towards
  return `<path class="line ${kind}" d="${path}"/><path class="head" d="M${x},${y}L${back},${y - 4.5}L${back},${y + 4.5}Z"/>`
}

export function svg(width: number, height: number, says: string, content: string): string {
  return `<figure class="diagram" tabindex="0"><svg role="img" aria-label="${escapeHtml(says)}" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">${content}</svg></figure>\n`
}
