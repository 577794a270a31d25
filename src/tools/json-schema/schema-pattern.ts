import { compilePattern, fromEcmaScript, type Pattern } from '../../parsing/pattern.ts'
import { excerpt, SchemaFault } from './schema-fault.ts'

/** In characters; real patterns have a few dozen. */
const MAX_LENGTH = 1000
/** In instructions of the compiled program, which take memory, and time for each character. */
const MAX_SIZE = 10_000

/**
 * Compiles an ECMA-262 pattern as schemas use it (2020-12 core section 6.4) to RE2, which has no lookaround, no
 * back-references and at most 1,000 repetitions. Throws `SchemaFault`.
 */
export function schemaPattern(source: string, place: string): Pattern {
  if (source.length > MAX_LENGTH)
    throw new SchemaFault('invalid_schema', `${place} has a pattern of more than ${MAX_LENGTH} characters.`)
  try {
    const translated = fromEcmaScript(toRe2(source))
    return compilePattern(translated, { length: translated.length, size: MAX_SIZE })
  } catch (error) {
    const reason = error instanceof Error ? error.message : ''
    throw new SchemaFault(
      'invalid_schema',
      `${place} has a pattern that cannot be used (${excerpt(reason)}): lookaround and back-references are not supported, nor are more than 1,000 repetitions.`,
    )
  }
}

/** Whether `schemaPattern` accepts the pattern. */
export function isUsablePattern(source: string): boolean {
  try {
    schemaPattern(source, '')
    return true
  } catch (error) {
    if (error instanceof SchemaFault) return false
    throw error
  }
}

const TOKEN = /\\u[Dd][89ABab][\dA-Fa-f]{2}\\u[Dd][C-Fc-f][\dA-Fa-f]{2}|\\[pP]\{[^}]*\}|\\.|./gsu
const SPACE = String.raw`\s\v\x{a0}\x{feff}\x{2028}\x{2029}\p{Zs}`
/** All other characters, for classes, in which RE2 has no complement. */
const NO_SPACE =
  String.raw`\x{0}-\x{8}\x{e}-\x{1f}\x{21}-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}\x{202a}-\x{202e}` +
  String.raw`\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{fefe}\x{ff00}-\x{10ffff}`

/**
 * Translates the few tokens that RE2 reads differently from ECMA-262: `.`, `\s`, `\S`, `\b` in a class, surrogate
 * pairs and long property names.
 */
function toRe2(source: string): string {
  let isInClass = false
  const read = (token: string): string => {
    if (isInClass) {
      if (token === ']') isInClass = false
      if (token === '\\s') return SPACE
      if (token === '\\S') return NO_SPACE
      if (token === '\\b') return String.raw`\x{8}`
    } else {
      if (token === '[') isInClass = true
      if (token === '.') return String.raw`[^\n\r\x{2028}\x{2029}]`
      if (token === '\\s') return `[${SPACE}]`
      if (token === '\\S') return `[^${SPACE}]`
    }
    if (/^\\u.{4}\\u/u.test(token)) return `\\x{${codePointOf(token).toString(16)}}`
    return /^\\[pP]\{/.test(token) ? withShortProperty(token) : token
  }
  return source.replaceAll(TOKEN, read)
}

function codePointOf(pair: string): number {
  const [high = 0, low = 0] = [pair.slice(2, 6), pair.slice(8, 12)].map((hex) => Number.parseInt(hex, 16))
  return (high - 0xd800) * 0x400 + (low - 0xdc00) + 0x10000
}

/** Short names of the general categories that schemas spell out; RE2 and ECMA-262 have the same names of scripts. */
const CATEGORIES: Readonly<Record<string, string>> = {
  Letter: 'L',
  Lowercase_Letter: 'Ll',
  Uppercase_Letter: 'Lu',
  Mark: 'M',
  Number: 'N',
  Decimal_Number: 'Nd',
  Punctuation: 'P',
  Symbol: 'S',
  Separator: 'Z',
  Space_Separator: 'Zs',
}

function withShortProperty(token: string): string {
  const name = token.slice(3, -1).replace(/^(Script|sc|General_Category|gc)=/, '')
  return `${token.slice(0, 2)}{${Object.hasOwn(CATEGORIES, name) ? CATEGORIES[name] : name}}`
}
