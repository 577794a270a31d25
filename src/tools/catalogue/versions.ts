import type { Tool } from '../../domain/tool.ts'
import { parseVersion } from '../../domain/version.ts'
import { atOnce, type Steps } from '../slices.ts'

// Which of several tools of one name, in several versions or of several workers, the name means.

/**
 * Of each tool, the versions of the worker that was registered first, or those that were imported and bound to no worker:
 * a worker that comes later cannot take over a tool's name by a higher version.
 */
export function ownVersions(tools: readonly Tool[]): readonly Tool[] {
  return atOnce(selectOwn(tools))
}

function* selectOwn(tools: readonly Tool[]): Steps<readonly Tool[]> {
  const owners = new Map<string, string>()
  for (const tool of tools) {
    const identity = identityOf(tool)
    const owner = owners.get(identity)
    if (owner === undefined || sourceOf(tool) < owner) owners.set(identity, sourceOf(tool))
    yield
  }
  const own: Tool[] = []
  for (const tool of tools) {
    if (owners.get(identityOf(tool)) === sourceOf(tool)) own.push(tool)
    yield
  }
  return own
}

/** Uids of workers begin with the time of their registration. */
function sourceOf({ binding }: Tool): string {
  return binding?.workerUid ?? ''
}

function identityOf({ namespace, name }: Tool): string {
  return `${namespace}:${name}`
}

/** The versions that a name means before others: the own ones (`ownVersions`), and of these the newest. */
export function preferredFirst(tools: readonly Tool[]): Tool[] {
  const own = new Set(ownVersions(tools))
  return [...newestFirst([...own]), ...newestFirst(tools.filter((tool) => !own.has(tool)))]
}

/** By SemVer precedence; then tools with another form of version, and last those without one. */
export function newestFirst(tools: readonly Tool[]): Tool[] {
  return [...tools].sort((a, b) => compareTexts(b.version, a.version))
}

/** The version of each tool that its name means without a version, in the order of the list. */
export function* selectNewest(tools: readonly Tool[]): Steps<readonly Tool[]> {
  const newest = new Map<string, Tool>()
  for (const tool of yield* selectOwn(tools)) {
    const identity = identityOf(tool)
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
