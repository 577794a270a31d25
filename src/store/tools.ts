import { and, desc, eq, gt, sql } from 'drizzle-orm'
import { toolAliases as aliasesOf, type Tool } from '../domain/tool.ts'
import type { ToolName } from '../domain/tool-name.ts'
import type { AuditEntries } from './audit-entries.ts'
import type { ChangedDefinitions, ChangedRequirements } from './change-hook.ts'
import { rowChange } from './changes.ts'
import type { Database } from './database.ts'
import { type PinChanges, pinnedToolWrites } from './pinned-tools.ts'
import { type EntryWrite, entryWrites } from './providers.ts'
import { type RowPage, rowPage } from './row-page.ts'
import type { Tables } from './schema.ts'
import { type OfProject, placeholdersOf, type Steps } from './statement.ts'
import { joinsOwner, ownedToolColumns, toolColumns, toStoredTool } from './stored-tool.ts'
import { toolNameWrites } from './tool-names.ts'
import { writeRow } from './write-row.ts'

export interface Tools {
  /** All tools that have this alias (lower case), newest first. All tools that are read are as `toStoredTool` makes them. */
  named(projectId: string, alias: string): Promise<readonly Tool[]>
  list(projectId: string): Promise<readonly Tool[]>
  /** The tools after the uid `after`, in the order of their uids. */
  page(projectId: string, after: string, limit: number): Promise<RowPage<Tool>>
  /** The tools with these uids, as far as they exist. */
  byUids(projectId: string, uids: readonly string[]): Promise<readonly Tool[]>
  /** The tool with exactly this name, of which a project has one. */
  identical(tool: ToolIdentity): Promise<Tool | undefined>
  /**
   * Adds and replaces tools with their aliases by their `uid`, deletes tools, and adds or replaces provider entries: all or
   * nothing. Gives free names to their sources. `false`, with nothing written, when an entry is no longer its `from`, or
   * was deleted. Throws `already_exists` when another source has taken one of the names, and when another tool is identical
   * to one of these. `false` too when something else waits for acceptance than `pins` accepts.
   */
  change(projectId: string, changes: ToolChanges, audit?: AuditEntries): Promise<boolean>
  /** Writes what runs the tool and nothing else, and returns the tool; `undefined` when it was deleted. */
  bind(bound: BoundTool, audit?: AuditEntries): Promise<Tool | undefined>
  /** Writes the MACs of tools, and nothing else. */
  sign(signed: readonly SignedTool[]): Promise<void>
  /** Deletes a tool, and frees `name` for other sources if it is given. */
  delete(uid: string, audit?: AuditEntries, name?: Omit<ToolName, 'since' | 'mac'>): Promise<void>
}

/** The members that make a tool unique. */
export type ToolIdentity = Pick<Tool, 'projectId' | 'namespace' | 'name' | 'version'>

/** The binding of a tool, and when it was made. */
export type BoundTool = Pick<Tool, 'uid' | 'updatedAt' | 'bindingMac'> & {
  readonly binding: NonNullable<Tool['binding']>
}

export type SignedTool = Pick<Tool, 'uid' | 'mac' | 'bindingMac'>

export interface ToolChanges {
  readonly put: readonly Tool[]
  readonly removed: readonly string[]
  readonly entries?: readonly EntryWrite[]
  /** Names that their sources have from now on. */
  readonly names?: readonly ToolName[]
  readonly requirements?: ChangedRequirements
  /** Definitions that wait from now on, or no longer do. */
  readonly pins?: PinChanges
  readonly definitions?: ChangedDefinitions
}

export function createTools(database: Database): Tools {
  const { tables, query, statement, read, write, followUp, dialect } = database
  const { tools, toolAliases, toolNames } = tables
  const writeEntries = entryWrites(database)
  const names = toolNameWrites(database)
  const pinnedTools = pinnedToolWrites(database)

  const owned = ownedToolColumns(tables)
  const ofAlias = statement((p: OfProject & { alias: string }) =>
    query
      .select(owned)
      .from(toolAliases)
      .innerJoin(tools, eq(tools.uid, toolAliases.toolUid))
      .leftJoin(toolNames, joinsOwner(tables))
      .where(and(eq(toolAliases.projectId, p.projectId), eq(toolAliases.alias, p.alias)))
      .orderBy(desc(tools.uid)),
  )
  const ofProject = statement((p: OfProject) =>
    query
      .select(owned)
      .from(tools)
      .leftJoin(toolNames, joinsOwner(tables))
      .where(eq(tools.projectId, p.projectId))
      .orderBy(tools.uid),
  )
  const pageAfter = statement((p: OfProject & { after: string; limit: number }) =>
    query
      .select(owned)
      .from(tools)
      .leftJoin(toolNames, joinsOwner(tables))
      .where(and(eq(tools.projectId, p.projectId), gt(tools.uid, p.after)))
      .orderBy(tools.uid)
      .limit(p.limit),
  )
  const ofUids = statement((p: OfProject & { uids: readonly string[] }) =>
    query
      .select(owned)
      .from(tools)
      .leftJoin(toolNames, joinsOwner(tables))
      .where(
        and(
          eq(tools.projectId, p.projectId),
          sql`${tools.uid} in (select value from ${dialect.elementsOf(p.uids)})`,
        ),
      ),
  )
  const identical = statement((p: Omit<ToolIdentity, 'version'> & { version: string }) =>
    query
      .select(owned)
      .from(tools)
      .leftJoin(toolNames, joinsOwner(tables))
      .where(
        and(
          eq(tools.projectId, p.projectId),
          eq(tools.namespace, p.namespace),
          eq(tools.name, p.name),
          eq(tools.version, p.version),
        ),
      ),
  )
  const upsert = statement((_: typeof tools.$inferInsert) => {
    const row = placeholdersOf(tools)
    return query
      .insert(tools)
      .values(row)
      .onConflictDoUpdate({ target: tools.uid, set: row })
      .returning({ uid: tools.uid })
  })
  const removeOtherAliases = statement((p: { uid: string; aliases: readonly string[] }) =>
    query
      .delete(toolAliases)
      .where(
        and(
          eq(toolAliases.toolUid, p.uid),
          sql`${toolAliases.alias} not in (select value from ${dialect.elementsOf(p.aliases)})`,
        ),
      )
      .returning({ alias: toolAliases.alias }),
  )
  const addAliases = statement((p: OfProject & { uid: string; aliases: readonly string[] }) =>
    query
      .insert(toolAliases)
      // SQLite cannot parse ON CONFLICT without `where true`
      .select(sql`select ${p.projectId}, value, ${p.uid} from ${dialect.elementsOf(p.aliases)} where true`)
      .onConflictDoNothing()
      .returning({ alias: toolAliases.alias }),
  )
  const bind = statement((p: BoundTool) =>
    query
      .update(tools)
      .set({ binding: p.binding, bindingMac: p.bindingMac ?? null, updatedAt: p.updatedAt })
      .where(eq(tools.uid, p.uid))
      .returning(toolColumns(tables)),
  )
  const sign = statement((p: SignedTool) =>
    query
      .update(tools)
      .set({ mac: p.mac ?? null, bindingMac: p.bindingMac ?? null })
      .where(eq(tools.uid, p.uid))
      .returning({ uid: tools.uid }),
  )
  const remove = statement((p: { uid: string }) =>
    query.delete(tools).where(eq(tools.uid, p.uid)).returning({ uid: tools.uid, projectId: tools.projectId }),
  )

  function* put(tool: Tool): Steps<void> {
    yield* upsert(toRow(tool))
    const { projectId, uid } = tool
    const aliases = aliasesOf(tool)
    yield* removeOtherAliases({ uid, aliases })
    yield* addAliases({ projectId, uid, aliases })
  }

  return {
    async named(projectId, alias) {
      return (await read(ofAlias({ projectId, alias }))).map(toStoredTool)
    },
    async list(projectId) {
      return (await read(ofProject({ projectId }))).map(toStoredTool)
    },
    async page(projectId, after, limit) {
      const rows = (await read(pageAfter({ projectId, after, limit }))).map(toStoredTool)
      return rowPage(rows, limit, ({ uid }) => uid)
    },
    async byUids(projectId, uids) {
      return (await read(ofUids({ projectId, uids }))).map(toStoredTool)
    },
    async identical({ projectId, namespace, name, version = '' }) {
      const [row] = await read(identical({ projectId, namespace, name, version }))
      return row && toStoredTool(row)
    },
    async change(
      projectId,
      { put: changed, removed, entries = [], names: claimed = [], requirements, pins = {}, definitions },
      audit,
    ) {
      return write(audit, function* (announce) {
        if (!(yield* pinnedTools.change(pins))) return false
        if (!(yield* writeEntries(entries))) return false
        for (const uid of removed) yield* remove({ uid })
        for (const tool of changed) yield* put(tool)
        if (claimed.length > 0) yield* names.claim(claimed)
        const written = [...removed, ...[...changed, ...(pins.held ?? [])].map(({ uid }) => uid)]
        if (claimed.length > 0) announce({ noun: 'tool', projectId })
        else if (written.length > 0) announce(rowChange('tool', projectId, written))
        const uids = entries.map(({ to }) => to.uid)
        if (uids.length > 0) announce(rowChange('provider', projectId, uids))
        if (requirements !== undefined)
          yield* followUp(announce, { kind: 'requirements changed', projectId, worker: requirements })
        if (definitions !== undefined)
          yield* followUp(announce, { kind: 'definitions changed', projectId, worker: definitions })
        return true
      })
    },
    async bind(bound, audit) {
      const change = ({ projectId }: { projectId: string }) => rowChange('tool', projectId, [bound.uid])
      const row = await writeRow(write, audit, change, () => bind(bound))
      return row && toStoredTool(row)
    },
    async sign(signed) {
      await write(undefined, function* () {
        for (const tool of signed) yield* sign(tool)
      })
    },
    async delete(uid, audit, name) {
      const change = ({ projectId }: { projectId: string }) => rowChange('tool', projectId, [uid])
      await writeRow(write, audit, change, function* () {
        const removed = yield* remove({ uid })
        if (removed.length > 0 && name !== undefined) yield* names.free(name)
        return removed
      })
    },
  }
}

function toRow(tool: Tool): Tables['tools']['$inferInsert'] {
  const workerUid = tool.source.kind === 'worker' ? tool.source.workerUid : null
  const { owner: _, ...row } = tool
  return { ...row, version: tool.version ?? '', workerUid }
}
