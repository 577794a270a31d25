import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Broker } from '../../broker.ts'
import type { Tool } from '../../domain/tool.ts'
import type { ToolName } from '../../domain/tool-name.ts'
import type { AuditEntries } from '../../store/audit-entries.ts'
import type { ChangedRequirements } from '../../store/change-hook.ts'
import type { ToolChanges } from '../../store/tools.ts'

/** Limits of one transaction, so that it blocks SQLite for a few milliseconds only. */
export const MAX_TOOLS_WRITTEN = 25
export const MAX_CHARACTERS_WRITTEN = 400_000
const MAX_NAMES_WRITTEN = 100

/** A tool that is created just before it is written, because ten thousand at once would take hundreds of megabytes. */
export interface ToolToPut {
  /** The length of its description as JSON. */
  readonly characters: number
  toTool(): Tool
}

export interface CatalogueChanges {
  readonly put: readonly ToolToPut[]
  readonly removed: readonly string[]
  /** Names that the worker has from now on. */
  readonly names: readonly ToolName[]
  readonly requirements?: ChangedRequirements | undefined
}

/**
 * Writes the changes of a worker's tools, with their audit entries. A small number of changes is one transaction. Of a
 * large number, lists show a part until all are written; after a crash the next sync writes the rest. `mayContinue` is
 * called before each further transaction; `undefined` ends the writing.
 */
export async function storeChanges(
  broker: Broker,
  projectId: string,
  changes: CatalogueChanges,
  {
    audit,
    mayContinue,
  }: { readonly audit: AuditEntries; readonly mayContinue: () => Promise<object | undefined> },
): Promise<void> {
  let isFirst = true
  for (const part of partsOf(changes)) {
    if (!isFirst) {
      await nextTurn()
      if ((await mayContinue()) === undefined) return
    }
    const { requirements } = changes
    const changed = isFirst && requirements !== undefined ? { ...part, requirements } : part
    await broker.store.tools.change(projectId, changed, isFirst ? audit : undefined)
    isFirst = false
  }
}

function* partsOf({ put, removed, names }: CatalogueChanges): Generator<ToolChanges> {
  let part: Tool[] = []
  let characters = 0
  let gone = removed
  let claimed = names
  if (put.length + removed.length > MAX_TOOLS_WRITTEN) {
    // removed first, so that a withdrawn tool is not called while the others are written
    for (let i = 0; i < removed.length; i += MAX_TOOLS_WRITTEN)
      yield { put: [], removed: removed.slice(i, i + MAX_TOOLS_WRITTEN) }
    gone = []
  }
  if (names.length > MAX_NAMES_WRITTEN) {
    for (let i = 0; i < names.length; i += MAX_NAMES_WRITTEN)
      yield { put: [], removed: [], names: names.slice(i, i + MAX_NAMES_WRITTEN) }
    claimed = []
  }
  for (const tool of put) {
    if (
      part.length === MAX_TOOLS_WRITTEN ||
      (part.length > 0 && characters + tool.characters > MAX_CHARACTERS_WRITTEN)
    ) {
      yield { put: part, removed: gone, names: claimed }
      part = []
      gone = []
      claimed = []
      characters = 0
    }
    part.push(tool.toTool())
    characters += tool.characters
  }
  if (part.length > 0 || gone.length > 0 || claimed.length > 0)
    yield { put: part, removed: gone, names: claimed }
}
