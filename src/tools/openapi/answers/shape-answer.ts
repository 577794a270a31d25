import { isRecord } from '../../../parsing/json-record.ts'
import type { AnswerPlan, LongTexts } from './answer-plan.ts'
import { convertAnswer } from './convert-answer.ts'
import { changeMembers, dropMembers, keepMembers, valuesAt } from './member-path.ts'
import { NEXT_PAGE, nextPage } from './pages.ts'

/** An answer of an API, and the input of the call that it answers. */
export interface Answered {
  readonly value: unknown
  readonly headers: Readonly<Record<string, string>>
  readonly input: Readonly<Record<string, unknown>>
}

/** The value of an answer without content: models read `null` as a failure. */
const DONE = { done: true }

/**
 * Makes the value of the tool of what the API answered. A list becomes the member `items` of an object, which can have the
 * next page as another member.
 */
export function shapeAnswer(plan: AnswerPlan, answered: Answered): unknown {
  const { members, drop = [], foreign = [], convert = {}, pages, empty = DONE } = plan
  const { value } = answered
  const isEmpty = value === null || value === '' || (isRecord(value) && Object.keys(value).length === 0)
  if (isEmpty) return empty
  const page = pages && nextPage(pages, answered)
  const converted = Object.entries(convert).reduce<unknown>(
    (changed, [path, conversion]) => changeMembers(changed, path, (one) => convertAnswer(conversion, one)),
    value,
  )
  const all = members === undefined ? converted : (keepMembers(converted, members) ?? {})
  const kept = drop.reduce(dropMembers, all)
  if (members !== undefined && isHollow(kept)) return empty
  const shaped = Array.isArray(kept) ? { items: kept } : kept
  if (!isRecord(shaped)) return shaped
  const others = foreign.filter((path) => valuesAt(kept, path).some((text) => text !== null && text !== ''))
  return {
    ...shaped,
    ...(page !== undefined && { [NEXT_PAGE]: page }),
    ...(others.length > 0 && { [FOREIGN]: others.map((path) => (kept === shaped ? path : `items${path}`)) }),
  }
}

/** The member that lists the texts of others, so that a model takes them for data and not for instructions. */
const FOREIGN = 'written_by_others'

/** Whether nothing is left but objects around wanted members that are not there. */
function isHollow(value: unknown): boolean {
  return isRecord(value) && Object.values(value).every(isHollow)
}

/**
 * Shortens long texts. Each says how long it is and how to read on. This happens after secrets were removed: half a secret
 * would not be recognized.
 */
export function shortenTexts(
  plan: LongTexts,
  value: unknown,
  input: Readonly<Record<string, unknown>>,
): unknown {
  const sent = Number(input[plan.from])
  const start = Number.isInteger(sent) && sent > 0 ? sent : 0
  return shorten(value, plan, start)
}

function shorten(value: unknown, plan: LongTexts, start: number): unknown {
  if (typeof value === 'string') return window(value, plan, start)
  if (Array.isArray(value)) return value.map((element) => shorten(element, plan, start))
  if (!isRecord(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, shorten(member, plan, start)]),
  )
}

/** Texts that are not long are whole on every page of the long ones. */
function window(text: string, { limit, from }: LongTexts, start: number): string {
  if (text.length <= limit) return text
  const end = withoutHalf(text, start + limit)
  const part = text.slice(withoutHalf(text, start), end)
  if (end >= text.length) return part
  return `${part}… [${text.length - end} more of ${text.length} characters: call again with ${from} ${end}]`
}

/** The index, or the one before it where it would divide a surrogate pair. */
function withoutHalf(text: string, index: number): number {
  const code = text.charCodeAt(index)
  return code >= 0xdc00 && code <= 0xdfff ? index - 1 : index
}
