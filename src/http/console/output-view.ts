import type { z } from '@hono/zod-openapi'
import { html } from 'hono/html'
import { fromTimestamp } from '../../domain/clock.ts'
import { jsonSchemaOf } from '../../operations/json-schema.ts'
import { isRecord, memberOf } from '../../parsing/json-record.ts'
import { type Html, name } from '../pages/layout.ts'
import { exactTime, time } from './elements.ts'
import { inWords } from './operation-fields.ts'
import { type Keywords, membersOf, withoutNull } from './schema-form.ts'

// What a page shows of the output of an operation. A new member of the output is a column of the list and a row of the
// page without a change there. A page may say how a member is shown, or that it is not.

type Cell = string | Html | undefined

/** How a member is shown. A text is the label; `false`: it is not shown. */
export type MemberLayout<Output> = false | string | readonly [label: Label, show: Show<Output>]
type Label = string | Html
type Show<Output> = (output: Output, now: number) => Cell

/**
 * By the member, or by the path of a member of an object, such as `oauth2.client_id`. These come first, in this order;
 * the others follow in the order of the schema, except objects, which fit no cell.
 */
export type OutputLayout<Output> = {
  readonly [Path in (keyof Output & string) | `${keyof Output & string}.${string}`]?: MemberLayout<Output>
}

export interface OutputView<Output> {
  /** The heads of a table's columns, and the cells of one row. */
  readonly heads: readonly Label[]
  cells(output: Output, now: number): readonly Cell[]
  /** The rows of a list of facts. */
  facts(output: Output, now: number): readonly (readonly [Label, Cell])[]
}

export function outputView<Schema extends z.ZodType>(
  schema: Schema | undefined,
  layout: OutputLayout<z.output<Schema>>,
): OutputView<z.output<Schema>> {
  type Output = z.output<Schema>
  const given = layout as Readonly<Record<string, MemberLayout<Output> | undefined>>
  let made: readonly (readonly [Label, show: Show<Output>, exact: Show<Output>])[] | undefined
  const members = () => {
    const named = membersOf(schema === undefined ? {} : (jsonSchemaOf(schema) as Keywords))
    const others = named.filter(({ member, keywords }) => given[member] === undefined && fitsCell(keywords))
    made ??= [...Object.keys(given), ...others.map(({ member }) => member)].flatMap((path) => {
      const own = given[path] ?? inWords(path)
      if (own === false) return []
      if (typeof own !== 'string') return [[own[0], own[1], own[1]] as const]
      const show = (isExact: boolean) => (output: Output, now: number) =>
        valueText(path, path.split('.').reduce(memberOf, output), isExact ? undefined : now)
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

/** Whether the values are texts, numbers or lists of them. */
function fitsCell(keywords: Keywords): boolean {
  const { type, items, enum: values } = withoutNull(keywords)
  if (type === 'array') return isRecord(items) && items.type !== 'array' && fitsCell(items)
  return values !== undefined || (type !== undefined && type !== 'object')
}

/** A value without a layout of its own. Without `now`, a time is shown exactly. */
function valueText(path: string, value: unknown, now: number | undefined): Cell {
  if (value === undefined || value === null || value === '') return undefined
  if (typeof value === 'string' && /_(at|since|until)$/.test(path)) {
    const at = fromTimestamp(value)
    return now === undefined ? exactTime(at) : time(at, now)
  }
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  const isList = Array.isArray(value) && value.every((item) => typeof item === 'string')
  const text = typeof value === 'string' ? value : isList ? value.join(', ') : JSON.stringify(value)
  return html`${name(text, { longest: 300 })}`
}
