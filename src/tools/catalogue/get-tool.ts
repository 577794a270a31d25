import type { Broker } from '../../broker.ts'
import { BrokerError } from '../../domain/errors.ts'
import { didYouMean } from '../../domain/nearest.ts'
import { type Tool, toolId } from '../../domain/tool.ts'
import { hasOwnName, toolIdentity } from '../../domain/tool-name.ts'
import { parseConstraint, parseVersion } from '../../domain/version.ts'
import { namedTools } from './known-tools.ts'
import { modelNames, withoutTwins } from './listed-names.ts'
import { newestFirst } from './versions.ts'

/**
 * Returns a tool by any of its names (`toolAliases`), which are not case-sensitive. A version may be given as `version`,
 * after `@`, or as the third part of an id. It may be a constraint (`^1.2`, `>=1 <3`), which selects the newest version
 * that meets it. Only the source that owns a name brings its versions; another source's tool of that name is found by its
 * full id alone. Throws `not_found`, and `ambiguous_tool` when tools of several namespaces have the name and it is no listed name of one of them.
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
  const own = exact.filter(hasOwnName)
  const found =
    version === undefined || own.length > 0
      ? own
      : versionsMeeting(
          version,
          (await namedTools(broker, projectId, plain.toLowerCase())).filter(hasOwnName),
        )
  const exactId = found.find((tool) => toolId(tool).toLowerCase() === id)
  if (exactId !== undefined) return [exactId]
  const [newest, ...others] = newestFirst(preferListed(found, plain))
  if (newest !== undefined)
    return [newest, ...others.filter((one) => toolIdentity(one) !== toolIdentity(newest))]
  // the full id of a tool without its name, unless it is also the name that another source owns
  return exact.filter(
    (tool) => toolId(tool).toLowerCase() === id && (tool.version !== undefined || tool.owner === undefined),
  )
}

/** The tools with this listed name, if there are any: a listed name has priority over an alias of another tool. */
function preferListed(found: readonly Tool[], spelling: string): readonly Tool[] {
  const wanted = spelling.toLowerCase()
  const distinct = withoutTwins(found)
  const names = modelNames(distinct)
  const listed = distinct.filter((tool) =>
    [names.get(tool.uid), `${tool.namespace}.${tool.name}`].some((name) => name?.toLowerCase() === wanted),
  )
  return listed.length > 0 ? listed : distinct
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
  const versions = version === undefined ? [] : newestFirst(named.filter(hasOwnName))
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

/** The versions of a tool that meet the constraint. */
function versionsMeeting(wanted: string, all: readonly Tool[]): readonly Tool[] {
  const constraint = parseConstraint(wanted)
  const meets = (tool: Tool) => {
    const version = tool.version === undefined ? undefined : parseVersion(tool.version)
    return version !== undefined && constraint?.test(version) === true
  }
  return all.filter(meets)
}

/** Splits `Toolkit.Tool@^1` and `namespace:name:^1` into the name and the version. */
export function splitVersion(spelling: string): readonly [string, string | undefined] {
  const parts = /^(.+)@([^@]*)$/.exec(spelling) ?? /^([^:]+:[^:]+):([^:]+)$/.exec(spelling)
  return [parts?.[1] ?? spelling, parts?.[2]]
}
