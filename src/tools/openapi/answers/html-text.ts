import { convert } from 'html-to-text'

/** Larger HTML is cut before it is read. In characters. */
const MAX_HTML = 200_000

/** The text of HTML, without pictures, styles, and the addresses of links that their text shows. */
export function htmlToText(html: string): string {
  return convert(html.slice(0, endOfPart(html)), {
    wordwrap: false,
    limits: { maxDepth: 50, maxInputLength: MAX_HTML },
    selectors: [
      { selector: 'img', format: 'skip' },
      { selector: 'a', options: { hideLinkHrefIfSameAsText: true } },
      ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({
        selector,
        options: { uppercase: false },
      })),
    ],
  })
}

/** Before the word that the cut would divide: the part of a token would not be recognized as a secret. */
function endOfPart(html: string): number {
  if (html.length <= MAX_HTML) return html.length
  let end = MAX_HTML
  while (end > 0 && !/[\s<>]/.test(html.charAt(end))) end--
  return end
}
