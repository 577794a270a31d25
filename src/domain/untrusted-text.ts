import { imitatingLetters, mixedScriptWord } from './look-alike.ts'

// Text that a program wrote, as people are shown it before they decide: every character that cannot be seen, or that moves
// others, is drawn as its code point, and words that imitate Latin ones are marked.

/** A part of such a text. `drawn`: `[U+202E]` in place of the character. */
export interface TextPart {
  readonly kind: 'plain' | 'drawn' | 'look-alike'
  readonly text: string
}

/**
 * Characters without a glyph of their own: controls, zero-width and bidi characters, tags, fillers, unusual spaces; and marks
 * that strike a character out, surround it, or are piled up over the lines beside it.
 */
const UNSEEN =
  /(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{DI}\p{Me}\u2800]|[\u0334-\u0338\u20d2-\u20ea]|(?<=\p{Mn}{4})\p{Mn}|(?! )\p{Zs}/gu
const UNSEEN_OR_EDGE = new RegExp(`^ +|(?<! ) +$|${UNSEEN.source}`, 'gu')
const PLAIN = /^(?! )[\n\x20-\x7e]*(?<! )$/

/**
 * The text in parts. Line feeds stay; of a whole text, spaces at the beginning and the end are drawn too. `isWhole` is false
 * for a piece of a text.
 */
export function textParts(text: string, { isWhole = true } = {}): TextPart[] {
  if (PLAIN.test(text)) return text === '' ? [] : [{ kind: 'plain', text }]
  const parts: TextPart[] = []
  let end = 0
  for (const { 0: unseen, index } of text.matchAll(isWhole ? UNSEEN_OR_EDGE : UNSEEN)) {
    parts.push(...wordParts(text.slice(end, index)), { kind: 'drawn', text: drawn(unseen) })
    end = index + unseen.length
  }
  return [...parts, ...wordParts(text.slice(end))]
}

/** The text for a terminal, which has no marks: a look-alike is followed by the code points of its foreign letters. */
export function drawnText(text: string, options?: { readonly isWhole?: boolean }): string {
  return textParts(text, options)
    .map((part) => part.text)
    .join('')
}

function wordParts(text: string): TextPart[] {
  if (text === '') return []
  if (mixedScriptWord(text) === undefined) return [{ kind: 'plain', text }]
  return text
    .split(/(?<=\s)(?=\S)|(?<=\S)(?=\s)/u)
    .map((word) =>
      mixedScriptWord(word) === undefined
        ? { kind: 'plain', text: word }
        : { kind: 'look-alike', text: `${word}${drawn(imitatingLetters(word))}` },
    )
}

function drawn(characters: string): string {
  return `[${[...characters].map(codePointOf).join(' ')}]`
}

function codePointOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
}
