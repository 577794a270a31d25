import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Broker } from '../../broker.ts'
import type { Tool } from '../../domain/tool.ts'
import type { AuditEntries } from '../../store/audit-entries.ts'
import type { ChangedRequirements, ToolChanges } from '../../store/tools.ts'

/** Tools that are written in one transaction, during which SQLite does nothing else: a few milliseconds. */
const MAX_TOOLS = 25
const MAX_CHARACTERS = 400_000

/** A tool that is made when it is written, since ten thousand at once would take hundreds of megabytes. */
export interface ToolToPut {
  /** Of its description, as JSON. */
  readonly characters: number
  toTool(): Tool
}

export interface ChangesOfMany {
  readonly put: readonly ToolToPut[]
  readonly removed: readonly string[]
  readonly requirements?: ChangedRequirements | undefined
}

/**
 * Writes the changes of a worker's tools, with their audit entries. A small number is written at once; of many, lists show
 * a part until the others are written, and the next sync completes what a crash has left.
 */
export async function storeChanges(
  broker: Broker,
  projectId: string,
  changes: ChangesOfMany,
  { audit, mayGoOn }: { readonly audit: AuditEntries; readonly mayGoOn: () => Promise<object | undefined> },
): Promise<void> {
  let isFirst = true
  for (const part of partsOf(changes)) {
    if (!isFirst) {
      await nextTurn()
      if ((await mayGoOn()) === undefined) return
    }
    const { requirements } = changes
    const told = isFirst && requirements !== undefined ? { ...part, requirements } : part
    await broker.store.tools.change(projectId, told, isFirst ? audit : undefined)
    isFirst = false
  }
}

function* partsOf({ put, removed }: ChangesOfMany): Generator<ToolChanges> {
  let part: Tool[] = []
  let characters = 0
  let gone = removed
  if (put.length + removed.length > MAX_TOOLS) {
    // first, so that a withdrawn tool is not called while the others are written
    for (let i = 0; i < removed.length; i += MAX_TOOLS)
      yield { put: [], removed: removed.slice(i, i + MAX_TOOLS) }
    gone = []
  }
  for (const tool of put) {
    if (part.length === MAX_TOOLS || (part.length > 0 && characters + tool.characters > MAX_CHARACTERS)) {
      yield { put: part, removed: gone }
      part = []
      gone = []
      characters = 0
    }
    part.push(tool.toTool())
    characters += tool.characters
  }
  if (part.length > 0 || gone.length > 0) yield { put: part, removed: gone }
}
