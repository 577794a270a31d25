import { BadArgument } from '../write-parameter.ts'

/** The most characters of one piece of Notion's `rich_text` (developers.notion.com, request limits). */
const RICH_TEXT_PIECE = 2_000

/** Notion takes 100 pieces. In characters; longer texts would hold the event loop. */
const MAX_RICH_TEXT = 200_000
/** Jira takes 32,767. In characters, as above. */
const MAX_ADF = 40_000

/** Notion's `rich_text` of a plain text. A character is never divided. Throws `BadArgument`. */
export function toRichText(text: string) {
  checkLength(text, MAX_RICH_TEXT)
  const pieces: string[] = []
  for (let start = 0; start < text.length || pieces.length === 0; ) {
    const code = text.charCodeAt(start + RICH_TEXT_PIECE)
    const isHalf = code >= 0xdc00 && code <= 0xdfff
    const end = start + RICH_TEXT_PIECE - (isHalf ? 1 : 0)
    pieces.push(text.slice(start, end))
    start = end
  }
  return pieces.map((content) => ({ type: 'text', text: { content } }))
}

function checkLength(text: string, most: number): void {
  if (text.length > most)
    throw new BadArgument(`A text has ${text.length} characters; the service takes at most ${most}.`)
}

/**
 * A document in Atlassian Document Format: a paragraph for each part between empty lines, with its line breaks. The format
 * has no empty texts. Throws `BadArgument`.
 */
export function toAdf(text: string) {
  checkLength(text, MAX_ADF)
  const paragraphs = text
    .replaceAll(/\r\n?/g, '\n')
    .split(/\n{2,}/)
    .map((paragraph) => ({ type: 'paragraph', content: linesOf(paragraph) }))
  return { type: 'doc', version: 1, content: paragraphs }
}

function linesOf(paragraph: string) {
  return paragraph
    .split('\n')
    .flatMap((line, index) => [
      ...(index > 0 ? [{ type: 'hardBreak' }] : []),
      ...(line === '' ? [] : [{ type: 'text', text: line }]),
    ])
}
