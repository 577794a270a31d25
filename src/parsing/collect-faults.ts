import { BrokerError, type Fault } from '../domain/errors.ts'
import { invalidRequest } from './parse.ts'

/** Collects the faults of several parts of a request, so that one answer names all of them. */
export interface FaultCollection {
  /** The result of the step; `undefined` if it threw `invalid_request`. Other errors are thrown. */
  of<T>(step: () => T): T | undefined
  /** Throws `invalid_request` with the faults of all steps, if there are any. */
  throwIfAny(): void
}

export function collectFaults(): FaultCollection {
  const faults: Fault[] = []
  return {
    of(step) {
      try {
        return step()
      } catch (error) {
        if (!(error instanceof BrokerError) || error.faults === undefined) throw error
        faults.push(...error.faults)
        return undefined
      }
    },
    throwIfAny() {
      if (faults.length > 0) throw invalidRequest(faults)
    },
  }
}
