import type { z } from '@hono/zod-openapi'
import { featureParts } from '../feature-parts.ts'
import type { World } from './world.ts'

/** A page, and what an operator of the role readonly gets. */
export type PageRow = readonly [path: () => string, readonly: 200 | 403]

/** A form that changes something, and the action of its audit entry. */
export type FormRow = readonly [path: () => string, form: Readonly<Record<string, string>>, action: string]

/** An operation, and the page whose form has the members of its body. */
export type BodyForm = readonly [
  operation: string,
  form: {
    readonly page: () => string
    readonly action?: () => string
    readonly body: z.ZodType | undefined
    /** Members that the page sets in another way, or that no page offers. */
    readonly without?: readonly string[]
  },
]

/** A form with a fault, and what its page then says. */
export type FaultRow = readonly [path: string, form: Readonly<Record<string, string>>, said: string]

/** What ends a thing: makes it and returns its id; the form; where that leads a second time, and what it says there. */
export interface Ending {
  readonly path: string
  readonly make: (world: World) => Promise<string>
  readonly list: string
  readonly said: string
}

/** The part of the console that a feature has. */
export interface ConsolePart {
  /** Makes what its pages show. */
  readonly prepare: (world: World) => Promise<unknown>
  readonly pages: readonly PageRow[]
  readonly forms?: readonly FormRow[]
  readonly bodies?: readonly BodyForm[]
  readonly faults?: readonly FaultRow[]
  readonly endings?: readonly Ending[]
  /** Forms that need a login of the last minutes, and others with their status. */
  readonly confirmed?: readonly (readonly [path: string, form: Readonly<Record<string, string>>])[]
  readonly unconfirmed?: readonly (readonly [
    path: string,
    form: Readonly<Record<string, string>>,
    status: number,
  ])[]
  /** Forms of readonly operators, which change nothing. */
  readonly readonlyForms?: readonly string[]
  /** Lists with a row for each failed run, and what makes such a list before the runs. */
  readonly longLists?: {
    readonly paths: readonly string[]
    readonly begin: (world: World) => Promise<unknown>
  }
}

export const consoleParts = await featureParts<ConsolePart>('console-part')
