import type { Broker } from '../../broker.ts'
import { BrokerError } from '../../domain/errors.ts'
import type { AcquiredToken } from '../../flows/acquire-tokens.ts'
import { refreshConnection } from '../../flows/refresh/refresh-connection.ts'
import type { ToolAnswer } from '../tool-answer.ts'
import { authorizeTool, type ToolUse } from './authorize-tool.ts'
import { type ConsentNeeded, consentNeeded } from './consent-needed.ts'
import type { ToolNeed } from './tool-needs.ts'
import { policyRefusal } from './tool-policy-use.ts'

/** A tool's answer that is a failure. */
export type Refused = ToolAnswer & { readonly outcome: 'error' }

/** Whether the provider did not take the token from the tool (RFC 6750 section 3.1). */
export function isTokenRefused(answer: ToolAnswer): answer is Refused {
  if (answer.outcome !== 'error' || answer.isOwn) return false
  const { kind, status_code: status } = answer.error
  return status === undefined ? kind === 'UPSTREAM_RUNTIME_AUTH_ERROR' : status === 401
}

/**
 * Other tokens in place of those that were refused: some end before their time. Which of several it was is not told,
 * so all are looked at. `unchanged`: there are no others to be had now.
 */
export async function replaceTokens(
  broker: Broker,
  call: ToolUse,
  refused: readonly AcquiredToken<ToolNeed>[],
): Promise<
  | { readonly outcome: 'replaced'; readonly tokens: readonly AcquiredToken<ToolNeed>[] }
  | { readonly outcome: 'unchanged' }
  | ConsentNeeded
> {
  try {
    const outcomes = await Promise.all(
      refused.map(({ release: { entry, connection, accessToken } }) =>
        refreshConnection(broker, entry, connection, { rejected: accessToken }),
      ),
    )
    if (outcomes.every((one) => one.outcome === 'provider_unavailable')) return { outcome: 'unchanged' }
    const begun = await authorizeTool(broker, call)
    if (begun.outcome === 'authorization_required') return consentNeeded(broker, begun.authorization)
    const before = new Set(refused.map(({ release }) => release.accessToken))
    const isReplaced = begun.tokens.some(({ release }) => !before.has(release.accessToken))
    return isReplaced ? { outcome: 'replaced', tokens: begun.tokens } : { outcome: 'unchanged' }
  } catch (error) {
    // a provider that refuses the client, or a token that cannot be had now: the tool's own words say enough
    if (error instanceof BrokerError && policyRefusal(error) === undefined) return { outcome: 'unchanged' }
    throw error
  }
}

/** There is another token now; whether the tool has done something before it was refused, only its author knows. */
export function toBeTriedAgain(answer: Refused): ToolAnswer {
  const { error } = answer
  return { ...answer, error: { ...error, can_retry: true, retry_after_ms: error.retry_after_ms ?? 0 } }
}
