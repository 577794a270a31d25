import { LargeJson } from './large-json.ts'
import { mapParts } from './packed-answer.ts'
import { scrub } from './scrub.ts'
import type { ToolAnswer } from './tool-answer.ts'

/** `scrub` for an answer. The thread that read the large parts has already removed the same secrets from them. */
export function scrubAnswer(answer: ToolAnswer, secrets: readonly string[]): ToolAnswer {
  const large = new Map<string, LargeJson>()
  const small = mapParts(answer, (part, value) => {
    if (!(value instanceof LargeJson)) return value
    large.set(part, value)
    return null
  })
  const clean = scrub(small, secrets) as ToolAnswer // `scrub` keeps the shape
  return large.size === 0 ? clean : mapParts(clean, (part, value) => large.get(part) ?? value)
}
