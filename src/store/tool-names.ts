import { and, eq, gt, type SQL, sql } from 'drizzle-orm'
import { BrokerError } from '../domain/errors.ts'
import type { ToolName } from '../domain/tool-name.ts'
import type { Announce } from './changes.ts'
import type { Database } from './database.ts'
import { type RowPage, rowPage } from './row-page.ts'
import type { Tables } from './schema.ts'
import { type OfProject, placeholdersOf, type Steps } from './statement.ts'

/** The names of a source. */
export interface OfSource extends OfProject {
  readonly source: string
}

export interface ToolNames {
  /** The names with these identities that have an owner. */
  find(projectId: string, identities: readonly string[]): Promise<readonly ToolName[]>
  /** The names after the identity `after`, in the order of their identities. */
  page(projectId: string, after: string, limit: number): Promise<RowPage<ToolName>>
  /** How many names the source owns. */
  count(projectId: string, source: string): Promise<number>
  /** Adds the names that have no owner yet. */
  settle(names: readonly ToolName[]): Promise<void>
}

/** Writes names as a part of a transaction. */
export interface ToolNameWrites {
  /** Gives free names to their sources. Throws `already_exists` when another source has taken one of them. */
  claim(names: readonly ToolName[]): Steps<void>
  /** Gives names to their sources, also those of another owner. */
  take(names: readonly ToolName[]): Steps<void>
  /** Frees all names of the source. */
  freeAll(of: OfSource): Steps<void>
  /** Frees one name of the source. */
  free(name: OfSource & { readonly identity: string }): Steps<void>
}

export function createToolNames(database: Database): ToolNames {
  const { tables, query, statement, read, write, dialect } = database
  const { toolNames } = tables
  const writes = toolNameWrites(database)

  const named = statement((p: OfProject & { identities: readonly string[] }) =>
    query
      .select()
      .from(toolNames)
      .where(
        and(
          eq(toolNames.projectId, p.projectId),
          sql`${toolNames.identity} in (select value from ${dialect.elementsOf(p.identities)})`,
        ),
      ),
  )
  const pageAfter = statement((p: OfProject & { after: string; limit: number }) =>
    query
      .select()
      .from(toolNames)
      .where(and(eq(toolNames.projectId, p.projectId), gt(toolNames.identity, p.after)))
      .orderBy(toolNames.identity)
      .limit(p.limit),
  )
  const counted = statement((p: OfSource) =>
    query.select({ count: sql<number>`count(*)` }).from(toolNames).where(isOf(toolNames, p)),
  )

  return {
    async find(projectId, identities) {
      return read(named({ projectId, identities }))
    },
    async page(projectId, after, limit) {
      const rows = await read(pageAfter({ projectId, after, limit }))
      return rowPage(rows, limit, ({ identity }) => identity)
    },
    async count(projectId, source) {
      return Number((await read(counted({ projectId, source })))[0]?.count ?? 0)
    },
    async settle(names) {
      await write(undefined, function* (announce) {
        yield* writes.settle(names)
        announceNames(announce, names)
      })
    },
  }
}

export function toolNameWrites({
  tables,
  query,
  statement,
}: Database): ToolNameWrites & { settle(names: readonly ToolName[]): Steps<void> } {
  const { toolNames } = tables
  const insert = statement((_: ToolName) =>
    query
      .insert(toolNames)
      .values(placeholdersOf(toolNames))
      .onConflictDoNothing()
      .returning({ identity: toolNames.identity }),
  )
  const upsert = statement((_: ToolName) => {
    const row = placeholdersOf(toolNames)
    return query
      .insert(toolNames)
      .values(row)
      .onConflictDoUpdate({ target: [toolNames.projectId, toolNames.identity], set: row })
      .returning({ identity: toolNames.identity })
  })
  const ownerOf = statement((p: Pick<ToolName, 'projectId' | 'identity'>) =>
    query
      .select({ source: toolNames.source })
      .from(toolNames)
      .where(and(eq(toolNames.projectId, p.projectId), eq(toolNames.identity, p.identity))),
  )
  const removeAll = statement((p: OfSource) =>
    query.delete(toolNames).where(isOf(toolNames, p)).returning({ identity: toolNames.identity }),
  )
  const remove = statement((p: OfSource & { identity: string }) =>
    query
      .delete(toolNames)
      .where(and(isOf(toolNames, p), eq(toolNames.identity, p.identity)))
      .returning({ identity: toolNames.identity }),
  )

  return {
    *settle(names) {
      for (const name of inOrder(names)) yield* insert(name)
    },
    *claim(names) {
      for (const name of inOrder(names)) {
        const added = yield* insert(name)
        if (added.length > 0) continue
        const [owner] = yield* ownerOf(name)
        if (owner?.source !== name.source)
          throw new BrokerError(
            'already_exists',
            `Another source has just taken the name "${name.identity}".`,
          )
      }
    },
    *take(names) {
      for (const name of inOrder(names)) yield* upsert(name)
    },
    *freeAll(of) {
      yield* removeAll(of)
    },
    *free(name) {
      yield* remove(name)
    },
  }
}

/** The lists of tools, in which each tool has the owner of its name, are read again. */
export function announceNames(announce: Announce, names: readonly ToolName[]): void {
  for (const projectId of new Set(names.map((name) => name.projectId))) announce({ noun: 'tool', projectId })
}

function isOf(toolNames: Tables['toolNames'], { projectId, source }: OfSource): SQL | undefined {
  return and(eq(toolNames.projectId, projectId), eq(toolNames.source, source))
}

/** Transactions that write the same names lock them in the same order. */
function inOrder(names: readonly ToolName[]): readonly ToolName[] {
  return names.toSorted((a, b) => (a.identity < b.identity ? -1 : 1))
}
