import type { ToolError } from './tool-error.ts'

/** A request to a worker failed. The message is for the operator and may name the worker's host. */
export class WorkerFault extends Error {
  readonly error: ToolError

  constructor(error: ToolError) {
    super(error.developerMessage ?? error.message)
    this.name = 'WorkerFault'
    this.error = error
  }
}
