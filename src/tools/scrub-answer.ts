import { LargeJson } from './large-json.ts'
import { mapParts } from './packed-answer.ts'
import { scrub } from './scrub.ts'
import type { ToolAnswer } from './tool-answer.ts'

/** Answers from which secrets were removed when they were read: which ones, and how many of them there were. */
const scrubbed = new WeakMap<ToolAnswer, { readonly secrets: readonly string[]; readonly count: number }>()

/** The list may grow afterwards: `scrubAnswer` then removes all of its secrets. */
export function markScrubbed(answer: ToolAnswer, secrets: readonly string[]): void {
  scrubbed.set(answer, { secrets, count: secrets.length })
}

/**
 * `scrub` for an answer, unless `readAnswer` has removed the same secrets from it. The thread that read the large parts
 * has removed them from these.
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
