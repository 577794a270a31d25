import type { AttemptSecrets } from '../../domain/authorization.ts'
import type { Clock } from '../../domain/clock.ts'
import { sha256 } from '../../domain/ids.ts'
import { type Outgoing, OutgoingError, type OutgoingRequest } from '../../egress/outgoing.ts'
import { holdsSecret, membersForTools, withoutSecrets } from '../extra-members.ts'
import { accountOf, type Grant, readGrant } from '../grant.ts'
import { authorizationRequestIn, tokenRequestIn } from '../provider-endpoints.ts'
import type { RegisteredClient } from '../provider-entry.ts'
import { ProviderRefusal, refusalOf, retryAfterSeconds } from '../provider-refusal.ts'
import { templateValues } from '../provider-request.ts'
import type { RequestBlock } from '../request-block.ts'
import { type Members, readMembers } from '../response-body.ts'
import { renderParams } from '../template.ts'
import { readUserInfo, TokenResponseFault } from '../token-response.ts'
import { signingKeys } from './keys.ts'
import { OAUTH1_TOKEN_TYPE, type TemporaryCredentials } from './settings.ts'
import { type SigningKeys, signedAuthorization } from './signature.ts'

// The client side of OAuth 1.0a (RFC 5849 section 2).

const USER_INFO_DEADLINE_MS = 4_000

type Guard = Pick<OutgoingRequest, 'isStillWanted' | 'signal'>

interface BeginOptions {
  readonly state: string
  readonly scopes: readonly string[]
  readonly now: Clock
}

/**
 * Obtains temporary credentials (RFC 5849 section 2.1), and returns the URL where the user approves (section 2.2). Throws
 * `ProviderRefusal`, also for a server that does not confirm the callback.
 */
export async function beginOAuth1(
  outgoing: Outgoing,
  registered: RegisteredClient,
  { state, scopes, now }: BeginOptions,
): Promise<{ readonly url: URL; readonly temporary: TemporaryCredentials }> {
  const { provider, client, redirectUri } = registered
  const { temporaryRequest: block } = provider
  if (block === undefined) throw new Error(`${provider.displayName} has no request for temporary credentials`)
  const callback = new URL(redirectUri)
  if (provider.oauth1?.fixedCallback !== true) callback.searchParams.set('state', state)
  const values = { ...templateValues(registered), scopes }
  const { token, secret, members } = await askForToken(outgoing, registered, {
    block: { ...block, params: renderParams(block.params, values) },
    keys: signingKeys(provider, client),
    protocol: { oauth_callback: callback.href },
    purpose: 'temporary',
    now,
  })
  // without the confirmation a stranger's approval could be tied to this user: session fixation in OAuth 1.0
  if (members.oauth_callback_confirmed !== 'true')
    throw new ProviderRefusal(
      'provider_bad_response',
      `${provider.displayName} did not confirm the callback (oauth_callback_confirmed), so its answer was not used: it speaks OAuth 1.0, and not 1.0a.`,
    )
  const { endpoint, params } = authorizationRequestIn(provider)
  const url = new URL(endpoint)
  for (const [name, value] of Object.entries(renderParams(params, values))) url.searchParams.set(name, value)
  url.searchParams.set('oauth_token', token)
  return { url, temporary: { tokenHash: sha256(token), secret } }
}

/** Exchanges the verifier for the token (RFC 5849 section 2.3). Throws `ProviderRefusal`. */
export async function redeemOAuth1(
  outgoing: Outgoing,
  registered: RegisteredClient,
  response: URLSearchParams,
  {
    secrets,
    guard,
    now,
  }: { readonly secrets: AttemptSecrets; readonly guard?: Guard | undefined; readonly now: Clock },
): Promise<Grant> {
  const { provider, client } = registered
  const [temporary, ...others] = response.getAll('oauth_token')
  const expected = secrets.temporary
  if (
    expected === undefined ||
    temporary === undefined ||
    others.length > 0 ||
    sha256(temporary) !== expected.tokenHash
  )
    throw new ProviderRefusal(
      'provider_bad_response',
      `${provider.displayName} sent you back with the token of another request, so it was not used. Start again from your application.`,
    )
  const block = tokenRequestIn(provider)
  const { token, secret, members } = await askForToken(outgoing, registered, {
    block: { ...block, params: renderParams(block.params, templateValues(registered)) },
    keys: signingKeys(provider, client, { token: temporary, tokenSecret: expected.secret }),
    protocol: { oauth_verifier: response.get('code') ?? '' },
    purpose: 'exchange',
    guard,
    now,
  })
  const extra = membersForTools(members, [token, ...secretsOf(secret, client.clientSecret)], 0)
  const tokens = { access_token: token, token_type: OAUTH1_TOKEN_TYPE }
  const grant = { ...readGrant(registered, { tokens, claims: undefined, extra }), tokenSecret: secret }
  const told = await askForUserInfo(outgoing, registered, { token, tokenSecret: secret }, now)
  const userInfo = told && withoutSecrets(told, [token, ...secretsOf(client.clientSecret, secret)])
  return userInfo === undefined ? grant : { ...grant, userInfo, account: accountOf(provider, userInfo) }
}

type TokenAsk = {
  readonly block: Pick<RequestBlock, 'endpoint' | 'method' | 'params'>
  readonly keys: SigningKeys
  readonly protocol: Readonly<Record<string, string>>
  readonly purpose: 'temporary' | 'exchange'
  readonly guard?: Guard | undefined
  readonly now: Clock
}

/** Sends a signed request for a token and its secret, which the answer has as a form. */
async function askForToken(
  outgoing: Outgoing,
  { provider, client }: RegisteredClient,
  { block, keys, protocol, purpose, guard, now }: TokenAsk,
): Promise<{ readonly token: string; readonly secret: string; readonly members: Members }> {
  const { displayName } = provider
  let status = 0
  let retryAfter: number | undefined
  try {
    const response = await outgoing.send({ ...signedRequest(block, keys, protocol, now), purpose, ...guard })
    status = response.status
    retryAfter = retryAfterSeconds(response.headers['retry-after'], now())
    const members = readMembers(
      response.body,
      response.headers['content-type'],
      'application/x-www-form-urlencoded',
    )
    if (status < 200 || status > 299)
      throw new Refused(codeOf(status, members, secretsOf(keys.clientSecret, keys.tokenSecret)))
    const { oauth_token: token, oauth_token_secret: secret } = members ?? {}
    if (!isVisible(token) || typeof secret !== 'string')
      throw new TokenResponseFault('no oauth_token with its oauth_token_secret')
    return { token, secret, members: members ?? {} }
  } catch (error) {
    if (error instanceof Refused)
      throw refusalOf(
        displayName,
        { code: error.code },
        { status, retryAfter, asked: ASKED[purpose], cause: error },
      )
    if (error instanceof OutgoingError || error instanceof TokenResponseFault)
      throw refusalOf(
        displayName,
        {},
        { status, retryAfter, asked: ASKED[purpose], fault: error, cause: error },
      )
    // an RSA key that cannot be read; its parser's words may quote it
    if (keys.signatureMethod === 'RSA-SHA1' && client.clientSecret !== undefined)
      throw new ProviderRefusal(
        'invalid_client',
        `The client secret of ${displayName} is no RSA key in PEM, which RSA-SHA1 needs.`,
      )
    throw error
  }
}

const ASKED = { temporary: 'temporary token', exchange: 'token' } as const

function secretsOf(...texts: readonly (string | undefined)[]): string[] {
  return texts.flatMap((text) => (text ? [text] : []))
}

class Refused extends Error {
  readonly code: string
  constructor(code: string) {
    super(code)
    this.code = code
  }
}

/** Our code for a refusal: the server's `oauth_problem` where it is a name and repeats no secret, else the status. */
function codeOf(status: number, members: Members | undefined, secrets: readonly string[]): string {
  const problem = members?.oauth_problem
  const isName = typeof problem === 'string' && /^[a-z_]{1,60}$/.test(problem)
  if (!isName || holdsSecret(problem, secrets)) return status === 401 ? 'invalid_client' : `HTTP ${status}`
  return /^(?:consumer_key|signature)_/.test(problem) ? 'invalid_client' : problem
}

function signedRequest(
  { endpoint, method, params }: TokenAsk['block'],
  keys: SigningKeys,
  protocol: Readonly<Record<string, string>>,
  now: Clock,
): OutgoingRequest {
  const url = new URL(endpoint)
  const isGet = method === 'GET'
  if (isGet) for (const [name, value] of Object.entries(params)) url.searchParams.set(name, value)
  const body = isGet || Object.keys(params).length === 0 ? undefined : new URLSearchParams(params).toString()
  const form = body === undefined ? undefined : Buffer.from(body)
  return {
    url,
    method,
    headers: {
      accept: 'application/x-www-form-urlencoded, application/json;q=0.9, */*;q=0.1',
      'user-agent': 'gatepass',
      authorization: signedAuthorization(keys, { method, url, form, protocol }, now()),
      ...(body === undefined
        ? method !== 'GET' && { 'content-length': '0' }
        : { 'content-type': 'application/x-www-form-urlencoded' }),
    },
    body,
  }
}

/** A failure gives `undefined`, since the grant is valid nevertheless. */
async function askForUserInfo(
  outgoing: Outgoing,
  { provider, client }: RegisteredClient,
  token: Pick<SigningKeys, 'token' | 'tokenSecret'>,
  now: Clock,
): Promise<Record<string, unknown> | undefined> {
  const block = provider.userInfoRequest
  if (block === undefined) return undefined
  try {
    const request = signedRequest(block, signingKeys(provider, client, token), {}, now)
    const headers = { ...request.headers, ...block.headers, accept: 'application/json' }
    const response = await outgoing.send({
      ...request,
      headers,
      purpose: 'resource',
      deadlineMs: USER_INFO_DEADLINE_MS,
    })
    return response.status >= 200 && response.status <= 299 ? readUserInfo(response.body, block) : undefined
  } catch (error) {
    if (error instanceof OutgoingError || error instanceof TokenResponseFault) return undefined
    throw error
  }
}

function isVisible(text: unknown): text is string {
  return typeof text === 'string' && /^[\x21-\x7e]+$/.test(text)
}
