/** The most characters of one piece of Notion's `rich_text` (developers.notion.com, request limits). */
const RICH_TEXT_PIECE = 2_000

/** Notion's `rich_text` of a plain text. A character is never divided. */
export function toRichText(text: string) {
  const pieces: string[] = []
  let piece = ''
  for (const character of text) {
    if (piece.length + character.length > RICH_TEXT_PIECE) {
      pieces.push(piece)
      piece = ''
    }
    piece += character
  }
  if (piece !== '' || pieces.length === 0) pieces.push(piece)
  return pieces.map((content) => ({ type: 'text', text: { content } }))
}

/**
 * A document in Atlassian Document Format: a paragraph for each part between empty lines, with its line breaks. The format
 * has no empty texts.
 */
export function toAdf(text: string) {
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
