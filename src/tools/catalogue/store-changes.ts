import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Broker } from '../../broker.ts'
import type { Tool } from '../../domain/tool.ts'
import type { ToolName } from '../../domain/tool-name.ts'
import type { AuditEntries } from '../../store/audit-entries.ts'
import type { ChangedDefinitions, ChangedRequirements } from '../../store/change-hook.ts'
import type { PinChanges } from '../../store/pinned-tools.ts'
import type { ToolChanges } from '../../store/tools.ts'
import type { PinnedCatalogue } from './pin-tools.ts'

/** Limits of one transaction, so that it blocks SQLite for a few milliseconds only. */
export const MAX_TOOLS_WRITTEN = 25
export const MAX_CHARACTERS_WRITTEN = 400_000
const MAX_NAMES_WRITTEN = 100

/** A tool that is created just before it is written, because ten thousand at once would take hundreds of megabytes. */
export interface ToolToPut {
  /** The length of its description as JSON. */
  readonly characters: number
  /** What is accepted by storing it. */
  readonly accepts?: NonNullable<PinChanges['accepted']>[number]
  toTool(): Tool
}

export interface CatalogueChanges {
  readonly put: readonly ToolToPut[]
  readonly removed: readonly string[]
  /** Names that the worker has from now on. */
  readonly names: readonly ToolName[]
  readonly requirements?: ChangedRequirements | undefined
  /** Written before the tools, so that none runs while it should be held; `removed` after them. */
  readonly pins?: Pick<PinnedCatalogue, 'holds' | 'put' | 'removed'>
  readonly definitions?: ChangedDefinitions | undefined
}

/**
 * Writes the changes of a worker's tools, with their audit entries. A small number of changes is one transaction. Of a
 * large number, lists show a part until all are written; after a crash the next sync writes the rest. `mayContinue` is
 * called before each further transaction; `undefined` ends the writing. Returns whether all was written.
 */
export async function storeChanges(
  broker: Broker,
  projectId: string,
  changes: CatalogueChanges,
  {
    audit,
    mayContinue,
  }: { readonly audit: AuditEntries; readonly mayContinue: () => Promise<object | undefined> },
): Promise<boolean> {
  let isFirst = true
  for (const part of allParts(changes)) {
    if (!isFirst) {
      await nextTurn()
      if ((await mayContinue()) === undefined) return false
    }
    const { requirements, definitions } = changes
    const ofFirst = { ...(requirements && { requirements }), ...(definitions && { definitions }) }
    const changed = isFirst ? { ...part, ...ofFirst } : part
    if (!(await broker.store.tools.change(projectId, changed, isFirst ? audit : undefined))) return false
    isFirst = false
  }
  return true
}

function* allParts(changes: CatalogueChanges): Generator<ToolChanges> {
  const { pins = { holds: [], put: [], removed: [] } } = changes
  const none = { put: [], removed: [] }
  for (let i = 0; i < Math.max(pins.holds.length, pins.put.length); i += MAX_TOOLS_WRITTEN) {
    const held = pins.holds.slice(i, i + MAX_TOOLS_WRITTEN).map(({ tool, held }) => ({ ...tool, held }))
    yield { ...none, pins: { put: pins.put.slice(i, i + MAX_TOOLS_WRITTEN), held } }
  }
  yield* partsOf(changes)
  for (let i = 0; i < pins.removed.length; i += MAX_NAMES_WRITTEN)
    yield { ...none, pins: { removed: pins.removed.slice(i, i + MAX_NAMES_WRITTEN) } }
}

function* partsOf({ put, removed, names }: CatalogueChanges): Generator<ToolChanges> {
  let part: Tool[] = []
  let accepted: NonNullable<PinChanges['accepted']>[number][] = []
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
      yield { put: part, removed: gone, names: claimed, pins: { accepted } }
      part = []
      accepted = []
      gone = []
      claimed = []
      characters = 0
    }
    part.push(tool.toTool())
    if (tool.accepts !== undefined) accepted.push(tool.accepts)
    characters += tool.characters
  }
  if (part.length > 0 || gone.length > 0 || claimed.length > 0)
    yield { put: part, removed: gone, names: claimed, pins: { accepted } }
}
