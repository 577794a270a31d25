import type { Tool } from '../../domain/tool.ts'
import { parseVersion } from '../../domain/version.ts'
import { runWithoutPause, type Steps } from '../slices.ts'

// Chooses between tools of one name that have several versions or come from several workers.

/**
 * Keeps, of each tool, the versions of the worker that was registered first, or those that were imported and bound to no
 * worker. So a worker that is registered later cannot take over a tool's name by a higher version.
 */
export function ownVersions(tools: readonly Tool[]): readonly Tool[] {
  return runWithoutPause(selectOwn(tools))
}

function* selectOwn(tools: readonly Tool[]): Steps<readonly Tool[]> {
  const owners = new Map<string, string>()
  for (const tool of tools) {
    const identity = exactIdentityOf(tool)
    const owner = owners.get(identity)
    if (owner === undefined || sourceOf(tool) < owner) owners.set(identity, sourceOf(tool))
    yield
  }
  const own: Tool[] = []
  for (const tool of tools) {
    if (owners.get(exactIdentityOf(tool)) === sourceOf(tool)) own.push(tool)
    yield
  }
  return own
}

/** Uids of workers begin with the time of their registration. */
function sourceOf({ binding }: Tool): string {
  return binding?.workerUid ?? ''
}

/** Case-sensitive, unlike `identityOf` of listed-names.ts. */
function exactIdentityOf({ namespace, name }: Tool): string {
  return `${namespace}:${name}`
}

/** Sorts by preference: first the own versions (`ownVersions`), and within each group the newest. */
export function preferredFirst(tools: readonly Tool[]): Tool[] {
  const own = new Set(ownVersions(tools))
  return [...newestFirst([...own]), ...newestFirst(tools.filter((tool) => !own.has(tool)))]
}

/** Sorts by SemVer precedence; then tools with another form of version, and last those without one. */
export function newestFirst(tools: readonly Tool[]): Tool[] {
  return [...tools].sort((a, b) => compareTexts(b.version, a.version))
}

/** Whether `one` is a newer version of the same tool than `other`. */
export function isNewerVersion(one: Tool, other: Tool): boolean {
  return exactIdentityOf(one) === exactIdentityOf(other) && compareTexts(one.version, other.version) > 0
}

/** Selects one version of each tool, the one that its name without a version means. Keeps the order of the list. */
export function* selectNewest(tools: readonly Tool[]): Steps<readonly Tool[]> {
  const newest = new Map<string, Tool>()
  for (const tool of yield* selectOwn(tools)) {
    const identity = exactIdentityOf(tool)
    const known = newest.get(identity)
    if (known === undefined || compareTexts(tool.version, known.version) > 0) newest.set(identity, tool)
    yield
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
