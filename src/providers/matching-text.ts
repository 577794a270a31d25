import { fitsPattern } from './callback-members.ts'

/**
 * A text that matches the whole pattern: the first alternative, the least repetitions. `undefined` for a pattern with
 * parts that are not read here (named classes, flags), and for a text that does not match in RE2.
 */
export function matchingText(pattern: string): string | undefined {
  try {
    const text = readAlternatives({ pattern: pattern.replace(/^\^|\$$/g, ''), at: 0 })
    return fitsPattern(pattern, text) ? text : undefined
  } catch (error) {
    if (error instanceof Unreadable) return undefined
    throw error
  }
}

const LONGEST_TEXT = 500

class Unreadable extends Error {}

interface Cursor {
  readonly pattern: string
  at: number
}

function readAlternatives(cursor: Cursor): string {
  let chosen: string | undefined
  for (;;) {
    const text = readSequence(cursor)
    chosen ??= text
    if (cursor.pattern[cursor.at] !== '|') return chosen
    cursor.at += 1
  }
}

function readSequence(cursor: Cursor): string {
  let text = ''
  for (;;) {
    const next = cursor.pattern[cursor.at]
    if (next === undefined || next === '|' || next === ')') return text
    if (next === '^' || next === '$') {
      cursor.at += 1
      continue
    }
    const atom = readAtom(cursor)
    const count = readCount(cursor)
    // values are shorter; nested counts multiply
    if (text.length + atom.length * count > LONGEST_TEXT) throw new Unreadable()
    text += atom.repeat(count)
  }
}

function readAtom(cursor: Cursor): string {
  const next = cursor.pattern[cursor.at] ?? ''
  cursor.at += 1
  if (next === '(') {
    const group = /^\?(?::|P?<\w+>)/.exec(cursor.pattern.slice(cursor.at))
    if (group !== null) cursor.at += group[0].length
    else if (cursor.pattern[cursor.at] === '?') throw new Unreadable()
    const text = readAlternatives(cursor)
    if (cursor.pattern[cursor.at] !== ')') throw new Unreadable()
    cursor.at += 1
    return text
  }
  if (next === '[') return readClass(cursor)
  if (next === '\\') return readEscape(cursor)
  if (next === '.') return 'a'
  return next
}

function readEscape(cursor: Cursor): string {
  const next = cursor.pattern[cursor.at] ?? ''
  cursor.at += 1
  const classes: Readonly<Record<string, string>> = { d: '7', w: 'a', s: ' ' }
  if (classes[next] !== undefined) return classes[next]
  if (/[A-Za-z0-9]/.test(next)) throw new Unreadable()
  return next
}

/** The first character of a class. */
function readClass(cursor: Cursor): string {
  const end = /^(?:\\.|[^\]\\])+/.exec(cursor.pattern.slice(cursor.at))
  const [members = ''] = end ?? []
  if (members === '' || members.startsWith('^') || members.startsWith('[:')) throw new Unreadable()
  cursor.at += members.length + 1
  return members.startsWith('\\') ? readEscape({ pattern: members, at: 1 }) : (members[0] ?? '')
}

function readCount(cursor: Cursor): number {
  const [written, least] = /^(?:[*+?]|\{(\d+)(?:,\d*)?\})\??/.exec(cursor.pattern.slice(cursor.at)) ?? []
  if (written === undefined) return 1
  cursor.at += written.length
  if (least !== undefined) return Number(least)
  return written.startsWith('+') ? 1 : 0
}
