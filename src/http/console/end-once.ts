import { BrokerError } from '../../domain/errors.ts'
import type { AuditFilter } from '../../flows/read-audit.ts'
import { newestEntries } from './lists.ts'
import type { OnPage } from './routes.ts'

interface Ending {
  /** Selects the audit entries that are written when the thing ends. */
  readonly entry: AuditFilter
  /** The path of its list, below `/dashboard`. */
  readonly list: string
  /** What the list says when the thing had ended before. */
  readonly already: string
}

/**
 * The handler of a form that deletes or ends something. If the thing had ended before, by an earlier click or by another
 * person, the operator has what they asked for, so the answer is the list with `already`. The project's audit trail tells
 * such a thing from one that the project never had, which stays `not_found`.
 */
export function endOnce(
  endingOf: (on: OnPage, form: URLSearchParams) => Ending,
  handle: (on: OnPage, form: URLSearchParams) => Promise<Response>,
): typeof handle {
  return async (on, form) => {
    try {
      return await handle(on, form)
    } catch (error) {
      if (!(error instanceof BrokerError) || error.code !== 'not_found') throw error
      const { entry, list, already } = endingOf(on, form)
      if ((await newestEntries(on, entry)).length === 0) throw error
      return on.go(list, already)
    }
  }
}
