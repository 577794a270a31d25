import { type Tool, toolAliases, toolId } from '../domain/tool.ts'
import type { PolicyUseOf } from '../flows/policy-match.ts'
import { backendOf } from './backends.ts'
import type { ToolNeed } from './tool-needs.ts'
import type { Runner } from './what-runs.ts'

/** The run of a tool as policies see it. One that is bound to a worker's tool answers to that one's names too. */
export function toolPolicyUse(
  tool: Tool,
  needs: readonly ToolNeed[],
  runner: Runner,
  call: Pick<PolicyUseOf, 'userId' | 'executionId' | 'input'>,
): PolicyUseOf {
  const own = runner.outcome === 'found' ? runner.own : undefined
  return {
    ...call,
    projectId: tool.projectId,
    use: 'tool',
    tool: {
      id: toolId(tool),
      aliases: [...new Set([tool, ...(own ? [own] : [])].flatMap(toolAliases))],
    },
    providers: needs.map(({ entry, scopes }) => ({ id: entry.id, scopes })),
    hosts: runner.outcome === 'found' ? hostsOf(runner) : [],
    secrets: tool.requirements.secrets,
  }
}

/** A module runs in this process and has none. */
function hostsOf({ worker, own }: Extract<Runner, { outcome: 'found' }>): readonly string[] {
  const said = backendOf(worker).hosts?.(own)
  if (said !== undefined) return said
  const { uri } = worker
  const host = URL.canParse(uri) ? new URL(uri).host : ''
  return host === '' ? [] : [host]
}
