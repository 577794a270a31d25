import type { Broker } from '../../broker.ts'
import { BrokerError } from '../../domain/errors.ts'
import { didYouMean } from '../../domain/nearest.ts'
import { functionName, type Tool, toolId } from '../../domain/tool.ts'
import { parseConstraint, parseVersion } from '../../domain/version.ts'
import { namedTools } from './known-tools.ts'

/**
 * The tool that answers to this spelling (`toolAliases`, in any case), its newest version unless one is said: as
 * `version`, or in the spelling after `@` or as the third part of an id. What is said may be a constraint (`^1.2`, `>=1 <3`), which
 * the newest that meets it answers. Throws `not_found`, and `ambiguous_tool` when tools of different namespaces answer
 * and none of them is listed for models by this name.
 */
export async function findTool(
  broker: Broker,
  projectId: string,
  spelling: string,
  version?: string,
): Promise<Tool> {
  const [plain, ownVersion] = splitVersion(spelling)
  const wanted = version || ownVersion
  const said = !version ? spelling : `${plain}@${version.replace(/^v/, '')}`
  const exact = await namedTools(broker, projectId, said.toLowerCase())
  const found =
    exact.length > 0 || wanted === undefined ? exact : await meeting(broker, projectId, plain, wanted)
  const [newest, ...others] = newestFirst(asListed(found, plain))
  if (newest === undefined)
    throw new BrokerError(
      'not_found',
      `There is no tool "${said.slice(0, 120)}" in this project.${await similarTool(broker, projectId, plain)} GET /v1/tools lists those there are.`,
    )
  const itself = found.find((tool) => toolId(tool).toLowerCase() === said.toLowerCase())
  if (itself !== undefined) return itself
  const rivals = others.filter((one) => one.namespace !== newest.namespace || one.name !== newest.name)
  if (rivals.length > 0)
    throw new BrokerError(
      'ambiguous_tool',
      `"${said.slice(0, 120)}" may be any of ${[newest, ...rivals].map(toolId).join(', ')}: use one of these ids.`,
    )
  return newest
}

/**
 * Those whose name in the lists that are given to models is this one, else all: a name that a list gives wins over an
 * alias of another tool.
 */
function asListed(found: readonly Tool[], spelling: string): readonly Tool[] {
  const wanted = spelling.toLowerCase()
  const listed = found.filter((tool) => functionName(tool).toLowerCase() === wanted)
  return listed.length > 0 ? listed : found
}

/** The nearest tool by its whole name or by its last part, as ` Did you mean …?`. */
async function similarTool(broker: Broker, projectId: string, plain: string): Promise<string> {
  const tools = await broker.store.tools.list(projectId)
  const names = tools.flatMap((tool) => [
    tool.namespace === '' ? tool.name : `${tool.namespace}.${tool.name}`,
    tool.name,
    toolId(tool),
  ])
  return didYouMean(plain, names)
}

/** Throws `not_found` when there are versions of it, and none will do. */
async function meeting(
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

/** `Toolkit.Tool@^1` and `namespace:name:^1` apart. */
function splitVersion(spelling: string): readonly [string, string | undefined] {
  const parts = /^(.+)@([^@]*)$/.exec(spelling) ?? /^([^:]+:[^:]+):([^:]+)$/.exec(spelling)
  return [parts?.[1] ?? spelling, parts?.[2]]
}

/** By SemVer precedence; after them what says another kind of version, and last what says none. */
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
