import { isRecord, type JsonRecord } from '../../../parsing/json-record.ts'
import { NEXT_PAGE } from './pages.ts'

// An answer that is longer than a model should read at once is cut where it stays JSON: a list after one of its elements, and
// what lies deep in a single element. A sentence says what is missing and how to get it.

/** The property of the input that says with which element of a list to begin. */
export const ITEMS_FROM = 'items_from'
/** The member of the answer that says what was left out. */
export const CUT = 'cut'
/** In characters of JSON. */
export const MAX_ANSWER = 16_000
/** The room for notes in place of what is left out, and for the sentence about it. */
const ROOM = 400

interface Bound {
  /** In characters of JSON. */
  readonly limit: number
  /** Whether the call may be repeated for the rest, by `items_from`. */
  readonly mayGoOn: boolean
  readonly input: Readonly<Record<string, unknown>>
}

/** Returns the answer in at most `limit` characters of JSON. Only an object is cut; `shapeAnswer` makes one of a list. */
export function boundAnswer(value: unknown, { limit, mayGoOn, input }: Bound): unknown {
  if (!isRecord(value)) return value
  const sent = mayGoOn ? Number(input[ITEMS_FROM]) : 0
  const start = Number.isInteger(sent) && sent > 0 ? sent : 0
  if (start === 0 && sizeOf(value) <= limit) return value
  const path = longestList(value)
  const list = path === undefined ? undefined : at(value, path)
  if (path === undefined || !Array.isArray(list)) {
    const { value: kept, isCut } = trimmed(value, limit - ROOM)
    return isCut ? { ...(kept as JsonRecord), [CUT]: TOO_DEEP } : kept
  }
  const rest = limit - ROOM - (sizeOf(value) - sizeOf(list))
  const { elements, end, isCut } = windowOf(list, start, Math.max(rest, limit / 2))
  const cut = replacedAt(value, path, elements) as JsonRecord
  if (end >= list.length) return isCut ? { ...cut, [CUT]: TOO_DEEP } : cut
  // the next page would leave out the elements that are missing here
  const { [NEXT_PAGE]: _, ...whole } = cut
  const name = path.join('.')
  const shown = `${name} has ${list.length} elements, of which ${start} to ${end - 1} are here, counted from 0.`
  const more = mayGoOn
    ? `Call again with the same input and ${ITEMS_FROM} ${end} for the rest${cut[NEXT_PAGE] === undefined ? '' : ', and then for further pages'}.`
    : 'The others are left out.'
  return { ...whole, [CUT]: `${shown} ${more}${isCut ? ` ${TOO_DEEP}` : ''}` }
}

const TOO_DEEP = 'The answer is too long: where it says so, parts are left out. Ask for less.'

function sizeOf(value: unknown): number {
  return JSON.stringify(value)?.length ?? 0
}

/** The path of the list that makes the value long: of the largest members, the first list of several elements. */
function longestList(value: JsonRecord): readonly string[] | undefined {
  const path: string[] = []
  for (let part: unknown = value; isRecord(part); ) {
    const [largest] = Object.entries(part)
      .filter(([, member]) => typeof member === 'object')
      .sort(([, one], [, other]) => sizeOf(other) - sizeOf(one))
    if (largest === undefined) return undefined
    path.push(largest[0])
    if (Array.isArray(largest[1])) return path
    part = largest[1]
  }
  return undefined
}

function at(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((part, name) => (isRecord(part) ? part[name] : undefined), value)
}

function replacedAt(value: unknown, [name, ...rest]: readonly string[], by: unknown): unknown {
  if (name === undefined || !isRecord(value)) return by
  return { ...value, [name]: replacedAt(value[name], rest, by) }
}

/** The elements from `start` that fit, at least one, which is trimmed if it is too long alone. */
function windowOf(list: readonly unknown[], start: number, size: number) {
  const elements: unknown[] = []
  let left = size
  let end = Math.min(start, list.length)
  for (; end < list.length; end++) {
    const length = sizeOf(list[end]) + 1
    if (length > left && elements.length > 0) return { elements, end, isCut: false }
    if (length > left) {
      const { value, isCut } = trimmed(list[end], left)
      return { elements: [value], end: end + 1, isCut }
    }
    elements.push(list[end])
    left -= length
  }
  return { elements, end, isCut: false }
}

/** The value without what lies deepest in it, then with fewer elements and members, so that it has about this size. */
function trimmed(value: unknown, size: number): { readonly value: unknown; readonly isCut: boolean } {
  if (sizeOf(value) <= size) return { value, isCut: false }
  for (const most of [100, 20, 5, 1])
    for (const depth of [8, 6, 4, 3, 2, 1]) {
      const tried = shallow(value, depth, most)
      if (sizeOf(tried) <= size) return { value: tried, isCut: true }
    }
  return { value: noteOf(value), isCut: true }
}

/** A copy with this many levels, and this many elements of each list and members of each object. */
function shallow(value: unknown, depth: number, most: number): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (depth === 0) return noteOf(value)
  if (Array.isArray(value)) {
    const kept = value.slice(0, most).map((element) => shallow(element, depth - 1, most))
    return value.length > most ? [...kept, `[${value.length - most} more elements]`] : kept
  }
  const members = Object.entries(value)
  const kept = members.slice(0, most).map(([name, member]) => [name, shallow(member, depth - 1, most)])
  const left = members.length - most
  return Object.fromEntries(left > 0 ? [...kept, ['…', `[${left} more members]`]] : kept)
}

function noteOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.length} elements]`
  if (isRecord(value)) return `[${Object.keys(value).length} members]`
  return `[${String(value).length} characters]`
}
