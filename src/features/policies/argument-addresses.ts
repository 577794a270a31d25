import { canonicalHost } from './argument-hosts.ts'

/** An address, as rules compare it: in lower case, its domain in ASCII, without quotation marks and comments. */
export interface Address {
  readonly text: string
  readonly domain: string
}

interface Token {
  readonly kind: 'word' | 'quoted' | 'special'
  readonly text: string
}

/** What mail programs read differently, or not at all: control and format characters, line ends, uncommon spaces. */
const UNSAFE = /[^\P{C}\t]|[^\P{Z} ]/u
const SPECIAL = new Set('<>@,:;')
/** Dots are part of a word: `j.doe` in an address, `Q.` in a name. */
const WORD = /[^ \t()<>[\]:;@\\,"]+/y
const DOT_ATOM = /^[^.]+(?:\.[^.]+)*$/
/** A quoted local part with one of these looks like more than one address to programs that do not parse it. */
const LOOKS_LIKE_MORE = /[@,;:<>()[\]\\"]/

/**
 * Reads an address list (RFC 5322 section 3.4, with the characters of RFC 6532): names, quoted strings, comments, groups.
 * `undefined` if it is none. Stricter than the RFC where programs disagree: no obsolete syntax, no folding, no domain
 * literals. One pass, without recursion: the text is another's.
 */
export function readAddressList(text: string): readonly Address[] | undefined {
  const read = tokensOf(text)
  if (read === undefined) return undefined
  const tokens: readonly Token[] = read
  const found: Address[] = []
  let at = 0

  const isAt = (special: string) => tokens[at]?.kind === 'special' && tokens[at]?.text === special
  const skip = (special: string) => isAt(special) && ++at > 0
  /** Skips a display name; whether there is one. */
  function skipName(): boolean {
    const start = at
    while (at < tokens.length && tokens[at]?.kind !== 'special') at++
    return at > start
  }
  function readAddress(): boolean {
    const local = localPart(tokens[at++])
    if (local === undefined || !skip('@')) return false
    const domain = domainPart(tokens[at++])
    if (domain === undefined) return false
    found.push({ text: `${local}@${domain}`, domain })
    return true
  }
  function readMailbox(): boolean {
    const start = at
    skipName()
    if (skip('<')) return readAddress() && skip('>')
    at = start
    return readAddress()
  }
  function readMember(): boolean {
    const start = at
    const isGroup = skipName() && skip(':')
    if (!isGroup) {
      at = start
      return readMailbox()
    }
    if (skip(';')) return true
    do if (!readMailbox()) return false
    while (skip(','))
    return skip(';')
  }

  if (tokens.length === 0) return []
  do if (!readMember()) return undefined
  while (skip(','))
  return at === tokens.length ? found : undefined
}

/** `undefined` for characters that belong to no token, and for what does not end. Comments and spaces are no tokens. */
function tokensOf(text: string): readonly Token[] | undefined {
  if (UNSAFE.test(text)) return undefined
  const tokens: Token[] = []
  let at = 0
  while (at < text.length) {
    const char = text[at] ?? ''
    if (char === ' ' || char === '\t') at++
    else if (SPECIAL.has(char)) {
      tokens.push({ kind: 'special', text: char })
      at++
    } else if (char === '(') {
      const end = endOfComment(text, at)
      if (end === undefined) return undefined
      at = end
    } else if (char === '"') {
      const quoted = readQuoted(text, at)
      if (quoted === undefined) return undefined
      tokens.push({ kind: 'quoted', text: quoted.content })
      at = quoted.end
    } else {
      WORD.lastIndex = at
      const [word] = WORD.exec(text) ?? []
      if (word === undefined) return undefined
      tokens.push({ kind: 'word', text: word })
      at += word.length
    }
  }
  return tokens
}

/** Comments nest. */
function endOfComment(text: string, start: number): number | undefined {
  let depth = 0
  for (let at = start; at < text.length; at++) {
    const char = text[at]
    if (char === '\\') at++
    else if (char === '(') depth++
    else if (char === ')' && --depth === 0) return at + 1
  }
  return undefined
}

function readQuoted(
  text: string,
  start: number,
): { readonly content: string; readonly end: number } | undefined {
  const parts: string[] = []
  for (let at = start + 1; at < text.length; at++) {
    const char = text[at] ?? ''
    if (char === '"') return { content: parts.join(''), end: at + 1 }
    if (char === '\\') at++
    parts.push(text[at] ?? '')
  }
  return undefined
}

function localPart(token: Token | undefined): string | undefined {
  if (token === undefined || token.kind === 'special' || token.text === '') return undefined
  // a program that normalizes the text would read a fullwidth comma as a comma
  const text = token.text.normalize('NFKC')
  if (LOOKS_LIKE_MORE.test(text)) return undefined
  if (token.kind === 'word' && (!DOT_ATOM.test(text) || / /.test(text))) return undefined
  return text.toLowerCase()
}

function domainPart(token: Token | undefined): string | undefined {
  return token?.kind === 'word' ? canonicalHost(token.text) : undefined
}
