import { BrokerError } from '../../domain/errors.ts'
import type { AuditFilter } from '../../flows/audit/read-audit.ts'
import { newestEntries } from './lists.ts'
import type { OnPage } from './routes.ts'

interface Ending {
  /** Selects the audit entries that are written when the thing ends. */
  readonly entry: AuditFilter
  /** The path of the list of such things, below `/dashboard`. */
  readonly list: string
  /** What the list says when the thing had ended before. */
  readonly already: string
}

/**
 * Wraps the handler of a form that deletes or ends something. If the thing had ended before, by an earlier click or by
 * another person, the browser goes to the list, which shows `already`, because the operator has what they asked for.
 * The answer stays `not_found` if the audit trail has no entry of such an ending: the project had no such thing.
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
