import type { FieldLayout } from '../operation-fields.ts'

/** How a form shows a type of worker. */
export interface WorkerForm {
  readonly type: string
  readonly name: string
  readonly what: string
  /** The members that it shows first; the others are in a section of their own. */
  readonly fields: Readonly<Record<string, FieldLayout>>
}
