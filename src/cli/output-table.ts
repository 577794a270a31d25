import { memberOf } from '../parsing/json-record.ts'
import type { Operations } from '../sdk/generated/wire.ts'
import OUTPUTS from './generated/outputs.json' with { type: 'json' }
import { table, toDay } from './print.ts'

// What a command prints of the output of an operation. A new member of the output is a column of the list and a line of
// the record without a change in the command. A command may say how a member is shown, or that it is not.

/** What a member holds, as `npm run wire-types` writes it. Members that no cell can hold are left out there. */
export type OutputMember = 'string' | 'number' | 'boolean' | 'list'

/** How a member is shown. A text is the heading; `false`: it is not shown. */
type Column<Output> = false | string | readonly [heading: string, cell: (output: Output) => string]

/**
 * By the member, or by the path of a member of an object, such as `oauth2.client_id`. These come first, in this order;
 * the others follow in the order of the schema.
 */
export type Columns<Output> = {
  readonly [Path in (keyof Output & string) | `${keyof Output & string}.${string}`]?: Column<Output>
}

/** The items of an operation that answers a list. */
type ListItem<Id extends keyof Operations> = Operations[Id]['answer'] extends {
  readonly items: readonly (infer Item)[]
}
  ? Item
  : never

/** Formats the items of the list as a table, without the columns that no item has. */
export function outputTable<Id extends keyof Operations>(
  id: Id,
  columns: Columns<ListItem<Id>>,
): (items: readonly ListItem<Id>[]) => string {
  const all = columnsOf<ListItem<Id>>(id, columns)
  return (items) => {
    const filled = all
      .map(([heading, cell]) => ({ heading, cells: items.map(cell) }))
      .filter(({ cells }) => cells.some((text) => text !== ''))
    return table(
      filled.map(({ heading }) => heading),
      items.map((_, row) => filled.map(({ cells }) => cells[row] ?? '')),
    )
  }
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
  return [...Object.keys(given), ...others].flatMap((path) => {
    const column = own[path] ?? path.replaceAll('_', ' ')
    if (column === false) return []
    if (typeof column !== 'string') return [column]
    const members = path.split('.')
    return [[column, (output: Output) => cellText(path, members.reduce(memberOf, output))] as const]
  })
}

function cellText(path: string, value: unknown): string {
  if (value === undefined || value === null) return ''
  if (typeof value === 'string') return path.endsWith('_at') ? toDay(value) : value
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return Array.isArray(value) ? value.join(', ') : String(value)
}
