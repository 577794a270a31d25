import { BrokerError, type ErrorCode } from '../../domain/errors.ts'
import { type Tool, toolAliases, toolId } from '../../domain/tool.ts'
import type { PolicyUseOf } from '../../services/policies/policy-match.ts'
import { policyProvider } from '../../services/policies/policy-provider.ts'
import { backendOf } from '../backends.ts'
import type { ErrorKind, ToolError } from '../tool-error.ts'
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
    providers: needs.map(({ entry, scopes }) => policyProvider(entry, scopes)),
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

/** Policies' refusals in the contract's words. */
const KINDS: Readonly<Partial<Record<ErrorCode, ErrorKind>>> = {
  denied_by_policy: 'CONTEXT_DENIED',
  policy_check_failed: 'CONTEXT_CHECK_FAILED',
}

/** The error of a tool that a policy refused to run; `undefined` for any other error. */
export function policyRefusal(error: unknown): ToolError | undefined {
  const kind = error instanceof BrokerError ? KINDS[error.code] : undefined
  if (!(error instanceof BrokerError) || kind === undefined) return undefined
  const { message, retryAfter } = error
  const waits = retryAfter !== undefined && { retry_after_ms: Math.ceil(retryAfter * 1000) }
  return { kind, message, can_retry: retryAfter !== undefined, ...waits }
}
