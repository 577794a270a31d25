import { AsyncLocalStorage } from 'node:async_hooks'
import type { ApiKey } from '../domain/api-key.ts'
import type { AuditActor } from '../domain/audit.ts'
import type { PolicyUseOf } from './policies/policy-match.ts'

/** On whose behalf something runs: what the log and the audit trail say of it. */
export interface RequestContext {
  readonly actor: AuditActor
  /** The key that was presented; absent for browsers, commands and background jobs. */
  readonly apiKey?: ApiKey
  /** The endpoint or the command. */
  readonly purpose?: string
  readonly requestId?: string
  /** The tool that what is released is for, once it is known. */
  tool?: string
  /** What the project's policies were asked about already, and did not refuse. */
  readonly permitted?: PolicyUseOf
}

const contexts = new AsyncLocalStorage<RequestContext>()
const SYSTEM: RequestContext = { actor: { kind: 'system' } }

/** Runs it, and all it awaits, on behalf of that. */
export function inContext<T>(context: RequestContext, run: () => T): T {
  return contexts.run(context, run)
}

/**
 * Runs it as the use that `broker.policies.check` has let through: its tokens are not judged as tokens that are handed
 * to the caller, and no rule counts them or asks its hook twice.
 */
export function permit<T>(use: PolicyUseOf, run: () => T): T {
  return inContext({ ...currentContext(), permitted: use }, run)
}

/** Says which tool it is that what is released from now on is for. */
export function actForTool(tool: string): void {
  const context = contexts.getStore()
  if (context !== undefined) context.tool = tool
}

/** What is running; `system` outside of any request. */
export function currentContext(): RequestContext {
  return contexts.getStore() ?? SYSTEM
}
