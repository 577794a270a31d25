import { isRecord } from '../parsing/json-record.ts'
import { readClaims } from './response-body.ts'

/**
 * The expressions by which an entry locates values in a provider's responses: `$.a.b`, `$.a[0].b`, `$['a b']`,
 * `join(<expression>, ' ')`, `jwt_decode(<expression>, '$.claim')`. They can be nested; paths inside functions may be
 * quoted. They read own members only and compute nothing.
 */
export type Expression =
  | { readonly kind: 'path'; readonly steps: readonly (string | number)[] }
  | { readonly kind: 'join'; readonly list: Expression; readonly delimiter: string }
  | { readonly kind: 'jwt_decode'; readonly token: Expression; readonly claim: Expression }

export type Parsed = { readonly expression: Expression } | { readonly fault: string }

const MAX_LENGTH = 500
const MAX_DEPTH = 8
const MAX_STEPS = 32
const MAX_JWT_LENGTH = 65_536

class Fault extends Error {}

/** Parses an expression, or returns its fault. */
export function parseExpression(text: string): Parsed {
  if (text.length > MAX_LENGTH) return { fault: `is longer than ${MAX_LENGTH} characters` }
  try {
    return { expression: readWhole(text, 0) }
  } catch (error) {
    if (error instanceof Fault) return { fault: error.message }
    throw error
  }
}

/** The value that the expression locates in the document, or `undefined`. */
export function evaluate(expression: Expression, document: unknown): unknown {
  switch (expression.kind) {
    case 'path':
      return expression.steps.reduce(ownMember, document)
    case 'join': {
      const list = evaluate(expression.list, document)
      if (!Array.isArray(list)) return typeof list === 'string' ? list : undefined
      const texts = list.filter((entry) => typeof entry === 'string' || typeof entry === 'number')
      return texts.join(expression.delimiter)
    }
    case 'jwt_decode': {
      const token = evaluate(expression.token, document)
      return typeof token === 'string' ? evaluate(expression.claim, claimsOf(token)) : undefined
    }
  }
}

/** Evaluates an expression given as text; an invalid one gives `undefined`. */
export function evaluateText(text: string, document: unknown): unknown {
  const parsed = parseExpression(text)
  return 'fault' in parsed ? undefined : evaluate(parsed.expression, document)
}

/** The fault of a response map, naming the member, or `undefined`. */
export function checkResponseMap(map: Readonly<Record<string, string>>): string | undefined {
  for (const [member, text] of Object.entries(map)) {
    const parsed = parseExpression(text)
    if ('fault' in parsed) return `${member} ${parsed.fault}`
  }
  return undefined
}

/**
 * A token response with its mapped members under their standard names. A mapped member that is not found is absent, even
 * if the response has another member of that name. Members that the map does not name are unchanged.
 */
export function applyResponseMap(
  map: Readonly<Record<string, string>>,
  body: unknown,
): Record<string, unknown> {
  const standard: Record<string, unknown> = Object.create(null)
  if (isRecord(body)) {
    for (const [member, value] of Object.entries(body)) {
      if (!Object.hasOwn(map, member)) standard[member] = value
    }
  }
  return Object.assign(standard, selectByMap(map, body))
}

/**
 * The nested object that contains a mapped member (`$.authed_user` for `$.authed_user.access_token`); `undefined` for a
 * member at the top level or the result of a function.
 */
export function nestedOwner(text: string, body: unknown): Record<string, unknown> | undefined {
  const parsed = parseExpression(text)
  if ('fault' in parsed || parsed.expression.kind !== 'path' || parsed.expression.steps.length < 2)
    return undefined
  const steps = parsed.expression.steps.slice(0, -1)
  const owner = evaluate({ kind: 'path', steps }, body)
  return isRecord(owner) ? owner : undefined
}

/** Only the mapped members: the result for a user info response with a response map. */
export function selectByMap(map: Readonly<Record<string, string>>, body: unknown): Record<string, unknown> {
  const selected: Record<string, unknown> = Object.create(null)
  for (const [member, text] of Object.entries(map)) {
    const value = evaluateText(text, body)
    if (value !== undefined && value !== null) selected[member] = value
  }
  return selected
}

function ownMember(value: unknown, step: string | number): unknown {
  if (Array.isArray(value)) return typeof step === 'number' ? value[step] : undefined
  return isRecord(value) && Object.hasOwn(value, step) ? value[step] : undefined
}

/** The claims, unverified: the token came from the provider's own endpoint over TLS (OpenID Connect Core section 3.1.3.7). */
const claimsOf = (token: string) => (token.length > MAX_JWT_LENGTH ? undefined : readClaims(token))

/** The parser's position: the next character is `text[at]`. */
interface Cursor {
  readonly text: string
  at: number
}

function readWhole(text: string, depth: number): Expression {
  const cursor = { text, at: 0 }
  const expression = readExpression(cursor, depth)
  skipSpace(cursor)
  if (cursor.at < text.length) throw new Fault(`goes on after its end, at character ${cursor.at + 1}`)
  return expression
}

function readExpression(cursor: Cursor, depth: number): Expression {
  if (depth > MAX_DEPTH) throw new Fault(`is nested deeper than ${MAX_DEPTH}`)
  skipSpace(cursor)
  if (cursor.text[cursor.at] === '$') return readPath(cursor)
  const name = /^(join|jwt_decode)\s*\(/.exec(cursor.text.slice(cursor.at))
  if (name === null) throw new Fault('is neither a path such as $.a.b nor join(…) nor jwt_decode(…)')
  cursor.at += name[0].length
  const first = readArgument(cursor, depth + 1)
  expect(cursor, ',')
  if (name[1] === 'join') {
    skipSpace(cursor)
    const delimiter = readQuoted(cursor)
    expect(cursor, ')')
    return { kind: 'join', list: first, delimiter }
  }
  const claim = readArgument(cursor, depth + 1)
  expect(cursor, ')')
  return { kind: 'jwt_decode', token: first, claim }
}

/** An expression, in quotes or bare. */
function readArgument(cursor: Cursor, depth: number): Expression {
  skipSpace(cursor)
  return isQuote(cursor.text[cursor.at])
    ? readWhole(readQuoted(cursor), depth)
    : readExpression(cursor, depth)
}

function readPath(cursor: Cursor): Expression {
  cursor.at += 1
  const steps: (string | number)[] = []
  for (;;) {
    const next = cursor.text[cursor.at]
    if (next === '.') {
      const name = /^\.([\p{L}\p{N}_-]+)/u.exec(cursor.text.slice(cursor.at))
      if (name?.[1] === undefined) throw new Fault(`has no name after the dot at character ${cursor.at + 1}`)
      cursor.at += name[0].length
      steps.push(name[1])
    } else if (next === '[') {
      cursor.at += 1
      steps.push(readSubscript(cursor))
      expect(cursor, ']')
    } else {
      return { kind: 'path', steps }
    }
    if (steps.length > MAX_STEPS) throw new Fault(`has more than ${MAX_STEPS} steps`)
  }
}

function readSubscript(cursor: Cursor): string | number {
  skipSpace(cursor)
  if (isQuote(cursor.text[cursor.at])) return readQuoted(cursor)
  const digits = /^\d{1,6}/.exec(cursor.text.slice(cursor.at))
  if (digits === null) throw new Fault('has something other than an index or a quoted name in brackets')
  cursor.at += digits[0].length
  return Number(digits[0])
}

/** The text between quotes; a backslash escapes the next character. */
function readQuoted(cursor: Cursor): string {
  const quote = cursor.text[cursor.at]
  if (!isQuote(quote)) throw new Fault(`wants a quoted text at character ${cursor.at + 1}`)
  let text = ''
  for (cursor.at += 1; cursor.at < cursor.text.length; cursor.at += 1) {
    const next = cursor.text[cursor.at]
    if (next === quote) {
      cursor.at += 1
      return text
    }
    if (next === '\\') cursor.at += 1
    text += cursor.text[cursor.at] ?? ''
  }
  throw new Fault('has a quote that is not closed')
}

function expect(cursor: Cursor, character: string): void {
  skipSpace(cursor)
  if (cursor.text[cursor.at] !== character)
    throw new Fault(`wants ${character} at character ${cursor.at + 1}`)
  cursor.at += 1
}

function skipSpace(cursor: Cursor): void {
  while (cursor.text[cursor.at] === ' ') cursor.at += 1
}

function isQuote(character: string | undefined): boolean {
  return character === "'" || character === '"'
}
