import type * as Wire from '../generated/wire.ts'
import type { PendingAuthorization } from './authorization.ts'
import { toAuthorization, toRequired } from './authorizations.ts'
import { AuthorizationRequired, GatepassError } from './errors.ts'
import { hideBehind } from './hidden.ts'
import { isGatepassError } from './is-error.ts'
import type { RequestOptions, Transport } from './transport.ts'

/** A user's access token at a provider. JSON has everything but `value`; logs show the type and the expiry. */
export interface AccessToken {
  /** The token itself. Prefer `gatepass.fetch`, with which no token reaches your process. */
  readonly value: string
  /** As the provider writes it: nearly always `Bearer`, in upper or lower case. */
  readonly type: string
  /** When it expires; `undefined` where the provider does not say. Ask for a token again instead of keeping it. */
  readonly expiresAt: Date | undefined
  /** The scopes that the user has granted. */
  readonly scopes: readonly string[]
  /** What the provider says about the user. */
  readonly userInfo: Readonly<Record<string, unknown>>
}

/** Which of the user's grants the token comes from. */
export interface GrantOptions extends RequestOptions {
  /** The scopes that the token must have. Without them any grant suffices. */
  readonly scopes?: readonly string[] | undefined
  /** Which of the user's accounts: a connection's id, or an account's id or name. The default account when absent. */
  readonly account?: string | undefined
}

export interface ConnectOptions extends Omit<GrantOptions, 'account'> {
  /** Which of the user's accounts: a connection's id, an account's id or name, or `new` to connect one more. */
  readonly account?: string | undefined
  /** Where the browser goes at the end, with `auth_id`, `status` and `reason` added to the query. */
  readonly nextUri?: string | URL | undefined
  /** Values that the provider entry asks users for, such as `{subdomain: 'acme'}`: the connect page then does not ask. */
  readonly variables?: Readonly<Record<string, string>> | undefined
}

/** Requests a user's grant at a provider. The answer has a token if a connection covers the scopes already. */
export function authorize(
  transport: Transport,
  user: string,
  provider: string,
  { scopes, account, nextUri, variables, ...options }: ConnectOptions,
): Promise<Wire.Authorization> {
  return transport.call('authorize', {
    body: {
      user_id: user,
      auth_requirement: { provider_id: provider, variables, ...(scopes && { oauth2: { scopes } }) },
      account,
      next_uri: nextUri?.toString(),
    }, // the same user, provider and scopes share one pending authorization
    options,
  })
}

/** Requests a valid access token. Throws `AuthorizationRequired` when the user must approve first. */
export async function getToken(
  transport: Transport,
  user: string,
  provider: string,
  options: GrantOptions,
): Promise<AccessToken> {
  const wire = await authorize(transport, user, provider, options).catch((error: unknown) => {
    if (!isGatepassError(error) || error.required === undefined) throw error
    const { status, requestId } = error
    throw new AuthorizationRequired(toRequired(transport, error.required), { status, requestId })
  })
  const { token, token_type, expires_at, user_info: userInfo = {} } = wire.context
  if (wire.status === 'pending')
    throw new AuthorizationRequired(toAuthorization(transport, wire) as PendingAuthorization) // as its status says
  if (token === undefined)
    throw new GatepassError('unexpected_answer', `Gatepass answered ${wire.status} without a token.`)
  const expiresAt = expires_at === undefined ? undefined : new Date(expires_at)
  return createToken(token, { type: token_type ?? 'Bearer', expiresAt, scopes: wire.scopes, userInfo })
}

/** Makes `value` not enumerable: JSON, spreading and cloning leave it out. */
function createToken(value: string, visible: Omit<AccessToken, 'value'>): AccessToken {
  const token = { ...visible }
  Object.defineProperty(token, 'value', { value })
  hideBehind(token, `AccessToken(${visible.type}, expires ${visible.expiresAt?.toISOString() ?? 'unknown'})`)
  return token as AccessToken // `value` is defined above
}
