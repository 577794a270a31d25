import { and, eq, getTableColumns, type SQL, sql } from 'drizzle-orm'
import type { Tool, ToolSource } from '../domain/tool.ts'
import type { Tables } from './schema.ts'
import type { Present } from './statement.ts'

/** The columns of a tool. Those that may be large are read as JSON text, without being parsed. */
export function toolColumns({ tools }: Tables) {
  const { inputSchema, outputSchema, meta, icons, source, ...columns } = getTableColumns(tools)
  return {
    ...columns,
    inputSchema: sql<string>`${inputSchema}`,
    outputSchema: sql<string | null>`${outputSchema}`,
    meta: sql<string | null>`${meta}`,
    icons: sql<string | null>`${icons}`,
    source: sql<string>`${source}`,
  }
}

/** The columns of a tool and of the row that says who owns its name (`joinsOwner`). */
export function ownedToolColumns(tables: Tables) {
  const { toolNames } = tables
  return {
    ...toolColumns(tables),
    ownerSource: sql<string | null>`${toolNames.source}`,
    ownerSince: sql<number | null>`${toolNames.since}`.mapWith(Number),
    ownerMac: sql<string | null>`${toolNames.mac}`,
  }
}

/** The condition of the join with that row. */
export function joinsOwner({ tools, toolNames }: Tables): SQL | undefined {
  return and(
    eq(toolNames.projectId, tools.projectId),
    eq(toolNames.identity, sql`lower(${tools.namespace} || ':' || ${tools.name})`),
  )
}

interface OwnerOfRow {
  readonly ownerSource?: string | undefined
  readonly ownerSince?: number | undefined
  readonly ownerMac?: string | undefined
}

/** The member `owner` of a tool that was read with these columns. */
function toOwner({ ownerSource, ownerSince, ownerMac }: OwnerOfRow): Pick<Tool, 'owner'> {
  if (ownerSource === undefined) return {}
  return {
    owner: { source: ownerSource, since: ownerSince ?? 0, ...(ownerMac !== undefined && { mac: ownerMac }) },
  }
}

interface RunBy extends Pick<Tool, 'namespace' | 'name'> {
  readonly binding?: Tool['binding'] | undefined
  readonly workerUid?: string | undefined
  readonly version: string
}

/**
 * The member `binding`. A worker's own tool is run by that worker, which the MAC of the owner of its name covers; the column
 * `binding` counts for imported tools only.
 */
function toBinding({ workerUid, namespace, name, version, binding }: RunBy): Pick<Tool, 'binding'> {
  if (workerUid === undefined) return binding === undefined ? {} : { binding }
  return { binding: { workerUid, toolkit: namespace, name, ...(version !== '' && { version }) } }
}

type Columns = ReturnType<typeof toolColumns>
type Row = Present<
  Pick<Tables['tools']['$inferSelect'], keyof Columns & keyof Tables['tools']['$inferSelect']>
> &
  OwnerOfRow
type StoredRow = Omit<Row, 'inputSchema' | 'outputSchema' | 'meta' | 'icons' | 'source'> & {
  readonly inputSchema: string
  readonly outputSchema?: string
  readonly meta?: string
  readonly icons?: string
  readonly source: string
}

/** The texts of a tool of `toStoredTool`. */
const texts = new WeakMap<Tool, readonly (string | undefined)[]>()
/** About how many characters the members take whose text is not counted. */
const CHARACTERS_OF_THE_REST = 500

/** Returns about how many characters a tool of `toStoredTool` holds in memory. */
export function charactersOf(tool: Tool): number {
  const sum = (total: number, text = '') => total + text.length
  return texts.get(tool)?.reduce(sum, CHARACTERS_OF_THE_REST) ?? 0
}

/** The members of a tool that may be large, as the texts that their columns have. Nothing is parsed for it. */
export function textsOf(tool: Tool): readonly (string | undefined)[] {
  const kept = texts.get(tool)
  if (kept !== undefined) return kept
  const { inputSchema, outputSchema, meta, icons, source, description, title } = tool
  const toText = (value: unknown) => (value === undefined ? undefined : JSON.stringify(value))
  return [...[inputSchema, outputSchema, meta, icons, source].map(toText), description, title]
}

/**
 * A tool for a cache. Members that may be large stay JSON text and are parsed when they are read. This saves most of the
 * memory and time that ten thousand parsed tools would take.
 */
export function toStoredTool({
  workerUid,
  version,
  inputSchema,
  outputSchema,
  meta,
  icons,
  source,
  ownerSource,
  ownerSince,
  ownerMac,
  binding,
  ...row
}: StoredRow): Tool {
  const input = parsedLater<Tool['inputSchema']>(inputSchema)
  const ofSource = parsedLater<ToolSource>(source)
  const kind = workerUid === undefined ? 'metadata' : 'worker'
  const tool: Tool = {
    ...row,
    ...toOwner({ ownerSource, ownerSince, ownerMac }),
    ...toBinding({ ...row, workerUid, version, binding }),
    ...(version !== '' && { version }),
    get inputSchema() {
      return input()
    },
    source: {
      kind,
      ...(workerUid !== undefined && { workerUid }),
      get document() {
        return ofSource().document
      },
    } as ToolSource, // `kind` and `workerUid` agree
  }
  addLater(tool, 'outputSchema', outputSchema)
  addLater(tool, 'meta', meta)
  addLater(tool, 'icons', icons)
  texts.set(tool, [inputSchema, outputSchema, meta, icons, source, row.description, row.title])
  return tool
}

/** Adds a member that parses its text when it is read; none for an absent text. */
function addLater(tool: Tool, member: 'outputSchema' | 'meta' | 'icons', text: string | undefined): void {
  if (text === undefined) return
  Object.defineProperty(tool, member, { get: parsedLater(text), enumerable: true, configurable: true })
}

/** Parses the text on the first call, and again once the garbage collector has freed the value. */
function parsedLater<Value extends object>(text: string): () => Value {
  let kept: WeakRef<Value> | undefined
  return () => {
    const known = kept?.deref()
    if (known !== undefined) return known
    const value = JSON.parse(text) as Value // a column of JSON, which the store wrote
    kept = new WeakRef(value)
    return value
  }
}
