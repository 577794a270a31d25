import { CommandFailure, EXIT } from '../../cli/failure.ts'
import { foldName } from '../../domain/nearest.ts'
import { isRecord } from '../../parsing/json-record.ts'
import { decryptRows, type ExportKey, exportKindOf } from './encrypted-rows.ts'

// Reads files with connections: Gatepass' encrypted export, answers of Nango's API, CSV, JSON and JSON lines. No message
// quotes a value or an unknown name, because a file without a heading begins with tokens.

export type RowFormat = 'gatepass' | 'nango' | 'csv' | 'json'

/** One row of a file, or why a line is none. */
export interface SourceRow {
  /** Counted from 1; for a JSON array the number of the item. */
  readonly line: number
  /** The row in the form that the API accepts. */
  readonly row?: Record<string, unknown>
  /** Why the line cannot be read as a row. */
  readonly fault?: { readonly member: string; readonly reason: string }
}

export interface RowOptions {
  /** Asks for the key that decrypts Gatepass' own export. */
  exportKey(kind: ExportKey['kind']): Promise<ExportKey>
  /** Provider ids in Gatepass, by the provider names that the file uses. */
  readonly providers: ReadonlyMap<string, string>
  /** The names of a provider entry's kept values, by Nango's names for them (`realmId`, `instance_url`). */
  keptNames(providerId: string): ReadonlyMap<string, string>
}

export interface SourceFile {
  readonly format: RowFormat
  readonly rows: AsyncIterable<SourceRow>
}

/** Reads a file; its content shows which format it has. Throws `CommandFailure`. */
export function readRows(text: string, options: RowOptions): SourceFile {
  const clean = text.replace(/^\uFEFF/, '')
  const kind = exportKindOf(clean)
  if (kind !== undefined) return { format: 'gatepass', rows: ownRows(clean, kind, options) }
  const items = jsonItems(clean)
  // the whole file is read first, so that nothing is imported from a file that turns out to be no CSV
  if (items === undefined) return { format: 'csv', rows: each([...csvRows(clean, options)]) }
  const isNango = items.some(({ value }) => isRecord(value) && isRecord(value.credentials))
  const read = isNango ? nangoRow : plainRow
  return {
    format: isNango ? 'nango' : 'json',
    rows: each(
      items.map(({ line, value }) => {
        if (!isRecord(value)) return { line, fault: { member: '', reason: 'is not a JSON object' } }
        return { line, ...read(value, options) }
      }),
    ),
  }
}

async function* each(rows: Iterable<SourceRow>): AsyncGenerator<SourceRow> {
  yield* rows
}

async function* ownRows(
  text: string,
  kind: ExportKey['kind'],
  options: RowOptions,
): AsyncGenerator<SourceRow> {
  for await (const { line, row } of decryptRows(text, await options.exportKey(kind)))
    yield { line, ...plainRow(row, options) }
}

interface JsonItem {
  readonly line: number
  readonly value: unknown
}

/** The items of a JSON array, of the array `connections` of an object, an object alone, or the lines of JSON lines. */
function jsonItems(text: string): readonly JsonItem[] | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined
  const whole = parseJson(text)
  const list = Array.isArray(whole) ? whole : isRecord(whole) ? whole.connections : undefined
  if (Array.isArray(list)) return list.map((value, index) => ({ line: index + 1, value }))
  if (isRecord(whole)) return [{ line: 1, value: whole }]
  return text
    .split('\n')
    .map((line, index) => ({ line: index + 1, text: line.trim() }))
    .filter((row) => row.text !== '')
    .map((row) => ({ line: row.line, value: parseJson(row.text) }))
}

function plainRow(
  value: Readonly<Record<string, unknown>>,
  { providers }: RowOptions,
): Pick<SourceRow, 'row'> {
  const id = value.provider_id
  const known = typeof id === 'string' ? providers.get(id) : undefined
  return { row: { ...value, ...(known !== undefined && { provider_id: known }) } }
}

/** Reads an answer of Nango's `GET /connections/{id}?refresh_token=true`. The user is the end user's id, or else the connection's id. */
function nangoRow(
  value: Readonly<Record<string, unknown>>,
  { providers, keptNames }: RowOptions,
): Pick<SourceRow, 'row' | 'fault'> {
  const { credentials, end_user: endUser, connection_config: config, provider_config_key: key } = value
  const held = isRecord(credentials) ? credentials : {}
  if (held.type !== undefined && held.type !== 'OAUTH2')
    return { fault: { member: 'credentials.type', reason: 'has no OAuth 2 tokens' } }
  const providerId = typeof key === 'string' ? (providers.get(key) ?? key) : key
  const names = keptNames(String(providerId))
  const raw = isRecord(held.raw) ? held.raw : {}
  const kept = Object.entries({ ...raw, ...(isRecord(config) && config) }).flatMap(([name, content]) => {
    const own = names.get(name)
    return own === undefined || (typeof content !== 'string' && typeof content !== 'number')
      ? []
      : [[own, String(content)]]
  })
  return {
    row: withoutAbsent({
      user_id: isRecord(endUser) && typeof endUser.id === 'string' ? endUser.id : value.connection_id,
      provider_id: providerId,
      access_token: held.access_token,
      refresh_token: held.refresh_token,
      expires_at: held.expires_at,
      scopes: typeof raw.scope === 'string' ? raw.scope : undefined,
      kept_values: kept.length > 0 ? Object.fromEntries(kept) : undefined,
    }),
  }
}

const COLUMNS: Readonly<Record<string, string>> = Object.fromEntries(
  [
    ...['user_id', 'provider_id', 'access_token', 'refresh_token', 'token_type', 'expires_at', 'scopes'],
    ...['account', 'account_id', 'account_name'],
  ].map((name) => [foldName(name), name]),
)

function* csvRows(text: string, options: RowOptions): Generator<SourceRow> {
  const records = csvRecords(text)
  const heading = records.next()
  const names = heading.done ? [] : heading.value.cells.map((cell) => COLUMNS[foldName(cell.trim())])
  const unknown = names.indexOf(undefined)
  if (heading.done || unknown !== -1)
    throw new CommandFailure(
      `The file is not a CSV file with a header row${heading.done ? '' : `: its column ${unknown + 1} has an unknown name`}. The names are ${Object.values(COLUMNS).join(', ')}.`,
      EXIT.usage,
    )
  const repeated = names.findIndex((name, index) => names.indexOf(name) < index)
  if (repeated !== -1)
    throw new CommandFailure(
      `The file has the column ${names[repeated]} twice: column ${repeated + 1} is the second one.`,
      EXIT.usage,
    )
  for (const { line, cells } of records) {
    if (cells.length === 1 && cells[0] === '') continue
    if (cells.length !== names.length) {
      yield { line, fault: { member: '', reason: `has ${cells.length} cells instead of ${names.length}` } }
      continue
    }
    const cellsByName = Object.fromEntries(
      names.map((name, index) => [String(name), cells[index] || undefined]),
    )
    const { account, account_id: id, account_name: name = account, ...row } = cellsByName
    const accountMember =
      id === undefined && name === undefined ? {} : { account: withoutAbsent({ id, name }) }
    yield { line, ...plainRow({ ...withoutAbsent(row), ...accountMember }, options) }
  }
}

/** The records of RFC 4180, with the lines on which they begin. */
function* csvRecords(text: string): Generator<{ readonly line: number; readonly cells: readonly string[] }> {
  const token = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/y
  let line = 1
  let begun = 1
  let cells: string[] = []
  while (token.lastIndex < text.length) {
    const match = token.exec(text)
    if (match === null)
      throw new CommandFailure(
        `Line ${line} of the file is not valid CSV: a quote is not closed, or is inside a cell.`,
        EXIT.usage,
      )
    const [whole, quoted, plain = '', end] = match
    cells.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'))
    line += whole.split('\n').length - 1
    if (end === ',' && token.lastIndex < text.length) continue
    if (end === ',') cells.push('')
    yield { line: begun, cells }
    cells = []
    begun = line
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function withoutAbsent(record: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(record).filter(([, value]) => value !== undefined && value !== null),
  )
}
