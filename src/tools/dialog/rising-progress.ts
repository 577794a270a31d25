import type { Dialog, Progress } from './dialog.ts'
import { rateLimit } from './rate-limit.ts'
import { plainWords } from './read-form.ts'

/** In characters. */
const MAX_MESSAGE = 1_000

/** Forwards progress at a limited rate. Drops values that do not rise, as MCP requires (2026-07-28, Progress). */
export function risingProgress({ progress: send }: Dialog): (data: Progress) => void {
  const maySend = rateLimit()
  let latest = Number.NEGATIVE_INFINITY
  return ({ progress, total, message }) => {
    if (send === undefined || !Number.isFinite(progress) || progress <= latest || !maySend()) return
    latest = progress
    send({
      progress,
      ...(total !== undefined && Number.isFinite(total) && { total }),
      ...(message !== undefined && { message: plainWords(String(message), MAX_MESSAGE) }),
    })
  }
}
