import type { Operations } from '../sdk/generated/wire.ts'
import type { ItemOf, ListId } from './api.ts'
import OUTPUTS from './generated/outputs.json' with { type: 'json' }
import { table, toDay } from './print.ts'

// What a command prints of the output of an operation. A new member of the output is a column of the list and a line of
// the record without a change in the command. A command may say how a member is shown, or that it is not.

/** What a member holds, as `npm run wire-types` writes it. Members that no cell can hold are left out there. */
export type OutputMember = 'string' | 'number' | 'boolean' | 'list'

/** How a member is shown. A text is the heading; `false`: it is not shown. */
type Column<Output> = false | string | readonly [heading: string, cell: (output: Output) => string]

/** These members come first, in this order; the others follow in the order of the schema. */
export type Columns<Output> = { readonly [Member in keyof Output & string]?: Column<Output> }

/** Formats the items of the list as a table. */
export function outputTable<Id extends ListId>(
  id: Id,
  columns: Columns<ItemOf<Id>>,
): (items: readonly ItemOf<Id>[]) => string {
  const all = columnsOf<ItemOf<Id>>(id, columns)
  return (items) =>
    table(
      all.map(([heading]) => heading),
      items.map((item) => all.map(([, cell]) => cell(item))),
    )
}

/** The lines of one record: each member that has a value, with its heading. */
export function outputLines<Id extends keyof Operations>(
  id: Id,
  columns: Columns<Operations[Id]['answer']>,
): (output: Operations[Id]['answer']) => readonly (readonly [heading: string, text: string])[] {
  const all = columnsOf<Operations[Id]['answer']>(id, columns)
  return (output) =>
    all.map(([heading, cell]) => [heading, cell(output)] as const).filter(([, text]) => text !== '')
}

function columnsOf<Output>(id: string, given: Columns<Output>) {
  const members = (OUTPUTS as Readonly<Record<string, Readonly<Record<string, string>>>>)[id] ?? {}
  const own: Readonly<Record<string, Column<Output> | undefined>> = given
  const others = Object.keys(members).filter((member) => own[member] === undefined)
  return [...Object.keys(given), ...others].flatMap((member) => {
    const column = own[member] ?? member.replaceAll('_', ' ')
    if (column === false) return []
    if (typeof column !== 'string') return [column]
    const cell = (output: Output) => cellText(member, (output as Readonly<Record<string, unknown>>)[member])
    return [[column, cell] as const]
  })
}

function cellText(member: string, value: unknown): string {
  if (value === undefined || value === null) return ''
  if (typeof value === 'string') return member.endsWith('_at') ? toDay(value) : value
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return Array.isArray(value) ? value.join(', ') : String(value)
}
