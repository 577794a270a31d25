// Why an authorization or a connection does not work: for each cause one sentence, what to change, and who can do that.
// `explain`, the pages at the end of an authorization and `gatepass doctor` take the sentences from this table.

export const CAUSE_ACTORS = ['user', 'operator', 'tool_author'] as const
/** Who can remove the cause: the user who approves, the operator of Gatepass, or the author of the tool. */
export type CauseActor = (typeof CAUSE_ACTORS)[number]

/** The facts that the sentences of the table may insert. */
export interface CauseParameters {
  /** The provider's display name, and the id of its entry. */
  readonly provider: string
  readonly providerId: string
  /** The redirect URI to register. */
  readonly redirectUri: string
  readonly requester?: string | undefined
  readonly scopes: readonly string[]
  readonly missingScopes: readonly string[]
  /** How the client authenticates, as the entry says. */
  readonly authentication: string
  /** When the client secret expired that the provider issued when Gatepass registered the client. */
  readonly secretExpiredAt?: string | undefined
  /** The entry was made for an MCP server, at which Gatepass may have registered the client. */
  readonly isOfMcpServer?: boolean
  /** The grant by which the client asks for tokens itself; absent where users approve. */
  readonly grant?: string | undefined
  /** The PKCE method of the entry. */
  readonly pkce: string
  /** Seconds by which the clock of Gatepass is ahead of the provider's; negative: behind. */
  readonly clockDifference?: number | undefined
  /** The refused claim of the ID token. */
  readonly claim?: string | undefined
  readonly account?: string | undefined
  readonly previousAccount?: string | undefined
  /** The display name of the provider whose token is exchanged. */
  readonly subject?: string | undefined
}

interface CauseText {
  readonly who: CauseActor
  readonly message: string | ((facts: CauseParameters) => string)
  readonly toDo: string | ((facts: CauseParameters) => string)
}

/** What is encoded is in `client-authentication.ts`. */
const UNENCODED =
  ' If the client id or the secret has a space, one of %, + and :, or a character beyond ASCII, try client_secret_basic_unencoded: not all servers decode these.'

const AGAIN = 'Ask for a new link and approve once more.'

const TABLE = {
  // before the provider
  link_not_opened: {
    who: 'user',
    message: 'The link was not opened.',
    toDo: 'Make sure that the link reaches the user, who must open it before it expires.',
  },
  link_not_clicked: {
    who: 'user',
    message: 'The link was opened, but the user did not continue from its page to the provider.',
    toDo: 'Open the link and click “Continue”.',
  },
  login_not_finished: {
    who: 'user',
    message: 'The user did not finish the login that comes before the provider.',
    toDo: 'Open the link again and log in as the user it was made for.',
  },

  // at the provider
  at_provider: {
    who: 'user',
    message: ({ provider }) => `The user was sent to ${provider} a moment ago and has not come back yet.`,
    toDo: ({ provider }) => `Wait until the user has approved or refused at ${provider}.`,
  },
  redirect_uri_not_registered: {
    who: 'operator',
    message: ({ provider, redirectUri }) =>
      `${provider} does not send users back to ${redirectUri}. Most likely this redirect URI is not registered there, and ${provider} shows an error page instead.`,
    toDo: ({ provider, providerId, redirectUri }) =>
      `At ${provider}, register exactly ${redirectUri} as a redirect URI of the client. If it is registered, compare the client id of the entry "${providerId}" with the one there. If that matches too, the user left the page of ${provider}.`,
  },
  left_at_provider: {
    who: 'user',
    message: ({ provider }) =>
      `The user was sent to ${provider} and did not come back. Others have come back through the same entry, so most likely this user left the page there.`,
    toDo: ({ provider, redirectUri }) =>
      `${AGAIN} If ${provider} shows an error page, register exactly ${redirectUri} as a redirect URI there.`,
  },
  code_not_entered: {
    who: 'user',
    message: ({ provider }) => `The user was shown a code, which was not entered at ${provider}.`,
    toDo: ({ provider }) =>
      `Open the link and enter its code at ${provider} before it expires. If the link has ended, ask for a new one.`,
  },
  account_not_confirmed: {
    who: 'user',
    message: ({ provider }) =>
      `The code was entered at ${provider}, but the user did not answer on our page whether the account is theirs.`,
    toDo: 'Go back to the page that showed the code and answer there. If the link has ended, ask for a new one.',
  },
  access_denied: {
    who: 'user',
    message: ({ provider }) =>
      `Access was refused at ${provider}, by the user or by a rule of their organization.`,
    toDo: ({ provider }) =>
      `${AGAIN} If the user did not refuse, an administrator of their organization at ${provider} must permit the client.`,
  },
  cancelled: {
    who: 'user',
    message: 'The user canceled on the connect page.',
    toDo: 'Nothing was stored. If the user did not mean to cancel, ask for a new link.',
  },
  client_not_accepted: {
    who: 'operator',
    message: ({ provider }) =>
      `${provider} does not accept the client id, or does not accept it for this kind of request.`,
    toDo: ({ provider, providerId, authentication, isOfMcpServer, grant }) =>
      `Compare client_id of the entry "${providerId}" with the client at ${provider}, and check that the client there may use ${grant === undefined ? 'the authorization code flow' : `the grant ${grant}`}. If ${provider} refuses the token request, it may expect the client to authenticate in a way other than ${authentication}: change oauth2.token_request.auth_method.${isOfMcpServer ? registersAgain(providerId) : ''}`,
  },
  pkce_refused: {
    who: 'operator',
    message: ({ provider, pkce }) =>
      `${provider} did not accept how the request uses PKCE (RFC 7636). The entry says ${pkce}.`,
    toDo: ({ provider, providerId }) =>
      `Set oauth2.pkce of the entry "${providerId}" to what ${provider} accepts: {"enabled": true, "code_challenge_method": "S256"}, "plain", or {"enabled": false}.`,
  },
  scope_refused: {
    who: 'tool_author',
    message: ({ provider, scopes }) =>
      `${provider} does not grant one of the scopes that were requested${scopes.length > 0 ? ` (${scopes.join(' ')})` : ''}.`,
    toDo: ({ provider, requester, grant }) =>
      `Compare the scopes that ${requester ?? 'the tool'} asks for with those in ${provider}'s documentation, letter for letter. Some must first be enabled for the client at ${provider}.${grant === undefined ? '' : ' No user is asked, so the client there needs each scope itself.'}`,
  },
  provider_down: {
    who: 'user',
    message: ({ provider }) => `${provider} could not be reached or is having problems of its own.`,
    toDo: ({ provider, providerId }) =>
      `Try again in a few minutes. If that does not help, look at the status page of ${provider}, and run gatepass doctor: it says whether the endpoints of the entry "${providerId}" can be reached from here.`,
  },
  provider_limits_requests: {
    who: 'user',
    message: ({ provider }) => `${provider} limits the number of requests and refused this one (429).`,
    toDo: 'Wait a few minutes and try again. If it happens often, ask the provider for a higher limit.',
  },
  provider_paused: {
    who: 'user',
    message: ({ provider }) =>
      `${provider} failed or refused so many requests that Gatepass has stopped sending it requests for a while.`,
    toDo: 'Wait a few minutes. Gatepass then sends requests again.',
  },
  request_refused: {
    who: 'operator',
    message: ({ provider }) => `${provider} refused the request.`,
    toDo: ({ provider, providerId }) =>
      `Compare the entry "${providerId}" with ${provider}'s documentation. The error code and message of ${provider} say what is wrong.`,
  },
  wrong_issuer: {
    who: 'operator',
    message: ({ provider }) =>
      `The response names an issuer other than that of ${provider}, so it was not used.`,
    toDo: ({ providerId }) =>
      `If oauth2.issuer of the entry "${providerId}" is not what the server calls itself, set it to that. Otherwise this may be an attack that mixes up the responses of two servers (RFC 9700 section 4.4): do not continue.`,
  },
  unusable_answer: {
    who: 'operator',
    message: ({ provider }) => `${provider} sent a response that cannot be used.`,
    toDo: ({ provider, providerId }) =>
      `Compare the endpoints and the response map of the entry "${providerId}" with ${provider}'s documentation.`,
  },

  // the user and the browser
  other_browser: {
    who: 'user',
    message: 'The response arrived in a different browser from the one in which the user clicked.',
    toDo: 'Continue in the browser in which “Continue” was clicked, or open the link again and start there.',
  },
  wrong_user: {
    who: 'user',
    message: 'A different user came back from the one the link was made for.',
    toDo: 'Ask for a new link, and open it while logged in as the user it is for.',
  },
  user_not_confirmed: {
    who: 'operator',
    message: 'The user approved, but your application did not confirm who the user is.',
    toDo: 'Make sure that the page of GATEPASS_USER_VERIFIER calls POST /v1/auth/confirm_user with the flow_id it is given, and redirects the browser to the next_uri in the answer.',
  },
  not_sent_on: {
    who: 'operator',
    message:
      'Your application confirmed the user, but the browser did not come back from its page to Gatepass.',
    toDo: 'Make sure that the page of GATEPASS_USER_VERIFIER immediately redirects the same browser to the next_uri in the answer of confirm_user.',
  },

  // the code exchange and refreshes
  client_missing: {
    who: 'operator',
    message: ({ providerId }) => `The entry "${providerId}" has no client id or no client secret.`,
    toDo: ({ provider, providerId, redirectUri, grant }) =>
      `${grant === undefined ? `Register ${redirectUri} as the redirect URI at ${provider}, and set` : `Register a client at ${provider}, and set`} client_id and client_secret of the entry "${providerId}" to what you get there: gatepass providers set ${providerId}`,
  },
  wrong_client_secret: {
    who: 'operator',
    message: ({ provider, secretExpiredAt }) =>
      secretExpiredAt === undefined
        ? `${provider} refused the client. Most likely the client secret is wrong.`
        : `${provider} refused the client: the secret that it gave Gatepass at the registration expired at ${secretExpiredAt}.`,
    toDo: ({ provider, providerId, authentication, isOfMcpServer, grant }) =>
      grant === 'jwt_bearer' && authentication === 'none'
        ? `The client is known by its assertion alone: compare client_id and assertion.issuer of the entry "${providerId}", and its key, with the client at ${provider}. A new key: gatepass providers set ${providerId}`
        : `Set client_secret of the entry "${providerId}" to the one that ${provider} shows for this client. If it is right, ${provider} may expect it in a way other than ${authentication}: change oauth2.token_request.auth_method.${authentication === 'client_secret_basic' ? UNENCODED : ''}${isOfMcpServer ? registersAgain(providerId) : ''}`,
  },
  subject_not_connected: {
    who: 'user',
    message: ({ provider, subject = 'another provider' }) =>
      `The token of ${provider} is exchanged for that of the user's connection to ${subject}, and that connection does not work.`,
    toDo: ({ subject = 'it' }) =>
      `The user connects ${subject} again: the next use of the tool answers its link. The explanation of the connection to ${subject} says why it does not work.`,
  },
  machine_grant_refused: {
    who: 'operator',
    message: ({ provider, grant, clockDifference }) =>
      `${provider} gives the client no token${grant === undefined ? '' : ` by the grant ${grant}`}.${differenceOf(provider, clockDifference)}`,
    toDo: ({ provider, providerId, grant }) =>
      grant === 'jwt_bearer'
        ? `Compare the entry "${providerId}" with ${provider}: its key (client_secret) must belong to the client or account there, key_id, issuer, subject and audience of oauth2.assertion must be those that ${provider} expects, and the clock of the machine that Gatepass runs on must be right, because each assertion has the time. Some services want an administrator, or the user who is named as the subject, to approve the client once (consent_required).`
        : `Compare the client, the variables and oauth2.token_request.params of the entry "${providerId}" with those at ${provider}, and check that the client there is active and may use this grant.`,
  },
  code_not_accepted: {
    who: 'user',
    message: ({ provider }) =>
      `${provider} did not accept the code that it had just issued: the code had expired, had been used before, or was issued for another redirect URI or code challenge.`,
    toDo: ({ providerId }) =>
      `${AGAIN} If it happens each time, compare oauth2.pkce and the client of the entry "${providerId}" with the provider's documentation.`,
  },
  clock_skew: {
    who: 'operator',
    message: ({ provider, claim, clockDifference }) =>
      `A clock is wrong: according to the clock of Gatepass, the ID token of ${provider} is not valid now${claim === undefined ? '' : ` (its claim "${claim}")`}.${differenceOf(provider, clockDifference)}`,
    toDo: 'Set the clock of the machine that Gatepass runs on with NTP. If it is right, the clock of the provider is wrong.',
  },
  dpop_proof_refused: {
    who: 'operator',
    message: ({ provider, clockDifference }) =>
      `${provider} refused the proof of the key that its tokens are bound to (DPoP).${differenceOf(provider, clockDifference)}`,
    toDo: ({ provider, providerId }) =>
      `Set the clock of the machine that Gatepass runs on with NTP, because each proof has the time. If it is right, compare oauth2.dpop.algorithm of the entry "${providerId}" with those that ${provider} accepts (dpop_signing_alg_values_supported of its metadata).`,
  },
  id_token_refused: {
    who: 'operator',
    message: ({ provider, claim }) =>
      `The ID token of ${provider} does not match the request${claim === undefined ? '' : ` (its claim "${claim}")`}, so nothing was stored.`,
    toDo: ({ providerId }) =>
      `Compare oauth2.issuer and client_id of the entry "${providerId}" with what the provider puts into its ID tokens.`,
  },
  host_not_allowed: {
    who: 'operator',
    message: ({ provider }) => `The endpoint of ${provider} may not be reached from here.`,
    toDo: 'If the host is yours, list it in GATEPASS_ALLOWED_HOSTS.',
  },
  wrong_account: {
    who: 'user',
    message: ({ provider }) => `A different account of ${provider} approved from the one that was requested.`,
    toDo: ({ provider }) =>
      `Ask for a new link, and choose the right account at ${provider}. If it does not ask which one, log out there first.`,
  },
  nothing_to_choose: {
    who: 'user',
    message: ({ provider }) =>
      `${provider} lists no account, site or organization that the approval covers, and a connection is for one of them.`,
    toDo: ({ provider }) =>
      `Have one added to the user's account at ${provider}, and select it there while approving. Then ask for a new link. If the user has one, compare oauth2.choices_request and the patterns of oauth2.kept_values with what ${provider} answers.`,
  },
  not_chosen: {
    who: 'user',
    message: ({ provider }) =>
      `The user approved at ${provider}. Our page then asked which account to connect, and was not answered.`,
    toDo: 'Open the link in the same browser and answer there. If it has ended, ask for a new one.',
  },
  entry_changed: {
    who: 'user',
    message: ({ provider }) =>
      `The entry of ${provider} was changed, switched off, or removed before the user came back, so the approval was not used.`,
    toDo: AGAIN,
  },
  own_fault: {
    who: 'operator',
    message: 'Something went wrong in Gatepass itself.',
    toDo: 'Look at the server log at the time of the last step, then ask for a new link.',
  },

  // after a completed authorization
  scopes_withheld: {
    who: 'user',
    message: ({ provider, missingScopes }) => `${provider} did not grant ${missingScopes.join(' ')}.`,
    toDo: ({ provider }) =>
      `Approve again and leave these permissions selected. If ${provider} did not offer them, they must be enabled for the client or the account there.`,
  },
  account_changed: {
    who: 'user',
    message: ({ account, previousAccount }) =>
      `A different account approved (${account ?? 'unnamed'}) from the one that was connected before (${previousAccount ?? 'unnamed'}). Both are connected, and the new one is the default.`,
    toDo: 'If that was not intended, make the previous connection the default again (PATCH /v1/connections/{id}) or delete the new one.',
  },

  // connections
  consent_withdrawn: {
    who: 'user',
    message: ({ provider }) => `Access was revoked at ${provider}, by the user or an administrator.`,
    toDo: AGAIN,
  },
  refresh_token_expired: {
    who: 'user',
    message: ({ provider }) => `The refresh token of ${provider} has expired.`,
    toDo: ({ provider }) =>
      `${AGAIN} If it expires again soon, check ${provider}'s documentation for how long refresh tokens live and what keeps them alive. A client in test mode often has a shorter lifetime.`,
  },
  refresh_token_used_twice: {
    who: 'operator',
    message: ({ provider }) =>
      `${provider} issues a new refresh token with each refresh, and it received one that had been used before.`,
    toDo: `${AGAIN} This happens when a response is lost on the way, or when two installations use the same tokens, such as a restored backup alongside the original. Make sure that only one of them runs.`,
  },
  grant_refused: {
    who: 'user',
    message: ({ provider }) =>
      `${provider} no longer honors the grant, and does not say why: it was revoked there, has expired, or its refresh token was used elsewhere.`,
    toDo: AGAIN,
  },
  no_refresh_token: {
    who: 'operator',
    message: ({ provider }) =>
      `The access token has expired, and ${provider} issued no refresh token to renew it.`,
    toDo: ({ provider, providerId }) =>
      `Have the user approve again. To make it last, request offline access from ${provider} in the entry "${providerId}", with the scope or parameter that its documentation names (offline_access, access_type=offline).`,
  },
  endpoints_changed: {
    who: 'user',
    message: ({ provider, grant }) =>
      grant !== undefined
        ? `The entry of ${provider} has changed since these tokens were asked for, so they are not used: the next use asks again.`
        : `The entry of ${provider} has a different client, different endpoints or another setting of oauth2.dpop from those that the user approved, so the tokens are not used.`,
    toDo: `${AGAIN} An administrator who changed the entry on purpose can keep the connections by saying so with the change.`,
  },
  credential_refused: {
    who: 'user',
    message: ({ provider }) => `${provider} no longer accepts the key or password that the user typed.`,
    toDo: 'Ask for a new link and type a valid one.',
  },
  shared_connection_unusable: {
    who: 'operator',
    message: ({ provider }) =>
      `No connection of the project to ${provider} works: there is none, ${provider} refused it, or its entry has other endpoints now.`,
    toDo: 'Look at gatepass connections shared. Replace a key: PATCH /v1/admin/connections/{id} {"fields": …}. Where the client asks for tokens without a user, POST /v1/admin/connections/{id}/test asks again.',
  },
  installation_removed: {
    who: 'user',
    message: ({ provider }) =>
      `The installation at ${provider} was removed or suspended, so no token is issued for it.`,
    toDo: ({ provider }) =>
      `Install the client at ${provider} again, or end the suspension there; then ask for a new link.`,
  },
  refreshed_as_another: {
    who: 'user',
    message: ({ provider }) => `A refresh at ${provider} answered with the tokens of another account.`,
    toDo: AGAIN,
  },
  tokens_unreadable: {
    who: 'operator',
    message: 'The stored tokens were altered in the database, so they cannot be decrypted.',
    toDo: `${AGAIN} The log and the audit trail (envelope.unreadable) name the row: find out who wrote to the database.`,
  },
} as const satisfies Record<string, CauseText>

export type CauseCode = keyof typeof TABLE
export const CAUSE_CODES = Object.keys(TABLE) as [CauseCode, ...CauseCode[]]

/** A cause in words. */
export interface Cause {
  readonly code: CauseCode
  readonly message: string
  readonly toDo: string
  readonly who: CauseActor
}

/** The cause with the sentences of the table, in which the facts are inserted. */
export function causeOf(code: CauseCode, facts: CauseParameters): Cause {
  const { who, message, toDo }: CauseText = TABLE[code]
  const said = (words: CauseText['message']) => (typeof words === 'string' ? words : words(facts))
  return { code, message: said(message), toDo: said(toDo), who }
}

function registersAgain(providerId: string): string {
  return ` If Gatepass registered the client itself, delete the entry (DELETE /v1/admin/auth_providers/${providerId}): Gatepass registers again when the MCP server next asks for an authorization, and users approve again.`
}

function differenceOf(provider: string, seconds: number | undefined): string {
  if (seconds === undefined) return ''
  return ` The clock of Gatepass is ${Math.abs(seconds)} seconds ${seconds > 0 ? 'ahead of' : 'behind'} that of ${provider}.`
}
