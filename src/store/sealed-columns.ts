import type { Sealed } from '../domain/sealed.ts'
import type { Tables } from './schema.ts'
import { CARRIED_TABLE, type SealingContext } from './seal.ts'

type RowContext = Omit<SealingContext, 'table' | 'column'>

/** The columns that associated data is made of, by the names of the domain's members. */
interface Members {
  readonly id: string
  readonly uid: string
  readonly name: string
  readonly place: string
  readonly model: string
  readonly projectId: string
  readonly userId: string
  readonly providerUid: string
  /** JSON in a stored row. */
  readonly steps: string | readonly { readonly providerUid: string }[]
  readonly step: number
}

type Row<Name extends keyof Members> = Pick<Members, Name>

interface SealedTable {
  /** The column that names the row. */
  readonly id: string
  /** The column that comes before `id` in the primary key, where the id alone is not unique. */
  readonly within?: string
  /** The columns that hold envelopes. */
  readonly columns: readonly string[]
  /** The other columns that `context` reads. */
  readonly needs: readonly string[]
  /** The associated data of the envelopes of a row. */
  readonly context: (row: never) => RowContext
}

const IN_PROJECT = {
  id: 'id',
  needs: ['project_id'],
  context: ({ id, projectId }: Row<'id' | 'projectId'>): RowContext => ({ rowId: id, projectId }),
} as const

/**
 * Every table that holds envelopes, and the associated data that they are bound to. Flows seal and open by it; key
 * rotation, counts and checks read it; a test compares it with the schema.
 */
const SEALED_TABLES = {
  facts: {
    id: 'name',
    columns: ['value'],
    needs: [],
    context: ({ name }: Row<'name'>) => ({ rowId: name, projectId: '' }),
  },
  providers: {
    id: 'uid',
    columns: ['client_secret'],
    needs: ['project_id'],
    context: ({ uid, projectId }: Row<'uid' | 'projectId'>) => ({ rowId: uid, projectId, providerUid: uid }),
  },
  workers: {
    id: 'uid',
    columns: ['secret'],
    needs: ['project_id'],
    context: ofUid,
  },
  secrets: { ...IN_PROJECT, columns: ['value'] },
  connections: {
    id: 'id',
    columns: ['access', 'refresh'],
    needs: ['project_id', 'user_id', 'provider_uid'],
    context: ({
      id,
      projectId,
      userId,
      providerUid,
    }: Row<'id' | 'projectId' | 'userId' | 'providerUid'>) => ({
      rowId: id,
      projectId,
      userId,
      providerUid,
    }),
  },
  authorizations: {
    id: 'id',
    columns: ['secrets', 'response'],
    needs: ['project_id', 'user_id', 'steps', 'step'],
    context: ofStep,
  },
  answers: {
    id: 'place',
    columns: ['answer'],
    needs: ['project_id'],
    context: ({ place, projectId }: Row<'place' | 'projectId'>) => ({ rowId: place, projectId }),
  },
  policies: { id: 'uid', columns: ['hook_secret'], needs: ['project_id'], context: ofUid },
  executions: { ...IN_PROJECT, columns: ['request', 'result'] },
  chains: { ...IN_PROJECT, columns: ['state'] },
  suspendedCalls: { ...IN_PROJECT, columns: ['payload'] },
  pageSessions: { ...IN_PROJECT, columns: ['payload'] },
  webhooks: { ...IN_PROJECT, columns: ['secret', 'previous_secret'] },
  mcpRecords: {
    id: 'id',
    within: 'model',
    columns: ['payload'],
    needs: ['model'],
    context: ({ model, id }: Row<'model' | 'id'>) => ({ rowId: `${model} ${id}`, projectId: '' }),
  },
} as const satisfies { readonly [Table in keyof Tables]?: SealedTable }

type SealedTables = typeof SEALED_TABLES

/** The associated data of an envelope in this column of the row. */
export function sealingContext<Table extends keyof SealedTables>(
  table: Table,
  column: SealedTables[Table]['columns'][number],
  row: Parameters<SealedTables[Table]['context']>[0],
): SealingContext {
  const context = SEALED_TABLES[table].context as (of: typeof row) => RowContext // `row` is of this table
  return { table, column, ...context(row) }
}

/** The associated data of an envelope that a browser carries; `what` tells the kinds of them apart. */
export function carriedContext(
  what: 'confirmed' | 'form_response' | 'kept' | 'mcp request' | 'proof',
  of: RowContext,
): SealingContext {
  return { table: CARRIED_TABLE, column: what, ...of }
}

function ofUid({ uid, projectId }: Row<'uid' | 'projectId'>): RowContext {
  return { rowId: uid, projectId }
}

/** This step of this authorization. */
export function ofStep({
  id,
  projectId,
  userId,
  steps,
  step,
}: Row<'id' | 'projectId' | 'userId' | 'steps' | 'step'>): RowContext {
  const list = typeof steps === 'string' ? (JSON.parse(steps) as Exclude<typeof steps, string>) : steps // as stored
  return { rowId: id, projectId, userId, providerUid: list[Number(step)]?.providerUid ?? '' }
}

/** A column that holds envelopes, for what reads all of them. */
export interface SealedColumn extends Omit<SealedTable, 'columns' | 'context'> {
  readonly table: keyof SealedTables
  readonly column: string
}

export const SEALED_COLUMNS: readonly SealedColumn[] = Object.entries(SEALED_TABLES).flatMap(
  ([table, { columns, context: _, ...row }]) =>
    columns.map((column) => ({ ...row, table: table as keyof SealedTables, column })),
)

/** A stored envelope and its associated data. */
export interface StoredEnvelope {
  /** As `rowIdOf` makes it. */
  readonly rowId: string
  readonly context: SealingContext
  readonly sealed: Sealed
}

/** The SQL LIKE pattern of facts that hold an envelope. */
export const ENVELOPE_PATTERN = 'v1.________.%'

/** The primary key of a policy: its id is unique in its project only. A project's id has no space in it. */
export function policyUid(id: string, projectId: string): string {
  return `${projectId} ${id}`
}

/** The envelope in a row that has the columns `id`, those of `needs`, and the envelope as `sealed`. */
export function storedEnvelope(one: SealedColumn, row: Readonly<Record<string, unknown>>): StoredEnvelope {
  const { table, column, id, needs } = one
  const members = [[id, row.id], ...needs.map((name) => [memberOf(name), row[name]])]
  const context = SEALED_TABLES[table].context as (of: unknown) => RowContext // the table says what it needs
  const sealed = row.sealed as Sealed // a column of envelopes
  return {
    rowId: rowIdOf(one, row),
    context: { table, column, ...context(Object.fromEntries(members)) },
    sealed,
  }
}

function memberOf(column: string): string {
  return column.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())
}

/** The id of a row that has the columns `id` and that of `within`. It is unique in its table. */
export function rowIdOf({ within }: SealedColumn, row: Readonly<Record<string, unknown>>): string {
  return within === undefined ? String(row.id) : `${row[within]} ${row.id}`
}

/** The values of the primary key of a row with this id. Those of `within` contain no space. */
export function keyOf({ within }: SealedColumn, rowId: string): readonly string[] {
  if (within === undefined) return [rowId]
  const end = rowId.indexOf(' ')
  return [rowId.slice(0, end), rowId.slice(end + 1)]
}
