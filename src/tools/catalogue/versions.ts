import type { Tool } from '../../domain/tool.ts'
import { hasOwnName, toolIdentity } from '../../domain/tool-name.ts'
import { parseVersion } from '../../domain/version.ts'
import type { Steps } from '../slices.ts'

// Chooses between the versions of a tool.

/** Sorts by SemVer precedence; then tools with another form of version, and last those without one. */
export function newestFirst(tools: readonly Tool[]): Tool[] {
  return [...tools].sort((a, b) => compareTexts(b.version, a.version))
}

/** Whether `one` is a newer version of the same tool than `other`. */
export function isNewerVersion(one: Tool, other: Tool): boolean {
  return toolIdentity(one) === toolIdentity(other) && compareTexts(one.version, other.version) > 0
}

/**
 * Selects one version of each tool, the one that its name without a version means. Leaves out tools whose names belong to
 * another source. Keeps the order of the list.
 */
export function* selectNewest(tools: readonly Tool[]): Steps<readonly Tool[]> {
  const newest = new Map<string, Tool>()
  for (const tool of tools) {
    yield
    if (!hasOwnName(tool)) continue
    const identity = toolIdentity(tool)
    const known = newest.get(identity)
    if (known === undefined || compareTexts(tool.version, known.version) > 0) newest.set(identity, tool)
  }
  if (newest.size === tools.length) return tools
  const kept = new Set(newest.values())
  return tools.filter((tool) => kept.has(tool))
}

function compareTexts(a: string | undefined, b: string | undefined): number {
  if (a === undefined || b === undefined) return Number(a !== undefined) - Number(b !== undefined)
  const [versionA, versionB] = [parseVersion(a), parseVersion(b)]
  if (versionA && versionB) return versionA.compare(versionB)
  if (versionA || versionB) return versionA ? 1 : -1
  return a.localeCompare(b, 'en', { numeric: true })
}
