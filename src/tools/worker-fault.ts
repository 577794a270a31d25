import type { ToolError } from './tool-error.ts'

/** A request to a worker failed. `message` is for the operator, because it may name the worker's host; `error` is for callers. */
export class WorkerFault extends Error {
  readonly error: ToolError
  /** The answer is longer than the `maxBytes` of the request. */
  readonly isTooLarge: boolean

  constructor(error: ToolError, { isTooLarge = false }: { readonly isTooLarge?: boolean } = {}) {
    super(error.developerMessage ?? error.message)
    this.name = 'WorkerFault'
    this.error = error
    this.isTooLarge = isTooLarge
  }
}
