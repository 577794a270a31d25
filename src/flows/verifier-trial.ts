import type { Broker } from '../broker.ts'
import { isConfidential } from '../domain/confidential-url.ts'
import { BrokerError, invalidMember } from '../domain/errors.ts'
import { openFlowId, type SignedFlow, signFlowId } from './signed-flow-id.ts'

// A trial of a caller's verifier page without an authorization. The trial is not stored: its signed flow id contains all
// that is needed. Confirming it grants nothing, since there is no code to redeem.

const LIFE_SECONDS = 600

/**
 * Begins a trial of the page at this URL. `flowId`: what `confirm_user` accepts from this project for this user, for ten
 * minutes. Throws `set_by_operator` if the installation uses no such page, and `invalid_request` for the URL.
 */
export function beginTrial(
  broker: Broker,
  projectId: string,
  userId: string,
  verifierUrl: string,
): { readonly flowId: string; readonly nextUri: string } {
  const { verifier, development } = broker.settings
  if (verifier.kind === 'oidc')
    throw new BrokerError(
      'set_by_operator',
      `This installation uses no verifier page: users log in at ${verifier.issuer}.`,
    )
  const url = checkedUrl(verifierUrl, development)
  const flowId = signFlowId(broker, flowOf(projectId, userId), LIFE_SECONDS)
  url.searchParams.set('flow_id', flowId)
  return { flowId, nextUri: url.href }
}

/** Accepts the same URLs as GATEPASS_USER_VERIFIER. Throws `invalid_request`. */
function checkedUrl(text: string, development: boolean): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isPlain =
    url !== undefined && url.username === '' && url.password === '' && url.search === '' && url.hash === ''
  if (!isPlain || !isConfidential(url, development))
    throw invalidMember(
      'verifier_url',
      'invalid',
      'verifier_url must be an https URL (http for a loopback host) without credentials, query, or fragment.',
    )
  return url
}

/**
 * Confirms a trial by this user; `undefined` for any other flow. Throws `user_mismatch` if the trial was begun for another
 * user or in another project, and `authorization_expired`.
 */
export function confirmTrial(
  broker: Broker,
  {
    projectId,
    flowId,
    userId,
  }: { readonly projectId: string; readonly flowId: string; readonly userId: string },
): { readonly id: string; readonly nextUri: string } | undefined {
  const id = openFlowId(broker, flowOf(projectId, userId), flowId, {
    forged: ['user_mismatch', 'The user who came back is not the user this trial was begun for.'],
    expired: 'This trial of the verifier page has expired. Begin another one.',
  })
  return id === undefined ? undefined : { id, nextUri: broker.settings.publicUrl.href }
}

function flowOf(projectId: string, userId: string): SignedFlow {
  return { prefix: 'trial', about: ['verifier trial', projectId, userId] }
}
