import type { Broker } from '../../broker.ts'
import { BrokerError } from '../../domain/errors.ts'
import { didYouMean } from '../../domain/nearest.ts'
import { isQualifiedName, type Tool, toolId } from '../../domain/tool.ts'
import { hasOwnName } from '../../domain/tool-name.ts'
import { parseConstraint, parseVersion } from '../../domain/version.ts'
import { namedTools } from './known-tools.ts'
import { compareAge, identityOf, withoutTwins } from './listed-names.ts'
import { newestFirst } from './versions.ts'

/**
 * Returns a tool by any of its names (`toolAliases`), which are not case-sensitive. A version may be given as `version`,
 * after `@`, or as the third part of an id. It may be a constraint (`^1.2`, `>=1 <3`), which selects the newest version
 * that meets it. Only the source that owns a name brings its versions; another source's tool of that name is found by its
 * full id alone. Throws `not_found`, and `ambiguous_tool` when it is the bare name of several tools, in any version.
 */
export async function getTool(
  broker: Broker,
  projectId: string,
  spelling: string,
  version?: string,
): Promise<Tool> {
  const named = readName(spelling, version)
  const [tool, ...rivals] = await toolsNamed(broker, projectId, named)
  if (tool === undefined) throw await noTool(broker, projectId, named)
  if (rivals.length > 0)
    throw new BrokerError(
      'ambiguous_tool',
      `"${named.whole.slice(0, 120)}" may be any of ${[tool, ...rivals].map(toolId).join(', ')}: use one of these ids.`,
    )
  return tool
}

/**
 * Returns all tools that the name may mean, by the rules of `getTool`: none for an unknown name or version, several for an
 * ambiguous name.
 */
export async function findToolsNamed(
  broker: Broker,
  projectId: string,
  spelling: string,
): Promise<readonly Tool[]> {
  return toolsNamed(broker, projectId, readName(spelling))
}

interface WrittenName {
  readonly whole: string
  /** The name without the version. */
  readonly plain: string
  /** A version or a constraint. */
  readonly version: string | undefined
}

function readName(spelling: string, version?: string): WrittenName {
  const [plain, ownVersion] = splitVersion(spelling)
  const whole = !version ? spelling : `${plain}@${version.replace(/^v/, '')}`
  return { whole, plain, version: version || ownVersion }
}

async function toolsNamed(
  broker: Broker,
  projectId: string,
  { whole, plain, version }: WrittenName,
): Promise<readonly Tool[]> {
  const id = whole.toLowerCase()
  const exact = await namedTools(broker, projectId, id)
  const exactId = exact.find(
    (tool) => hasOwnName(tool) && tool.namespace !== '' && toolId(tool).toLowerCase() === id,
  )
  if (exactId !== undefined) return [exactId]
  const name = plain.toLowerCase()
  const named = name === id ? exact : await namedTools(broker, projectId, name)
  const newest = newestMeant(name, named)
  if (newest.length > 0) {
    if (version === undefined || newest.length > 1) return newest
    const inVersion = newestOfEach(versionsMeeting(version, meantBy(name, named)))
    if (inVersion.length > 0) return inVersion
  }
  const titled = exact.filter((tool) => hasOwnName(tool) && tool.title.toLowerCase() === id)
  if (titled.length > 0) return newestOfEach(titled)
  // the full id of a tool without its name, unless it is also the name that another source owns
  return exact.filter(
    (tool) => toolId(tool).toLowerCase() === id && (tool.version !== undefined || tool.owner === undefined),
  )
}

/**
 * The tools, in all versions, that a name without a version means. A name that tells the toolkit has priority over a bare
 * name or title; of several tools with such a name (`a` + `b_c`, `a_b` + `c`), it means the one whose source has had it
 * longest. Which versions there are does not matter: no other tool gets the calls of a version that is gone.
 */
function meantBy(plain: string, named: readonly Tool[]): readonly Tool[] {
  const own = named.filter(hasOwnName)
  const name = plain.toLowerCase()
  const [oldest] = withoutTwins(own)
    .filter((tool) => isQualifiedName(tool, name))
    .toSorted(compareAge)
  return oldest === undefined ? own : own.filter((tool) => identityOf(tool) === identityOf(oldest))
}

/** What a name means among the tools of a list, which is the same object for each call until one of the tools changes. */
const meanings = new WeakMap<readonly Tool[], { readonly name: string; readonly newest: readonly Tool[] }>()

/** The newest version of each tool that the name, in lower case, means. */
function newestMeant(name: string, named: readonly Tool[]): readonly Tool[] {
  const known = meanings.get(named)
  if (known?.name === name) return known.newest
  const newest = newestOfEach(meantBy(name, named))
  meanings.set(named, { name, newest })
  return newest
}

/** The newest version of each of the tools, the newest of all first. */
function newestOfEach(tools: readonly Tool[]): readonly Tool[] {
  const newest = new Map<string, Tool>()
  for (const tool of newestFirst(withoutTwins(tools)))
    if (!newest.has(identityOf(tool))) newest.set(identityOf(tool), tool)
  return [...newest.values()]
}

/** The error for an unknown name or version. */
async function noTool(
  broker: Broker,
  projectId: string,
  { whole, plain, version }: WrittenName,
): Promise<BrokerError> {
  const named = await namedTools(broker, projectId, plain.toLowerCase())
  const waiting = named.filter((tool) => !hasOwnName(tool))
  if (waiting.length === named.length && waiting.length > 0)
    return new BrokerError(
      'not_found',
      `No tool has the name "${plain.slice(0, 120)}" now. ${waiting.slice(0, 5).map(toolId).join(', ')} would have it, but the name does not belong to the source of that tool: use the full id, or accept the name by POST /v1/workers/{id}/accept.`,
    )
  const versions = version === undefined ? [] : newestFirst(meantBy(plain, named))
  if (version === undefined || versions.length === 0)
    return new BrokerError(
      'not_found',
      `There is no tool "${whole.slice(0, 120)}" in this project.${await similarTool(broker, projectId, plain)} GET /v1/tools lists those there are.`,
    )
  const there = [...new Set(versions.map((tool) => tool.version ?? 'one without a version'))]
  return new BrokerError(
    'not_found',
    `There is no version "${version.slice(0, 100)}" of "${plain.slice(0, 120)}" in this project; there ${there.length === 1 ? 'is' : 'are'} ${there.slice(0, 20).join(', ')}${there.length > 20 ? ' and older ones' : ''}.`,
  )
}

/** ` Did you mean …?` with the most similar name of a tool; empty if none is similar. */
async function similarTool(broker: Broker, projectId: string, plain: string): Promise<string> {
  const tools = (await broker.cache.catalogue.of(projectId)).filter(hasOwnName)
  const names = tools.flatMap((tool) => [
    tool.namespace === '' ? tool.name : `${tool.namespace}.${tool.name}`,
    tool.name,
    toolId(tool),
  ])
  return didYouMean(plain, names)
}

/** The tool in exactly this version, else its versions that meet the constraint. */
function versionsMeeting(wanted: string, all: readonly Tool[]): readonly Tool[] {
  const exact = wanted.replace(/^v/, '').toLowerCase()
  const same = all.filter((tool) => tool.version?.toLowerCase() === exact)
  if (same.length > 0) return same
  const constraint = parseConstraint(wanted)
  return all.filter((tool) => {
    const version = tool.version === undefined ? undefined : parseVersion(tool.version)
    return version !== undefined && constraint?.test(version) === true
  })
}

/** Splits `Toolkit.Tool@^1` and `namespace:name:^1` into the name and the version. */
export function splitVersion(spelling: string): readonly [string, string | undefined] {
  const parts = /^(.+)@([^@]*)$/.exec(spelling) ?? /^([^:]+:[^:]+):([^:]+)$/.exec(spelling)
  return [parts?.[1] ?? spelling, parts?.[2]]
}
