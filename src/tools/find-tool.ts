import type { Broker } from '../broker.ts'
import { BrokerError } from '../domain/errors.ts'
import { type Tool, toolId } from '../domain/tool.ts'

/**
 * The tool that answers to this spelling (`toolAliases`, in any case), its newest version unless one is said.
 * Throws `not_found`, and `ambiguous_tool` when tools of different namespaces answer.
 */
export async function findTool(
  broker: Broker,
  projectId: string,
  spelling: string,
  version?: string,
): Promise<Tool> {
  const said =
    version === undefined ? spelling : `${spelling.replace(/@[^@]*$/, '')}@${version.replace(/^v/, '')}`
  const found = await broker.store.tools.named(projectId, said.toLowerCase())
  const [newest, ...others] = newestFirst(found)
  if (newest === undefined)
    throw new BrokerError(
      'not_found',
      `There is no tool "${said.slice(0, 120)}" in this project. GET /v1/tools lists those there are.`,
    )
  const exact = found.find((tool) => toolId(tool).toLowerCase() === said.toLowerCase())
  if (exact !== undefined) return exact
  const rivals = others.filter((one) => one.namespace !== newest.namespace || one.name !== newest.name)
  if (rivals.length > 0)
    throw new BrokerError(
      'ambiguous_tool',
      `"${said.slice(0, 120)}" may be any of ${[newest, ...rivals].map(toolId).join(', ')}: use one of these ids.`,
    )
  return newest
}

/** By SemVer precedence (section 11); a tool without a version is the oldest. */
export function newestFirst(tools: readonly Tool[]): Tool[] {
  return [...tools].sort((a, b) => compareVersions(b.version, a.version))
}

function compareVersions(a: string | undefined, b: string | undefined): number {
  if (a === undefined || b === undefined) return Number(a !== undefined) - Number(b !== undefined)
  const [coreA = '', preA] = splitVersion(a)
  const [coreB = '', preB] = splitVersion(b)
  const byCore = coreA.localeCompare(coreB, 'en', { numeric: true })
  if (byCore !== 0) return byCore
  if (preA === undefined || preB === undefined) return Number(preA === undefined) - Number(preB === undefined)
  return preA.localeCompare(preB, 'en', { numeric: true })
}

function splitVersion(version: string): [string, string?] {
  const [withoutBuild = ''] = version.split('+')
  const dash = withoutBuild.indexOf('-')
  return dash < 0 ? [withoutBuild] : [withoutBuild.slice(0, dash), withoutBuild.slice(dash + 1)]
}
