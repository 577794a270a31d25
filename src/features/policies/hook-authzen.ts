import type { EpochSeconds } from '../../domain/clock.ts'
import type { RequestedUse, UsedProvider } from '../../domain/requested-use.ts'
import { isRecord } from '../../parsing/json-record.ts'
import { requestableDenial } from './access-request.ts'
import type { AccessEvaluation } from './domain-access-request.ts'
import { type HookResult, parsedAnswer, refusedBecause } from './hook-answer.ts'

// The hook as a policy decision point of AuthZEN 1.0. Calls of tools are asked about as the default mapping of COAZ-MCP
// says, with their arguments; uses of other kinds have no mapping there and get one of ours.

/** Behind the address of the policy decision point (AuthZEN 1.0 section 10.1). */
export const EVALUATION_PATH = '/access/v1/evaluation'

/** What is asked about the use: each must be permitted. `undefined`: the use names no user, whom the request requires. */
export function evaluationsOf(
  use: RequestedUse,
  agent: string | undefined,
): readonly AccessEvaluation[] | undefined {
  const { userId, tool, worker, input, providers, request } = use
  if (userId === undefined) return undefined
  const subject = { type: 'identity', id: userId } as const
  const by = agent === undefined ? {} : { agent }
  if (tool !== undefined)
    return [
      {
        subject,
        action: { name: 'tools/call' },
        resource: { type: 'tool', id: tool.id },
        context: { ...by, ...(input !== undefined && { arguments: input }) },
      },
    ]
  if (use.use === 'tool')
    return [
      {
        subject,
        action: { name: 'tools/list' },
        resource: { type: 'mcp_server', id: worker ?? '' },
        context: by,
      },
    ]
  const action =
    request === undefined
      ? { name: use.use }
      : { name: use.use, properties: { method: request.method, path: request.path } }
  return providers.map(({ id, scopes }: UsedProvider) => ({
    subject,
    action,
    resource: { type: 'provider', id },
    context: { ...by, scopes, hosts: use.hosts },
  }))
}

/** Reads the response of an access evaluation. Members that are unknown do not count, as the specification demands. */
export function readDecision(
  text: string,
  evaluation: AccessEvaluation,
  {
    url,
    secret,
    now,
  }: { readonly url: string; readonly secret: string | undefined; readonly now: EpochSeconds },
): HookResult {
  const { decision, context } = parsedAnswer(text) ?? {}
  if (decision === true) return { outcome: 'agreed' }
  if (decision === false) {
    const refused = refusedBecause(reasonIn(context), secret)
    const denial = requestableDenial(context, url, now)
    return denial === undefined
      ? { ...refused, ...retryIn(context) }
      : { ...refused, outcome: 'requestable', denial, evaluation }
  }
  return { outcome: 'failed', message: 'It answered something else than {"decision": true} or false.' }
}

/** The reason for users: `reason`, or the first text of `reason_user`. What is for administrators is not shown. */
function reasonIn(context: unknown): unknown {
  if (!isRecord(context)) return undefined
  const { reason, reason_user: forUser } = context
  if (typeof reason === 'string') return reason
  return isRecord(forUser) ? Object.values(forUser).find((text) => typeof text === 'string') : forUser
}

const RETRY_SECONDS = 5
const MAX_RETRY_SECONDS = 3600

/** When the same request may be permitted, after an approval whose effect is not there yet. */
function retryIn(context: unknown): { readonly retryIn?: number } {
  if (!isRecord(context)) return {}
  const { next_action: action, reason, retry_after: seconds } = context
  const isKnown = action === 'request' || action === 'retry' || action === 'none'
  if (isKnown ? action !== 'retry' : reason !== 'grant_pending') return {}
  const isUsable = typeof seconds === 'number' && Number.isInteger(seconds) && seconds > 0
  return { retryIn: isUsable ? Math.min(seconds, MAX_RETRY_SECONDS) : RETRY_SECONDS }
}
