import type { z } from '@hono/zod-openapi'
import { html } from 'hono/html'
import { fromTimestamp } from '../../domain/clock.ts'
import { jsonSchemaOf } from '../../operations/json-schema.ts'
import { type Html, name } from '../pages/layout.ts'
import { exactTime, time } from './elements.ts'
import { inWords } from './operation-form.ts'
import { type Keywords, membersOf } from './schema-form.ts'

// What a page shows of the output of an operation. A new member of the output is a column of the list and a row of the
// page without a change there. A page may say how a member is shown, or that it is not.

type Cell = string | Html | undefined

/** How a member is shown. A text is the label; `false`: it is not shown. */
export type MemberLayout<Output> = false | string | readonly [label: string, show: Show<Output>]
type Show<Output> = (output: Output, now: number) => Cell

/** These members come first, in this order; the others follow in the order of the schema. */
export type OutputLayout<Output> = { readonly [Member in keyof Output & string]?: MemberLayout<Output> }

export interface OutputView<Output> {
  /** The heads of a table's columns, and the cells of one row. */
  readonly heads: readonly string[]
  cells(output: Output, now: number): readonly Cell[]
  /** The rows of a list of facts. */
  facts(output: Output, now: number): readonly (readonly [label: string, Cell])[]
}

export function outputView<Schema extends z.ZodType>(
  schema: Schema | undefined,
  layout: OutputLayout<z.output<Schema>>,
): OutputView<z.output<Schema>> {
  type Output = z.output<Schema>
  const given = layout as Readonly<Record<string, MemberLayout<Output> | undefined>>
  let made: readonly (readonly [label: string, show: Show<Output>, exact: Show<Output>])[] | undefined
  const members = () => {
    const named = membersOf(schema === undefined ? {} : (jsonSchemaOf(schema) as Keywords))
    const others = named.map(({ member }) => member).filter((member) => given[member] === undefined)
    made ??= [...Object.keys(given), ...others].flatMap((member) => {
      const own = given[member] ?? inWords(member)
      if (own === false) return []
      if (typeof own !== 'string') return [[own[0], own[1], own[1]] as const]
      const show = (isExact: boolean) => (output: Output, now: number) =>
        valueText(member, (output as Readonly<Record<string, unknown>>)[member], isExact ? undefined : now)
      return [[own, show(false), show(true)] as const]
    })
    return made
  }
  return {
    get heads() {
      return members().map(([label]) => label)
    },
    cells: (output, now) => members().map(([, show]) => show(output, now)),
    facts: (output, now) => members().map(([label, , exact]) => [label, exact(output, now)] as const),
  }
}

/** A value without a layout of its own. Without `now`, a time is shown exactly. */
function valueText(member: string, value: unknown, now: number | undefined): Cell {
  if (value === undefined || value === null || value === '') return undefined
  if (typeof value === 'string' && /_(at|since|until)$/.test(member)) {
    const at = fromTimestamp(value)
    return now === undefined ? exactTime(at) : time(at, now)
  }
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  const isList = Array.isArray(value) && value.every((item) => typeof item === 'string')
  const text = typeof value === 'string' ? value : isList ? value.join(', ') : JSON.stringify(value)
  return html`${name(text, { longest: 300 })}`
}
