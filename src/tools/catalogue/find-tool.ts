import type { Broker } from '../../broker.ts'
import { BrokerError } from '../../domain/errors.ts'
import { didYouMean } from '../../domain/nearest.ts'
import { type Tool, toolId } from '../../domain/tool.ts'
import { parseConstraint, parseVersion } from '../../domain/version.ts'
import { namedTools } from './known-tools.ts'
import { modelNames, withoutTwins } from './listed-names.ts'

/**
 * Finds a tool by any of its names (`toolAliases`), which are not case-sensitive. A version may be given as `version`, after
 * `@`, or as the third part of an id, and may be a constraint (`^1.2`, `>=1 <3`); the newest version that meets it is
 * returned. Throws `not_found`, and `ambiguous_tool` when the name belongs to tools of several namespaces and no list gives
 * one of them this name.
 */
export async function findTool(
  broker: Broker,
  projectId: string,
  spelling: string,
  version?: string,
): Promise<Tool> {
  const [plain, ownVersion] = splitVersion(spelling)
  const wanted = version || ownVersion
  const wholeName = !version ? spelling : `${plain}@${version.replace(/^v/, '')}`
  const exact = await namedTools(broker, projectId, wholeName.toLowerCase())
  const found =
    exact.length > 0 || wanted === undefined
      ? exact
      : await findByConstraint(broker, projectId, plain, wanted)
  const [newest, ...others] = newestFirst(preferListed(found, plain))
  if (newest === undefined)
    throw new BrokerError(
      'not_found',
      `There is no tool "${wholeName.slice(0, 120)}" in this project.${await similarTool(broker, projectId, plain)} GET /v1/tools lists those there are.`,
    )
  const itself = found.find((tool) => toolId(tool).toLowerCase() === wholeName.toLowerCase())
  if (itself !== undefined) return itself
  const rivals = others.filter((one) => one.namespace !== newest.namespace || one.name !== newest.name)
  if (rivals.length > 0)
    throw new BrokerError(
      'ambiguous_tool',
      `"${wholeName.slice(0, 120)}" may be any of ${[newest, ...rivals].map(toolId).join(', ')}: use one of these ids.`,
    )
  return newest
}

/** The tools that lists give under this name, if there are any: such a name wins over an alias of another tool. */
function preferListed(found: readonly Tool[], spelling: string): readonly Tool[] {
  const wanted = spelling.toLowerCase()
  const once = withoutTwins(found)
  const names = modelNames(once)
  const listed = once.filter((tool) =>
    [names.get(tool.uid), `${tool.namespace}.${tool.name}`].some((name) => name?.toLowerCase() === wanted),
  )
  return listed.length > 0 ? listed : once
}

/** ` Did you mean …?` with the tool whose whole name or last part is most similar; empty where none is. */
async function similarTool(broker: Broker, projectId: string, plain: string): Promise<string> {
  const tools = await broker.store.tools.list(projectId)
  const names = tools.flatMap((tool) => [
    tool.namespace === '' ? tool.name : `${tool.namespace}.${tool.name}`,
    tool.name,
    toolId(tool),
  ])
  return didYouMean(plain, names)
}

/** The versions of the tool that meet the constraint. Throws `not_found` when the tool has versions, but none meets it. */
async function findByConstraint(
  broker: Broker,
  projectId: string,
  plain: string,
  wanted: string,
): Promise<readonly Tool[]> {
  const all = await namedTools(broker, projectId, plain.toLowerCase())
  const constraint = parseConstraint(wanted)
  const found = all.filter((tool) => {
    const version = tool.version === undefined ? undefined : parseVersion(tool.version)
    return version !== undefined && constraint?.test(version) === true
  })
  if (all.length === 0 || found.length > 0) return found
  const there = [...new Set(newestFirst(all).map((tool) => tool.version ?? 'one without a version'))]
  throw new BrokerError(
    'not_found',
    `There is no version "${wanted.slice(0, 100)}" of "${plain.slice(0, 120)}" in this project; there ${there.length === 1 ? 'is' : 'are'} ${there.slice(0, 20).join(', ')}${there.length > 20 ? ' and older ones' : ''}.`,
  )
}

/** Splits `Toolkit.Tool@^1` and `namespace:name:^1` into the name and the version. */
function splitVersion(spelling: string): readonly [string, string | undefined] {
  const parts = /^(.+)@([^@]*)$/.exec(spelling) ?? /^([^:]+:[^:]+):([^:]+)$/.exec(spelling)
  return [parts?.[1] ?? spelling, parts?.[2]]
}

/** By SemVer precedence; then tools with another form of version, and last those without one. */
export function newestFirst(tools: readonly Tool[]): Tool[] {
  return [...tools].sort((a, b) => compareTexts(b.version, a.version))
}

function compareTexts(a: string | undefined, b: string | undefined): number {
  if (a === undefined || b === undefined) return Number(a !== undefined) - Number(b !== undefined)
  const [versionA, versionB] = [parseVersion(a), parseVersion(b)]
  if (versionA && versionB) return versionA.compare(versionB)
  if (versionA || versionB) return versionA ? 1 : -1
  return a.localeCompare(b, 'en', { numeric: true })
}
