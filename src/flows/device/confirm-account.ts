import type { Broker } from '../../broker.ts'
import { type Authorization, authorizationAt } from '../../domain/authorization.ts'
import { sha256 } from '../../domain/ids.ts'
import { trailLines } from '../../domain/trail.ts'
import { failAsAnotherUser } from '../another-user.ts'
import { openAttemptSecrets } from '../attempt-secrets.ts'
import { failureAudit, recordRefusal } from '../authorization-audit.ts'
import { finishWithGrant } from '../finish-with-grant.ts'
import { openHeldGrant, revokeHeldGrant } from '../held-grant.ts'
import { notStartable } from '../not-begun.ts'
import type { StartedAttempt } from '../started-attempt.ts'

const NOT_MINE =
  'The user said that the account which approved is not theirs, so nothing was stored. Start again from your application, and enter the code while you are logged in with your own account.'

/**
 * The answer of the user to "Is this your account?": only then the connection is stored. No redirect has come back from
 * the provider, so nothing else shows that the person at this browser is the one who approved. Only the browser that
 * clicked may answer, and only about the grant that its page was about (`shown`): another tab may have a page of an earlier
 * account. After "no" the tokens are revoked.
 */
export async function confirmAccount(
  broker: Broker,
  authorization: Authorization,
  {
    browserId,
    sessionUser,
    shown,
    answer,
  }: {
    readonly browserId: string | undefined
    /** The user of this browser's session, who has logged in as a verifier wants it. */
    readonly sessionUser: string | undefined
    /** `grantHash` of the page. */
    readonly shown: string | undefined
    readonly answer: 'mine' | 'not mine'
  },
): Promise<StartedAttempt> {
  const { store, now, settings } = broker
  const { verifier } = settings
  if (authorization.status !== 'pending') return notStartable(broker, authorization)
  const { id, step, attempt, granted } = authorization
  if (attempt === undefined || granted === undefined) return notStartable(broker, authorization)
  if (browserId === undefined || sha256(browserId) !== attempt.browserHash) {
    await recordRefusal(broker, authorization, 'wrong_browser')
    return { outcome: 'wrong_browser' }
  }
  // as at the click: another user may have logged in since, at this browser
  if (sessionUser !== undefined && sessionUser !== authorization.userId)
    return { outcome: 'finished', authorization: await failAsAnotherUser(broker, authorization) }
  if (shown !== sha256(granted)) return notStartable(broker, authorization)
  // the attempt began before logins were required: the next click requires a login
  if (
    verifier.kind === 'oidc' &&
    openAttemptSecrets(broker, authorization, attempt).loggedInAt !== verifier.issuer
  ) {
    await recordRefusal(broker, authorization, 'login_missing')
    return notStartable(broker, authorization)
  }
  if (answer === 'mine')
    return finishWithGrant(
      broker,
      authorization,
      attempt.stateHash,
      openHeldGrant(broker, authorization, granted).grant,
    )
  const lines = trailLines({
    at: now(),
    step: 'refused',
    part: step,
    details: { reason: 'account_mismatch' },
  })
  const audit = failureAudit(broker, authorization, 'account_mismatch', 'not the account of the user')
  const failed = await store.authorizations.fail(
    id,
    'account_mismatch',
    NOT_MINE,
    now(),
    attempt.stateHash,
    audit,
    lines,
  )
  if (failed === undefined) return notStartable(broker, authorization)
  await revokeHeldGrant(broker, authorization)
  return { outcome: 'finished', authorization: authorizationAt(failed, now()) }
}
