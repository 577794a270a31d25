import { LargeJson } from '../large-json.ts'
import { mapParts } from '../packed-answer.ts'
import type { ToolAnswer } from '../tool-answer.ts'
import { scrub } from './scrub.ts'

/** Answers from which `readAnswer` has removed secrets: the list of secrets, and its length at that time. */
const scrubbed = new WeakMap<ToolAnswer, { readonly secrets: readonly string[]; readonly count: number }>()

/** Notes that the secrets were removed from the answer. If the list grows afterwards, `scrubAnswer` removes all of its secrets. */
export function markScrubbed(answer: ToolAnswer, secrets: readonly string[]): void {
  scrubbed.set(answer, { secrets, count: secrets.length })
}

/**
 * Removes the secrets from an answer, unless `readAnswer` has already removed the same secrets. Large parts are not
 * searched, because the thread that read them has removed the secrets.
 */
export function scrubAnswer(answer: ToolAnswer, secrets: readonly string[]): ToolAnswer {
  const mark = scrubbed.get(answer)
  if (mark?.secrets === secrets && mark.count === secrets.length) return answer
  const large = new Map<string, LargeJson>()
  const small = mapParts(answer, (part, value) => {
    if (!(value instanceof LargeJson)) return value
    large.set(part, value)
    return null
  })
  const clean = scrub(small, secrets) as ToolAnswer // `scrub` keeps the shape
  return large.size === 0 ? clean : mapParts(clean, (part, value) => large.get(part) ?? value)
}
