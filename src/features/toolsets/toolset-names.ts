import type { Broker } from '../../broker.ts'
import { MAX_SHOWN_NAME } from '../../domain/shown-tools.ts'
import { functionName, type Tool } from '../../domain/tool.ts'
import { identityOf, RESERVED_NAMES, withDigest } from '../../tools/catalogue/listed-names.ts'
import type { GivenNames } from '../../tools/catalogue/shown-tools.ts'
import type { Toolset } from './domain.ts'
import type { BareNames } from './store-toolsets.ts'

// The names in toolsets whose tools have bare names (`Send` instead of `Gmail_Send`). A name stays with its tool when other
// tools are added, and is not reused when the tool is removed, so that a client with an old list never calls another tool.

/**
 * The limit for stored names of removed tools: `always`, and `forEach` more for each tool of the toolset. When it is
 * exceeded, all of them are dropped and may be used again.
 */
const KEPT = { forEach: 1, always: 1_000 }

/** Gives each tool its name, oldest first. `prefixed`: the names for tools whose bare name another tool has. */
export async function giveBareNames(
  broker: Broker,
  { projectId, id }: Pick<Toolset, 'projectId' | 'id'>,
  tools: readonly Tool[],
  prefixed: ReadonlyMap<string, string>,
): Promise<GivenNames> {
  const give = (given: BareNames) => withNames(given, tools, prefixed)
  const known = await broker.store.toolsets.bareNames(projectId, id)
  const isComplete = give(known) === known
  const given = isComplete ? known : await broker.store.toolsets.giveBareNames(projectId, id, give)
  const names = new Map<string, string>()
  const retired = new Map(Object.entries(given))
  for (const tool of tools) {
    const name = given[identityOf(tool)]
    if (name !== undefined) names.set(tool.uid, name)
    retired.delete(identityOf(tool))
  }
  return { names, retired: new Set([...retired.values()].map((name) => name.toLowerCase())) }
}

/** Adds names for tools without one. Returns the same object if each tool has a name. */
function withNames(
  given: BareNames,
  tools: readonly Tool[],
  prefixed: ReadonlyMap<string, string>,
): BareNames {
  const nameless = tools.filter((tool) => given[identityOf(tool)] === undefined)
  if (nameless.length === 0) return given
  const kept = Object.entries(given)
  const present = new Set(tools.map(identityOf))
  const names =
    kept.length > tools.length * (1 + KEPT.forEach) + KEPT.always
      ? kept.filter(([identity]) => present.has(identity))
      : kept
  const taken = new Set([...RESERVED_NAMES, ...names.map(([, name]) => name.toLowerCase())])
  for (const tool of nameless) {
    const bare = functionName({ namespace: '', name: tool.name }, MAX_SHOWN_NAME)
    const last = withDigest(bare, tool, MAX_SHOWN_NAME)
    const name =
      [bare, prefixed.get(tool.uid) ?? last].find((candidate) => !taken.has(candidate.toLowerCase())) ?? last
    taken.add(name.toLowerCase())
    names.push([identityOf(tool), name])
  }
  return Object.fromEntries(names)
}
