import { z } from 'zod'
import { invalidMember } from '../../domain/errors.ts'
import { signsGrants } from '../client-key.ts'
import { GRANT_TYPES, type GrantSettings, OWNER_KINDS, type Provider } from '../provider.ts'
import { isDeviceGrant, isInstalled, isUserless, ownerOfGrant } from '../provider-grant.ts'
import type { TokenRequestBlock } from '../request-block.ts'
import { readSubject, subjectAnswer, subjectInput } from './exchange-subject.ts'
import { memberOf } from './member.ts'
import type { OAuth2Context } from './requests.ts'

// How a credential is obtained, and whose it is.

const CODE = 'authorization_code'

const grantInput = z
  .object({ type: z.enum([CODE, ...GRANT_TYPES]), subject: subjectInput })
  .nullish()
  .meta({
    description:
      "Beyond Arcade: how tokens are obtained. `authorization_code`, the default: a user approves in a browser. `client_credentials` (RFC 6749 section 4.4), `account_credentials` (Zoom): the client asks for them without a user, so there is no `authorize_request`. `jwt_bearer` (RFC 7523 section 2.1): the same with a JWT that the client signs (`assertion`). `token_exchange` (RFC 8693): the client exchanges a token of the user's connection to another entry (`subject`). `device_code` (RFC 8628): the user enters a code at the provider (`device_authorization_request`), without `authorize_request`. `installation` (GitHub Apps): a user approves and chooses one of their installations of the client, and the client asks for its tokens (`installations_request`, `installation_token_request`).",
    example: { type: 'client_credentials' },
  })

const ownerInput = z.enum(OWNER_KINDS).nullish().meta({
  description:
    "Whose connections the entry may have: `user`, each user's own; `project`, those that an administrator makes for all or some users; `either`. Default: `project` for grants without a user, else `user`.",
})

const ownerInOAuth2 = ownerInput.meta({
  description: 'The same as `owner` beside `oauth2`, where answers have it.',
})

/** `owner` of an entry and of a definition file. */
export const OWNER = { input: ownerInput, answer: z.enum(OWNER_KINDS) } as const

export const GRANT_SETTINGS = {
  grant: memberOf<Provider, OAuth2Context>()({
    create: grantInput,
    change: grantInput,
    answer: z.object({ type: z.enum(GRANT_TYPES), subject: subjectAnswer.optional() }).optional(),
    read: (sent, { base }) => ({ grant: readGrant(sent, base?.grant) }),
    write: ({ grant }) =>
      grant && { type: grant.type, ...(grant.subject && { subject: { ...grant.subject } }) },
  }),
  owner: memberOf<Provider, OAuth2Context>()({
    create: ownerInOAuth2,
    change: ownerInOAuth2,
  }),
}

/** Parameters of the token request that a code has, which the catalogue writes out. */
const OF_CODE = ['grant_type', 'redirect_uri', 'code', 'code_verifier']

/** Where no code comes back by a redirect: the provider without what its token request says of a code. */
export function withoutCode(provider: Provider): Provider {
  const { tokenRequest } = provider
  if (!(isUserless(provider) || isDeviceGrant(provider)) || tokenRequest === undefined) return provider
  const params = Object.entries(tokenRequest.params).filter(([name]) => !OF_CODE.includes(name))
  const authMethod = signsGrants(provider) ? assertionAuth(tokenRequest) : tokenRequest.authMethod
  return { ...provider, tokenRequest: { ...tokenRequest, authMethod, params: Object.fromEntries(params) } }
}

/** The assertion names the client, whose secret is a key; it authenticates by that key or not at all. */
function assertionAuth({ authMethod }: TokenRequestBlock): TokenRequestBlock['authMethod'] {
  return authMethod === 'private_key_jwt' ? authMethod : 'none'
}

/** With a grant without a user the client has to authenticate, and no user arrives. Throws `invalid_request`. */
export function checkUserless(provider: Provider): void {
  if (!isUserless(provider) && !isInstalled(provider)) return
  if (isUserless(provider) && provider.installation !== undefined)
    throw invalidMember(
      'oauth2.installation',
      'conflict',
      `oauth2.installation has no use: with the grant ${provider.grant?.type} no user takes part.`,
    )
  if (provider.publicClients === true)
    throw invalidMember(
      'oauth2.public_clients',
      'conflict',
      `oauth2.public_clients cannot be true: with the grant ${provider.grant?.type} the client has to authenticate.`,
    )
}

/** The grant that a request names; that of a code is none. */
export function readGrant(
  sent: z.output<typeof grantInput>,
  before: GrantSettings | undefined,
): GrantSettings | undefined {
  if (sent === undefined) return before
  const { type, subject } = sent ?? { type: CODE }
  if (type === 'token_exchange') return { type, subject: readSubject(subject) }
  if (subject != null)
    throw invalidMember(
      'oauth2.grant.subject',
      'conflict',
      `oauth2.grant.subject has no use with the grant ${type}: only token_exchange exchanges a token.`,
    )
  return type === CODE ? undefined : { type }
}

type OwnerSent = z.output<typeof ownerInput>

/**
 * Sets whose connections the entry has, which a request may say in either of two places. Throws `invalid_request` where
 * the two differ, and where the grant leaves no choice.
 */
export function withOwner(
  provider: Provider,
  {
    owner: outside,
    oauth2,
  }: Readonly<{ owner: OwnerSent; oauth2: { owner?: OwnerSent } | null | undefined }>,
): Provider {
  const inside = oauth2?.owner
  if (outside !== undefined && inside !== undefined && outside !== inside)
    throw invalidMember(
      'oauth2.owner',
      'conflict',
      'oauth2.owner and owner mean the same and differ: leave one of them out.',
    )
  const sent = outside === undefined ? inside : outside
  const { owner: before, ...rest } = provider
  const owner = sent === undefined ? before : (sent ?? undefined)
  if (owner === undefined) return rest
  if (isInstalled(provider) && owner !== 'user')
    throw invalidMember(
      'owner',
      'conflict',
      `owner cannot be ${owner} yet: with the grant installation each user connects installations of their own.`,
    )
  const only = ownerOfGrant(provider)
  if (only !== undefined && owner !== only)
    throw invalidMember(
      outside === undefined && inside !== undefined ? 'oauth2.owner' : 'owner',
      'conflict',
      only === 'project'
        ? `owner cannot be ${owner}: with the grant ${provider.grant?.type} no user takes part, so connections are the project's.`
        : `owner cannot be ${owner}: with ${provider.grant?.type === 'token_exchange' ? 'the grant token_exchange' : 'oauth2.impersonation'} each user has connections of their own.`,
    )
  return { ...rest, owner }
}
