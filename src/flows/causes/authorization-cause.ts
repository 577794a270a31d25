import type { Authorization } from '../../domain/authorization.ts'
import type { CauseCode } from '../../domain/causes.ts'
import type { EpochSeconds } from '../../domain/clock.ts'
import type { TrailEntry } from '../../domain/trail.ts'
import { causeOfCallback, causeOfTokenRequest } from './refusal-cause.ts'

/** For this long after the redirect to the provider, the user is assumed to be there still. */
const AT_PROVIDER_SECONDS = 120

/** The facts from which the cause of an authorization's state is derived. */
export interface AuthorizationSituation {
  readonly authorization: Authorization
  readonly entries: readonly TrailEntry[]
  readonly openedAt?: EpochSeconds | undefined
  readonly now: EpochSeconds
  /** Whether browsers have come back from this provider for other authorizations by the same client. */
  readonly othersCameBack: boolean
}

/** Why the authorization is in its state. `undefined`: it is completed, with all scopes and the same account. */
export function causeCodeOf(situation: AuthorizationSituation): CauseCode | undefined {
  const { authorization } = situation
  if (authorization.status === 'completed') {
    const { steps } = authorization
    if (steps.some(({ missingScopes }) => missingScopes !== undefined)) return 'scopes_withheld'
    return steps.some(({ previousAccount }) => previousAccount !== undefined) ? 'account_changed' : undefined
  }
  if (authorization.status !== 'failed') return causeOfSilence(situation)
  const { reason } = authorization
  switch (reason) {
    case 'expired':
      return causeOfSilence(situation) ?? 'own_fault'
    case 'user_mismatch':
      return 'wrong_user'
    case 'issuer_mismatch':
      return 'wrong_issuer'
    case 'account_mismatch':
      return 'wrong_account'
    case 'provider_changed':
      return 'entry_changed'
    default:
      return causeOfFailure(situation, reason)
  }
}

function causeOfFailure(situation: AuthorizationSituation, reason: string): CauseCode {
  const latest = latestAttempt(situation)
  const exchange = latest.findLast(({ step }) => step === 'code_exchange')
  const prepared = latest.findLast(
    ({ step }) =>
      step === 'pushed_authorization' || step === 'temporary_credentials' || step === 'device_authorization',
  )
  if (prepared?.details?.reason !== undefined)
    return causeOfTokenRequest(prepared.details, 'exchange') ?? 'own_fault'
  if (exchange !== undefined) return causeOfTokenRequest(exchange.details ?? {}, 'exchange') ?? 'own_fault'
  if (latest.at(-1)?.details?.reason === 'cancelled') return 'cancelled'
  const callback = latest.findLast(({ step }) => step === 'callback')
  return causeOfCallback(callback?.details ?? {}, reason)
}

/** Why an authorization that is still pending, or has expired, was not completed. */
function causeOfSilence(situation: AuthorizationSituation): CauseCode | undefined {
  const { authorization, openedAt, now, othersCameBack } = situation
  if (authorization.status === 'exchanging') return undefined
  const latest = latestAttempt(situation)
  const has = (step: TrailEntry['step']) => latest.some((entry) => entry.step === step)
  const refused = latest.findLast(({ step }) => step === 'refused')?.details?.reason
  if (has('choices')) return 'not_chosen'
  if (has('user_confirmed')) return 'not_sent_on'
  if (has('callback')) return 'user_not_confirmed'
  if (refused?.startsWith('login_')) return 'login_not_finished'
  if (refused === 'provider_incomplete') return 'client_missing'
  if (refused === 'provider_unavailable') return 'provider_down'
  // the token request that succeeds is the only one in the trail of a code that was entered
  const isEntered = latest.some(
    ({ step, details }) => step === 'code_exchange' && details?.reason === undefined,
  )
  if (has('device_authorization')) return isEntered ? 'account_not_confirmed' : 'code_not_entered'
  const sent = latest.findLast(({ step }) => step === 'sent_to_provider')
  if (sent === undefined)
    return openedAt === undefined && authorization.step === 0 ? 'link_not_opened' : 'link_not_clicked'
  if (refused === 'wrong_browser') return 'other_browser'
  if (authorization.status !== 'failed' && now - sent.at < AT_PROVIDER_SECONDS) return 'at_provider'
  const cameBackBefore = situation.entries.some(
    ({ step, part }) => step === 'callback' && part === authorization.step,
  )
  return othersCameBack || cameBackBefore ? 'left_at_provider' : 'redirect_uri_not_registered'
}

/** The entries from the latest click on; all of the current step if there was none. */
export function latestAttempt({
  authorization,
  entries,
}: Pick<AuthorizationSituation, 'authorization' | 'entries'>) {
  const ofStep = entries.filter(({ part }) => part === authorization.step)
  return ofStep.slice(
    Math.max(
      0,
      ofStep.findLastIndex(({ step }) => step === 'clicked'),
    ),
  )
}
