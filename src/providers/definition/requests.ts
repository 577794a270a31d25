import { z } from 'zod'
import { invalidMember } from '../../domain/errors.ts'
import type { AllowsHttp } from '../../egress/endpoint.ts'
import { INTROSPECTED, JSON_TYPE } from '../catalogue/built-in-provider.ts'
import { KEY_METHODS } from '../client-auth-method.ts'
import { type EndpointRole, REQUESTS_BY_ROLE } from '../endpoint-role.ts'
import type { Provider } from '../provider.ts'
import { isUserless, isWithout } from '../provider-grant.ts'
import type { ResourceRequestBlock } from '../request-block.ts'
import {
  type Found,
  memberOf,
  readMembers,
  shapeOf,
  type Table,
  withoutUndefined,
  writeMembers,
} from './member.ts'
import { CHOICES, FRAGMENT, LISTED, RENEWAL, REVOKED, TRIGGERS } from './members-of-one-kind.ts'
import { refuse } from './refuse.ts'
import { REQUEST_MEMBERS, type RequestContext, type RequestRules } from './request-members.ts'

// The requests that a provider describes, one block each: `authorize_request`, `token_request` and so on.

/** What reading a member of `oauth2` may look at. */
export interface OAuth2Context {
  /** What holds where the request says nothing: the provider that is changed, or that of the catalogue. */
  readonly base: Provider | undefined
  /** The blocks of the provider that is changed, as answers show them: a change may leave out members of a block. */
  readonly blocksBefore: Readonly<Partial<Record<string, BlockInput>>>
  readonly allowsHttp: AllowsHttp
  /** The variables of the base with those of the request. Their values are filled into the URLs of `base`. */
  readonly variables: Provider['variables']
  /** The provider of the catalogue with these endpoints. */
  readonly knownAt: KnownAt
  /** What was read from members that come earlier in the table. */
  readonly read: Found<Provider>
}

/** Finds the provider of the catalogue that both endpoints belong to, each in its role. */
export type KnownAt = (authorizationEndpoint: string, tokenEndpoint: string) => Provider | undefined

interface RequestKind extends RequestRules {
  readonly role: EndpointRole
  readonly isRequired?: boolean
  /** Its `params` and `headers` may name kept values. */
  readonly mayNameKeptValues?: boolean
  readonly members: Table<ResourceRequestBlock, RequestContext>
}

const { endpoint, params, parameter_names } = REQUEST_MEMBERS
const blockMember = memberOf<ResourceRequestBlock, RequestContext>()

/** Always a GET without client authentication: the other members are taken, change nothing and are not answered. */
const AUTHORIZATION = {
  endpoint,
  method: blockMember({ answer: z.string(), write: () => 'GET' }),
  params,
  parameter_names,
  ...FRAGMENT,
}
const RENEWED = { ...REQUEST_MEMBERS, ...RENEWAL }
const RESOURCE = { ...REQUEST_MEMBERS, ...TRIGGERS }
const INTROSPECTION = {
  ...RESOURCE,
  enabled: blockMember({
    create: z.boolean().optional(),
    change: z.boolean().optional(),
    answer: z.literal(true),
    write: () => true as const,
  }),
}

const TENANTS = { ...REQUEST_MEMBERS, ...CHOICES }
const INSTALLATIONS = { ...REQUEST_MEMBERS, ...LISTED }
const REVOCATION = { ...REQUEST_MEMBERS, ...REVOKED }

const plainBlock = z.object(shapeOf(REQUEST_MEMBERS, 'create')).meta({ id: 'OAuth2RequestInput' })
/** Its endpoint may be left to the issuer's metadata. */
const openBlock = plainBlock.extend({ endpoint: endpoint.change }).meta({ id: 'OAuth2RequestOfIssuer' })
/** The members of all kinds; `refuseForeign` checks that the kind has them. */
const changedBlock = z.object({
  ...shapeOf(INTROSPECTION, 'change'),
  ...shapeOf(REVOKED, 'change'),
  ...shapeOf(RENEWAL, 'change'),
  ...shapeOf(FRAGMENT, 'change'),
  ...shapeOf(LISTED, 'change'),
  ...shapeOf(CHOICES, 'change'),
})
const plainAnswer = z.object(shapeOf(REQUEST_MEMBERS, 'answer')).meta({ id: 'OAuth2Request' })

export type BlockInput = z.output<typeof changedBlock>

const BASIC = ['client_secret_basic', 'client_secret_basic_unencoded'] as const
const CLIENT = [...BASIC, 'client_secret_post', ...KEY_METHODS] as const

/** Of a client whose secret is the key of its grant's assertions. */
const BY_ASSERTION = { authMethods: ['none', 'private_key_jwt'], mayBeUnauthenticated: true } as const

export const REQUESTS = {
  authorize_request: request(
    {
      role: 'authorization',
      isRequired: true,
      members: AUTHORIZATION,
      placeholders: ['client_id', 'redirect_uri', 'scopes', 'existing_scopes'],
      authMethods: [],
    },
    openBlock.extend(shapeOf(FRAGMENT, 'create')).nullish(),
    z.object(shapeOf(AUTHORIZATION, 'answer')),
  ),
  pushed_authorization_request: request(
    { role: 'pushed_authorization', members: { endpoint }, placeholders: [], authMethods: [] },
    z.object({ endpoint: endpoint.create }).nullish().meta({
      description:
        'Beyond Arcade: the endpoint of RFC 9126. The parameters of the authorization request are sent there first, and the browser carries only a reference to them. The client authenticates as at the token endpoint.',
    }),
    z.object({ endpoint: endpoint.answer }).optional(),
  ),
  token_request: request(
    {
      role: 'token',
      isRequired: true,
      members: REQUEST_MEMBERS,
      placeholders: ['client_id', 'client_secret', 'redirect_uri'],
      authMethods: ['by_params', ...CLIENT],
    },
    openBlock.nullish(),
    plainAnswer,
  ),
  device_authorization_request: request(
    {
      role: 'device_authorization',
      isRequired: true,
      members: REQUEST_MEMBERS,
      placeholders: ['client_id', 'client_secret', 'scopes'],
      authMethods: ['by_params', ...CLIENT],
      mayBeUnauthenticated: true,
    },
    openBlock.nullish().meta({
      description:
        'Beyond Arcade: asks for the code of the grant `device_code` (RFC 8628 section 3.1) at the click of the user. `response_map` names members of other names: `{"verification_uri": "$.verification_url"}`. `auth_method`: by default that of `token_request`.',
    }),
    plainAnswer.optional(),
  ),
  refresh_request: request(
    {
      mayNameKeptValues: true,
      role: 'refresh',
      members: REQUEST_MEMBERS,
      placeholders: ['refresh_token', 'access_token', 'client_id', 'client_secret', 'redirect_uri'],
      authMethods: ['by_params', ...CLIENT, 'bearer_access_token'],
    },
    openBlock.nullish(),
    plainAnswer.optional(),
  ),
  exchange_request: request(
    {
      role: 'exchange',
      members: REQUEST_MEMBERS,
      placeholders: ['access_token', 'client_id', 'client_secret', 'redirect_uri'],
      authMethods: ['by_params', ...CLIENT, 'bearer_access_token'],
      mayBeGet: true,
      mayHaveTokenInUrl: true,
    },
    plainBlock.nullish().meta({
      description:
        'Beyond Arcade: sent after the code was redeemed, with `{{access_token}}` of that response, for a token that lives longer and takes its place (Instagram, Facebook, Threads). GET is the default, and may carry the secret and the token in the URL, which is neither logged nor answered.',
    }),
    plainAnswer.optional(),
  ),
  renewal_request: request(
    {
      role: 'renewal',
      members: RENEWED,
      placeholders: ['access_token', 'client_id', 'client_secret'],
      authMethods: ['none', ...CLIENT, 'bearer_access_token'],
      mayBeUnauthenticated: true,
      mayBeGet: true,
      mayHaveTokenInUrl: true,
    },
    z.object(shapeOf(RENEWED, 'create')).nullish().meta({
      description:
        'Beyond Arcade: renews the access token itself while it is alive, in place of `refresh_request` (Instagram, Threads). All connections are renewed in the background, halfway through the lifetime of their token.',
    }),
    z.object(shapeOf(RENEWED, 'answer')).optional(),
  ),
  choices_request: request(
    {
      role: 'choices',
      members: TENANTS,
      placeholders: ['client_id', 'access_token'],
      authMethods: ['bearer_access_token'],
      mayBeGet: true,
    },
    z.object(shapeOf(TENANTS, 'create')).nullish().meta({
      description:
        'Beyond Arcade: lists the tenants of a user (sites, organizations, accounts) with the token of their code, where a connection is for one of them. The user chooses one of several; `kept_values` with `from: "choice"` say what of it is kept.',
    }),
    z.object(shapeOf(TENANTS, 'answer')).optional(),
  ),
  installations_request: request(
    {
      role: 'installations',
      members: INSTALLATIONS,
      placeholders: ['client_id', 'access_token'],
      authMethods: ['bearer_access_token'],
      mayBeGet: true,
    },
    z.object(shapeOf(INSTALLATIONS, 'create')).nullish().meta({
      description:
        'Beyond Arcade, with the grant `installation`: lists the installations that a user may use, with the token of their code. Only these are offered.',
    }),
    z.object(shapeOf(INSTALLATIONS, 'answer')).optional(),
  ),
  installation_token_request: request(
    {
      role: 'installation_token',
      members: REQUEST_MEMBERS,
      placeholders: ['client_id', 'installation_id', 'scopes', 'scope_members'],
      authMethods: ['none'],
      mayBeUnauthenticated: true,
      contentType: JSON_TYPE,
    },
    plainBlock.nullish().meta({
      description:
        'Beyond Arcade, with the grant `installation`: asks for a token of one installation, `{{installation_id}}` in its URL, with the JWT of `assertion` as the bearer token. It is JSON unless it says otherwise. In `params`, `{{scope_members}}` is the scopes as an object: `contents:read` becomes `{"contents": "read"}`.',
    }),
    plainAnswer.optional(),
  ),
  user_info_request: request(
    {
      role: 'user_info',
      members: RESOURCE,
      placeholders: ['client_id', 'access_token'],
      authMethods: ['bearer_access_token'],
      mayBeGet: true,
    },
    z.object(shapeOf(RESOURCE, 'create')).nullish(),
    z.object(shapeOf(RESOURCE, 'answer')).optional(),
  ),
  token_introspection_request: request(
    {
      role: 'introspection',
      members: INTROSPECTION,
      placeholders: ['access_token', 'client_id', 'client_secret'],
      authMethods: [...CLIENT, 'bearer_access_token', 'by_params'],
      defaults: INTROSPECTED,
    },
    z.object(shapeOf(INTROSPECTION, 'create')).nullish(),
    z.object(shapeOf(INTROSPECTION, 'answer')).optional(),
  ),
  revocation_request: request(
    {
      role: 'revocation',
      members: REVOCATION,
      mayBeDelete: true,
      placeholders: ['access_token', 'refresh_token', 'client_id', 'client_secret'],
      authMethods: ['by_params', ...CLIENT, 'bearer_access_token'],
      mayBeUnauthenticated: true,
    },
    z.object(shapeOf(REVOCATION, 'create')).nullish().meta({ description: 'Beyond Arcade: RFC 7009.' }),
    z.object(shapeOf(REVOCATION, 'answer')).optional(),
  ),
}

/** A member of `oauth2` that holds the block of one kind of request. */
function request<Create extends z.ZodType<BlockInput | null | undefined>, Answer extends z.ZodType>(
  kind: RequestKind,
  create: Create,
  answer: Answer,
) {
  const { block } = REQUESTS_BY_ROLE[kind.role]
  return {
    role: kind.role,
    block,
    ...memberOf<Provider, OAuth2Context>()({
      create,
      change: changedBlock.nullish(),
      answer,
      ...(kind.mayNameKeptValues && { buildsOn: ['kept_values'] }),
      read: (sent, context) => readBlock(kind, sent, context),
      write(provider) {
        const request = provider[block] as ResourceRequestBlock | undefined // the kind's members read no more of it
        return request && (writeMembers(kind.members, request) as z.input<Answer>) // `answer` is made of the same members
      },
    }),
  }
}

/** A block that is left out stays the base's; `null` or `enabled: false` removes it. */
function readBlock(
  kind: RequestKind,
  sent: BlockInput | null | undefined,
  context: OAuth2Context,
): Found<Provider> {
  const { block: member, wire } = REQUESTS_BY_ROLE[kind.role]
  const path = `oauth2.${wire}`
  refuseForeign(kind, path, sent)
  if (isWithout(context.read, kind.role)) {
    if (sent != null) throw invalidMember(path, 'conflict', `${path} ${withoutUse(kind, context.read)}.`)
    return { [member]: undefined }
  }
  const isRemoved = sent === null || sent?.enabled === false
  const block = isRemoved
    ? undefined
    : sent === undefined
      ? context.base?.[member]
      : readRequest(
          kind,
          path,
          withTokenAuth(kind, merged(context.blocksBefore[wire], sent), context),
          context,
        )
  if (block === undefined && kind.isRequired)
    refuse(path, 'is required, unless issuer is given or provider_id names a provider that Gatepass knows')
  return { [member]: block } as Found<Provider> // of the type of `member`, whose members were read
}

function withoutUse({ role }: RequestKind, { grant }: Found<Provider>): string {
  if (role === 'choices')
    return 'needs the grant authorization_code: a user chooses after the approval in a browser'
  if (role === 'device_authorization') return 'has no use without the grant device_code'
  if (role === 'installations' || role === 'installation_token')
    return 'has no use without the grant installation'
  const instead = isUserless({ grant })
    ? 'no user takes part, and the client asks for tokens with token_request'
    : grant?.type === 'installation'
      ? 'the client asks for tokens with installation_token_request'
      : 'users enter the code of device_authorization_request at the provider'
  return `has no use with the grant ${grant?.type}: ${instead}`
}

/** Members of one kind of request, which others refuse. A change ignores other members that its kind does not have. */
const OF_ONE_KIND = [REVOKED, RENEWAL, FRAGMENT, LISTED, CHOICES].flatMap((members) => Object.keys(members))

function refuseForeign({ members }: RequestKind, path: string, sent: BlockInput | null | undefined): void {
  for (const [name, value] of Object.entries(sent ?? {}))
    if (value != null && OF_ONE_KIND.includes(name) && !Object.hasOwn(members, name))
      refuse(`${path}.${name}`, `means nothing here; it is a member of ${kindsWith(name).join(', ')}`)
}

function kindsWith(member: string): string[] {
  if (Object.hasOwn(REVOKED, member)) return ['revocation_request']
  const lists = { installations_request: LISTED, choices_request: CHOICES }
  const ofLists = Object.entries(lists).flatMap(([wire, members]) =>
    Object.hasOwn(members, member) ? [wire] : [],
  )
  if (ofLists.length > 0) return ofLists
  return [Object.hasOwn(RENEWAL, member) ? 'renewal_request' : 'authorize_request']
}

function readRequest(
  { members, mayNameKeptValues = false, ...kind }: RequestKind,
  path: string,
  sent: BlockInput,
  { allowsHttp, variables = {}, read: { keptValues = {}, grant } }: OAuth2Context,
): Found<ResourceRequestBlock> {
  const kept = mayNameKeptValues ? Object.keys(keptValues) : []
  // the account for which a client asks for a token is a value of the entry (Zoom's `account_id`)
  const ofEntry = kind.role === 'token' && isUserless({ grant }) ? [...Object.keys(variables), 'scopes'] : []
  const rules = {
    ...kind,
    placeholders: [...kind.placeholders, ...kept, ...ofEntry],
    ...(kind.role === 'token' && grant?.type === 'jwt_bearer' && BY_ASSERTION),
  }
  return readMembers(members, sent, (read) => ({
    path,
    rules,
    allowsHttp,
    // kept values are known after the authorization request, so it cannot name them
    naming: { variables, keptValues: kind.role === 'authorization' ? {} : keptValues },
    params: sent.params ?? {},
    headers: sent.headers ?? {},
    read,
  }))
}

/** RFC 8628 section 3.1: the client authenticates for a code as at the token endpoint, unless the block says otherwise. */
function withTokenAuth({ role }: RequestKind, sent: BlockInput, { read }: OAuth2Context): BlockInput {
  const { tokenRequest } = read
  if (role !== 'device_authorization' || sent.auth_method != null || tokenRequest === undefined) return sent
  return { ...sent, auth_method: tokenRequest.authMethod }
}

/** A change of a block over the block before it; `params`, `headers` and `response_map` are replaced whole. */
function merged(before: BlockInput | undefined, sent: BlockInput): BlockInput {
  if (before === undefined) return sent
  const { triggers, ...kept } = before
  // whether `client_secret_post` was the default depends on the parameters and headers, so new ones decide it again
  const isDefault = (sent.params != null || sent.headers != null) && kept.auth_method === 'client_secret_post'
  const all = { ...kept, ...(isDefault && { auth_method: 'none' }), ...withoutUndefined(sent) }
  return triggers || sent.triggers ? { ...all, triggers: { ...triggers, ...sent.triggers } } : all
}
