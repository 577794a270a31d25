import { Column, getTableColumns, is, Param, Placeholder, SQL, type SQLWrapper, sql } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'

/** A row that was read: NULL in the database is an absent member. */
export type Present<Row> = { [K in keyof Row as null extends Row[K] ? never : K]: Row[K] } & {
  [K in keyof Row as null extends Row[K] ? K : never]?: Exclude<Row[K], null>
}

/** Values that many statements bind. */
export interface ById {
  readonly id: string
}
export interface OfProject {
  readonly projectId: string
}
export interface OfUser extends OfProject {
  readonly userId: string
}
export interface InProject extends ById, OfProject {}

/** A query of drizzle's that gives rows: a SELECT, or a write with `returning`. A write without it is `withoutRows`. */
export interface Query<Row> extends SQLWrapper {
  readonly _: { readonly result: readonly Row[] }
}

/**
 * A write whose rows are not read. For `returning` SQLite opens a table for the rows at each call, which costs an insert
 * into the history of runs 18 of 38 us of processor time (2026-11-29), so statements that run for every request go without.
 */
export function withoutRows(query: SQLWrapper): Query<never> {
  return query as SQLWrapper & Query<never> // drizzle's type has the result of the driver in place of the rows
}

/** An SQL statement that is built on first use and kept: a call binds values to it. */
export type Statement<Values, Row> = (values: Values) => BoundStatement<Present<Row>>

/** A statement with its values. `yield*` in the body of a transaction runs it and gives its rows. */
export interface BoundStatement<Row> {
  readonly text: string
  readonly values: readonly unknown[]
  /** Makes a row of the values that the driver has read, which are in the order of the statement's columns. */
  readonly toRow: (columns: readonly unknown[]) => unknown
  /** `false`: a write of `withoutRows`. */
  readonly givesRows: boolean
  /** The bits of the owner whose rows alone the statement is about (`partitions.ts`); absent: not known, or several. */
  readonly ownerBits?: string | undefined
  [Symbol.iterator](): Steps<readonly Row[]>
}

/**
 * The body of a transaction. It can wait for nothing but statements, so that SQLite runs it without giving up the event
 * loop in between.
 */
export interface Transaction<T> {
  [Symbol.iterator](): Steps<T>
}

/** What the generator function of a transaction's body, or of a part of one, returns. */
export type Steps<T> = Generator<BoundStatement<unknown>, T, readonly unknown[]>

/** Turns drizzle's query into the text of one database, with a `Placeholder` for each value that is bound later. */
export type ToText = (query: SQL) => { readonly sql: string; readonly params: readonly unknown[] }

export type StatementMaker = <Values extends object, Row>(
  build: (values: Values) => Query<Row>,
) => Statement<Values, Row>

/**
 * Makes the function that nouns declare their statements with. `build` is called once. The members of its `values` are
 * placeholders, to which each call binds its own values, so `build` must not compute with them. Constants become part of
 * the text: the planner compares them with the condition of a partial index.
 */
export function createStatementMaker(toText: ToText): StatementMaker {
  return (build) => {
    const made = compiled(() => build(placeholders()), toText)
    return (values) => made().bind(values) as BoundStatement<never> // rows of `build`'s query
  }
}

/** Returns a function that builds and compiles the query on its first call, and returns that result from then on. */
export function compiled(build: () => Query<unknown>, toText: ToText): () => Compiled {
  let made: Compiled | undefined
  return () => {
    made ??= compile(build(), toText)
    return made
  }
}

interface Compiled {
  /** The names of the values that a call binds, in the order of the parameters. */
  readonly names: readonly string[]
  readonly bind: (values: object) => BoundStatement<unknown>
}

/** A row whose members are placeholders, named like the table's columns. */
export function placeholdersOf<Table extends SQLiteTable>(table: Table): Table['$inferInsert'] {
  const names = Object.keys(getTableColumns(table))
  return Object.fromEntries(names.map((name) => [name, placeholder(name)])) as Table['$inferInsert']
}

/** Keeps one statement for each shape of a query, such as which filters are given, or its order. */
export function variantsOf<Shape, Made>(make: (shape: Shape) => Made): (shape: Shape) => Made {
  const made = new Map<Shape, Made>()
  return (shape) => {
    const known = made.get(shape) ?? make(shape)
    made.set(shape, known)
    return known
  }
}

/** Values for `build`: a placeholder for each member, `undefined` for the names in `without`. */
export function placeholders<Values extends object>(without: readonly string[] = []): Values {
  const get = (_: object, name: string | symbol) =>
    without.includes(String(name)) ? undefined : placeholder(String(name))
  return new Proxy({}, { get }) as Values // each call binds the value to its placeholder
}

function placeholder(name: string): Placeholder {
  return Object.assign(sql.placeholder(name), {
    [Symbol.toPrimitive](): never {
      throw new Error(
        `a statement computes with "${name}" before it is bound: compute in SQL, or bind the result`,
      )
    },
  })
}

function compile(query: Query<unknown>, toText: ToText): Compiled {
  const { sql: text, params } = toText(query.getSQL().inlineParams())
  const names = params.map(nameOf)
  const fields = fieldsOf(query)

  function toRow(columns: readonly unknown[]): unknown {
    const row: Members = {}
    for (let i = 0; i < fields.length; i++) {
      const value = columns[i]
      const field = fields[i]
      if (value === null || field === undefined) continue
      const decoded = field.decode === undefined ? value : field.decode(value)
      if (field.parent === undefined) row[field.name] = decoded
      else membersOf(row, field.parent)[field.name] = decoded
    }
    return row
  }

  return {
    names,
    bind: (values) => ({
      text,
      values: names.map((name) => encoded((values as Members)[name])),
      toRow,
      givesRows: fields.length > 0,
      *[Symbol.iterator]() {
        return yield this
      },
    }),
  }
}

function nameOf(param: unknown): string {
  const value = is(param, Param) ? param.value : param
  if (!is(value, Placeholder)) throw new Error('a statement has a parameter that no call binds')
  return value.name
}

/** The value as both drivers take it: absent is NULL, a boolean is 1 or 0, JSON is text, a number loses its fraction. */
function encoded(value: unknown): unknown {
  switch (typeof value) {
    case 'undefined':
      return null
    case 'boolean':
      return value ? 1 : 0
    case 'number':
      return Math.floor(value)
    case 'object':
      return value === null ? null : JSON.stringify(value)
    default:
      return value
  }
}

type Members = Record<string, unknown>

/** The member of a row that is an object itself, added if there is none yet. */
function membersOf(row: Members, name: string): Members {
  row[name] ??= {}
  return row[name] as Members // made here
}

interface Field {
  readonly name: string
  /** The member of the row that the value belongs to; absent: the row itself. */
  readonly parent: string | undefined
  /** Absent: the value is what the driver gives. */
  readonly decode: ((value: unknown) => unknown) | undefined
}

/** The columns of a query's rows. Drizzle has them in the query's `config`, which is not part of its types. */
function fieldsOf(query: Query<unknown>): readonly Field[] {
  const { fields = {}, returning } = (query as unknown as { readonly config: QueryConfig }).config
  return (returning ?? selectedIn(fields)).map(({ path, field }) => ({
    name: path.at(-1) ?? '',
    parent: path.at(-2),
    decode: decoderOf('mapFromDriverValue' in field ? field : field.decoder),
  }))
}

/** `undefined` for the many columns whose decoder is that of the base class, which returns its argument. */
function decoderOf(column: Decoder): Field['decode'] {
  if (column.mapFromDriverValue === Column.prototype.mapFromDriverValue) return undefined
  return (value) => column.mapFromDriverValue(value)
}

function selectedIn(fields: SelectedFields, path: readonly string[] = []): readonly Selected[] {
  return Object.entries(fields).flatMap(([name, field]) =>
    isColumn(field) ? { path: [...path, name], field } : selectedIn(field, [...path, name]),
  )
}

function isColumn(field: SelectedField | SelectedFields): field is SelectedField {
  return is(field, Column) || is(field, SQL)
}

interface QueryConfig {
  readonly fields?: SelectedFields
  readonly returning?: readonly Selected[]
}

interface Selected {
  readonly path: readonly string[]
  readonly field: SelectedField
}

interface SelectedFields {
  readonly [name: string]: SelectedField | SelectedFields
}

type Decoder = Pick<Column, 'mapFromDriverValue'>
type SelectedField = Decoder | { readonly decoder: Decoder }
