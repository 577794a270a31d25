import type { Sealed } from '../domain/sealed.ts'
import type { Tables } from './schema.ts'
import type { SealedPlace } from './seal.ts'

const IN_PROJECT = { needs: ['project_id'], place: ofProject }
const OF_CONNECTION = { needs: ['project_id', 'user_id', 'provider_uid'], place: ofConnection }
const OF_STEP = { needs: ['project_id', 'user_id', 'steps', 'step'], place: ofStep }

/**
 * Every column that holds envelopes, and the place that its envelopes are bound to. Key rotation, counts and checks use
 * this list; a test compares it with the schema.
 */
export const SEALED_COLUMNS: readonly SealedColumn[] = [
  ...sealed('facts', 'name', ['value'], { needs: [], place: ofInstallation }),
  ...sealed('providers', 'uid', ['client_secret'], { needs: ['project_id'], place: ofProvider }),
  ...sealed('workers', 'uid', ['secret'], IN_PROJECT),
  ...sealed('secrets', 'id', ['value'], IN_PROJECT),
  ...sealed('connections', 'id', ['access', 'refresh'], OF_CONNECTION),
  ...sealed('authorizations', 'id', ['secrets', 'response'], OF_STEP),
  ...sealed('answers', 'place', ['answer'], IN_PROJECT),
  ...sealed('policies', 'uid', ['hook_secret'], IN_PROJECT),
  ...sealed('executions', 'id', ['request', 'result'], IN_PROJECT),
  ...sealed('chains', 'id', ['state'], IN_PROJECT),
  ...sealed('suspendedCalls', 'id', ['payload'], IN_PROJECT),
  ...sealed('pageSessions', 'id', ['payload'], IN_PROJECT),
  ...sealed('webhooks', 'id', ['secret', 'previous_secret'], IN_PROJECT),
  ...sealed('mcpRecords', 'id', ['payload'], { within: 'model', needs: ['model'], place: ofMcpRecord }),
]

function sealed(
  table: SealedColumn['table'],
  id: string,
  columns: readonly string[],
  place: Pick<SealedColumn, 'within' | 'needs' | 'place'>,
): readonly SealedColumn[] {
  return columns.map((column) => ({ table, column, id, ...place }))
}

export interface SealedColumn {
  readonly table: keyof Tables
  readonly column: string
  /** The column that names the row. */
  readonly id: string
  /** The column that comes before `id` in the primary key, where the id alone is not unique. */
  readonly within?: string
  /** The other columns that `place` reads. */
  readonly needs: readonly string[]
  readonly place: (id: string, row: Readonly<Record<string, unknown>>) => RowPlace
}

type RowPlace = Omit<SealedPlace, 'table' | 'column'>

/** A stored envelope and the place it is bound to. */
export interface PlacedEnvelope {
  /** As `rowIdOf` makes it. */
  readonly rowId: string
  readonly place: SealedPlace
  readonly sealed: Sealed
}

/** The SQL LIKE pattern of facts that hold an envelope. */
export const ENVELOPE_PATTERN = 'v1.________.%'

/** The place of a secret of the installation itself, such as the check value of the master key. */
export function factPlace(name: string): SealedPlace {
  return { table: 'facts', column: 'value', ...ofInstallation(name) }
}

/** The place of an answer that is kept for an idempotency key. */
export function answerPlace(place: string, projectId: string): SealedPlace {
  return { table: 'answers', column: 'answer', rowId: place, projectId }
}

/** The place of a policy's bearer token for its hook. */
export function policyPlace(id: string, projectId: string): SealedPlace {
  return { table: 'policies', column: 'hook_secret', rowId: policyUid(id, projectId), projectId }
}

/** The primary key of a policy: its id is unique in its project only. A project's id has no space in it. */
export function policyUid(id: string, projectId: string): string {
  return `${projectId} ${id}`
}

/** The place of the request or result of a run. */
export function executionPlace(id: string, projectId: string, column: 'request' | 'result'): SealedPlace {
  return { table: 'executions', column, rowId: id, projectId }
}

/** The place of a paused chain's state. */
export function chainPlace(id: string, projectId: string): SealedPlace {
  return { table: 'chains', column: 'state', rowId: id, projectId }
}

/** The place of a suspended call's question, answer or result. */
export function suspendedCallPlace(id: string, projectId: string): SealedPlace {
  return { table: 'suspendedCalls', column: 'payload', rowId: id, projectId }
}

/** The place of the payload of a page session. */
export function pageSessionPlace(id: string, projectId: string): SealedPlace {
  return { table: 'pageSessions', column: 'payload', rowId: id, projectId }
}

/** The place of a secret that signs the deliveries to a webhook. */
export function webhookPlace(
  id: string,
  projectId: string,
  column: 'secret' | 'previous_secret',
): SealedPlace {
  return { table: 'webhooks', column, rowId: id, projectId }
}

/** The place of a record of the authorization server for MCP clients. */
export function mcpRecordPlace(model: string, id: string): SealedPlace {
  return { table: 'mcpRecords', column: 'payload', rowId: `${model} ${id}`, projectId: '' }
}

/** The envelope in a row that has the columns `id`, those of `needs`, and the envelope as `sealed`. */
export function placedEnvelope(one: SealedColumn, row: Readonly<Record<string, unknown>>): PlacedEnvelope {
  const { table, column, place } = one
  const sealed = row.sealed as Sealed // a column of envelopes
  return { rowId: rowIdOf(one, row), place: { table, column, ...place(String(row.id), row) }, sealed }
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

function ofInstallation(name: string): RowPlace {
  return { rowId: name, projectId: '' }
}

function ofMcpRecord(id: string, row: Readonly<Record<string, unknown>>): RowPlace {
  return { rowId: `${row.model} ${id}`, projectId: '' }
}

function ofProject(id: string, row: Readonly<Record<string, unknown>>): RowPlace {
  return { rowId: id, projectId: String(row.project_id) }
}

function ofProvider(uid: string, row: Readonly<Record<string, unknown>>): RowPlace {
  return { ...ofProject(uid, row), providerUid: uid }
}

function ofConnection(id: string, row: Readonly<Record<string, unknown>>): RowPlace {
  return { ...ofProject(id, row), userId: String(row.user_id), providerUid: String(row.provider_uid) }
}

function ofStep(id: string, row: Readonly<Record<string, unknown>>): RowPlace {
  const steps = JSON.parse(String(row.steps)) as readonly { readonly providerUid: string }[] // as the store writes them
  const providerUid = steps[Number(row.step)]?.providerUid ?? ''
  return { ...ofProject(id, row), userId: String(row.user_id), providerUid }
}
