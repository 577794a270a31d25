import type { Broker } from '../../broker.ts'
import type { EpochSeconds } from '../../domain/clock.ts'
import { randomToken, sha256 } from '../../domain/ids.ts'
import { carriedContext } from '../../store/protection.ts'
import { openCarried } from '../carried-seal.ts'
import { openFlowId, type SignedFlow, signFlowId } from '../signed-flow-id.ts'
import { type IdentifiedUser, verifierName } from '../user-session.ts'
import { beginLogin } from './login.ts'
import { type BegunLogin, LOGIN_SECONDS, openLogin, sealLogin } from './login-state.ts'

// A login for a session of the browser, by the same verifier that guards consents: at the issuer, at the caller's page, or,
// in development, by naming a user. The database stores nothing about it. The flow id for the caller's page is signed, and
// the `next_uri` that its confirmation returns is sealed. That URL works only with the cookie of the browser that began the
// login: a stranger who lures a user to the caller's page gets no session.

/** The path on which the browser comes back with the caller's confirmation. */
export const CONFIRMED_PATH = '/login/confirmed'
/** Development's page that asks for a user id. */
export const OPEN_PATH = '/login/open'

/** Whether users can log in: with the verifier `open` only in development, where they name themselves. */
export function canLogIn({ settings: { verifier, development } }: Broker): boolean {
  return verifier.kind !== 'open' || development
}

/** Begins a login after which the browser goes on at `returnTo`. Throws `ProviderRefusal` when the issuer cannot be reached. */
export async function beginSessionLogin(
  broker: Broker,
  {
    projectId,
    returnTo,
    browserId,
    at,
    prompt,
  }: {
    readonly projectId: string
    readonly returnTo: string
    readonly browserId: string
    /** The origin at which the browser is. */
    readonly at: URL
    readonly prompt?: 'login' | undefined
  },
): Promise<BegunLogin> {
  const { verifier } = broker.settings
  const purpose = { session: { projectId, returnTo } }
  if (verifier.kind === 'oidc') return beginLogin(broker, verifier, purpose, { browserId, at, prompt })
  const isOpen = verifier.kind === 'open'
  const state = isOpen ? randomToken() : signFlowId(broker, flowOf(projectId), LOGIN_SECONDS)
  const loginUrl = isOpen ? new URL(OPEN_PATH, at) : new URL(verifier.url)
  loginUrl.searchParams.set(isOpen ? 'state' : 'flow_id', state)
  return { ...sealLogin(broker, { state, browserId, verifier: verifierName(verifier), purpose }), loginUrl }
}

/**
 * Confirms the user of a login at the caller's page, and returns the URL on which the user's browser goes on. `undefined` for
 * the flow of an authorization. Throws `not_found` for the flow of another project, and `authorization_expired`.
 */
export function confirmSessionLogin(
  broker: Broker,
  {
    projectId,
    flowId,
    userId,
  }: { readonly projectId: string; readonly flowId: string; readonly userId: string },
): { readonly id: string; readonly nextUri: string } | undefined {
  const id = openFlowId(broker, flowOf(projectId), flowId, {
    forged: ['not_found', 'There is no such flow. Use the flow_id that this visit of your page was given.'],
    expired: 'This login has expired. The user must begin another one.',
  })
  if (id === undefined) return undefined
  const flowHash = sha256(flowId)
  const confirmed: Confirmed = { userId, expiresAt: broker.now() + LOGIN_SECONDS }
  const url = new URL(CONFIRMED_PATH, broker.settings.publicUrl)
  url.searchParams.set('flow', flowHash)
  url.searchParams.set(
    'confirmation',
    broker.sealer.seal(
      JSON.stringify(confirmed),
      carriedContext('confirmed', { rowId: flowHash, projectId: '' }),
    ),
  )
  return { id, nextUri: url.href }
}

/** The user of a login that was confirmed, and where its browser goes on; `undefined` in any other browser. */
export function finishConfirmedLogin(
  broker: Broker,
  {
    flowHash,
    confirmation,
    ...browser
  }: {
    readonly flowHash: string
    readonly confirmation: string
    readonly browserId: string
    readonly kept: string | undefined
  },
): FinishedLogin | undefined {
  const { verifier } = broker.settings
  if (verifier.kind !== 'caller') return undefined
  const kept = openLogin(broker, { ...browser, stateHash: flowHash, verifier: verifierName(verifier) })
  const confirmed = openConfirmation(broker, flowHash, confirmation)
  if (kept === undefined || !('session' in kept) || confirmed === undefined) return undefined
  const { projectId, returnTo } = kept.session
  return { session: { projectId, userId: confirmed.userId }, returnTo }
}

export interface FinishedLogin {
  readonly session: IdentifiedUser
  readonly returnTo: string
}

/** Development: the user whose id was typed. `undefined` for a login that another browser began. */
export function finishOpenLogin(
  broker: Broker,
  {
    state,
    userId,
    ...browser
  }: {
    readonly state: string
    readonly userId: string
    readonly browserId: string
    readonly kept: string | undefined
  },
): FinishedLogin | undefined {
  const { verifier, development } = broker.settings
  if (verifier.kind !== 'open' || !development) return undefined
  const kept = openLogin(broker, { ...browser, stateHash: sha256(state), verifier: verifierName(verifier) })
  if (kept === undefined || !('session' in kept)) return undefined
  const { projectId, returnTo } = kept.session
  return { session: { projectId, userId }, returnTo }
}

interface Confirmed {
  readonly userId: string
  readonly expiresAt: EpochSeconds
}

function openConfirmation(broker: Broker, flowHash: string, confirmation: string): Confirmed | undefined {
  const confirmed = openCarried<Confirmed>(
    broker.sealer,
    confirmation,
    carriedContext('confirmed', { rowId: flowHash, projectId: '' }),
  )
  return confirmed !== undefined && broker.now() < confirmed.expiresAt ? confirmed : undefined
}

function flowOf(projectId: string): SignedFlow {
  return { prefix: 'login', about: ['session login', projectId] }
}
