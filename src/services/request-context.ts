import { AsyncLocalStorage } from 'node:async_hooks'
import type { ApiKey } from '../domain/api-key.ts'
import type { AuditActor } from '../domain/audit.ts'
import type { RequestedUse } from '../domain/requested-use.ts'

/** The caller and the purpose of the current work, for the log and the audit trail. */
export interface RequestContext {
  readonly actor: AuditActor
  /** The key that was presented; absent for browsers, commands and background jobs. */
  readonly apiKey?: ApiKey
  /** The endpoint or the command. */
  readonly purpose?: string
  /** The only user for whom the request may act; absent: every user of the project. */
  readonly onlyUser?: string
  readonly requestId?: string
  /** The tool for which tokens are released, once it is known. */
  tool?: string
  /** The use that the gate has already permitted. */
  readonly permitted?: RequestedUse
  /** The rules that asked for an approval of that use and got it (`ruleKey`). */
  readonly approved?: ReadonlySet<string>
  /** Called with the id of an approval that the request asks for or spends. */
  readonly onApproval?: (id: string) => void
}

const contexts = new AsyncLocalStorage<RequestContext>()
const SYSTEM: RequestContext = { actor: { kind: 'system' } }

/** Runs a function, and all that it awaits, in the context. */
export function inContext<T>(context: RequestContext, run: () => T): T {
  return contexts.run(context, run)
}

/**
 * Runs a function as the use that `broker.gate.check` has permitted. Its tokens are then not evaluated as tokens for
 * the caller, and the gate neither counts the use nor asks about it a second time.
 */
export function permit<T>(use: RequestedUse, run: () => T): T {
  const { approved: _, ...context } = currentContext()
  return inContext({ ...context, permitted: use }, run)
}

/** Runs a function as part of the permitted use, now that a person has approved it as these rules ask. */
export function approve<T>(rules: ReadonlySet<string>, run: () => T): T {
  return inContext({ ...currentContext(), approved: rules }, run)
}

/** The API key or the MCP client that makes the current request. */
export function callingAgent(): string | undefined {
  const { apiKey, actor } = currentContext()
  return apiKey?.id ?? actor.client
}

/** Names the approval that the current request asks for or has spent in its answer. */
export function noteApproval(id: string): void {
  currentContext().onApproval?.(id)
}

/** Whether the current request may act for this user and see what belongs to them. */
export function mayActFor(userId: string | undefined): boolean {
  const { onlyUser } = currentContext()
  return onlyUser === undefined || onlyUser === userId
}

/** Sets the tool for which tokens are released from now on. */
export function actForTool(tool: string): void {
  const context = contexts.getStore()
  if (context !== undefined) context.tool = tool
}

/** The current context; the actor is `system` outside of any request. */
export function currentContext(): RequestContext {
  return contexts.getStore() ?? SYSTEM
}
