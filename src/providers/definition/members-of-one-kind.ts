import { z } from 'zod'
import type {
  AuthorizationRequestBlock,
  ChoicesRequestBlock,
  InstallationsRequestBlock,
  ListRequestBlock,
  RenewalRequestBlock,
  ResourceRequestBlock,
  RevocationRequestBlock,
} from '../request-block.ts'
import { parseExpression } from '../response-map.ts'
import { memberOf } from './member.ts'
import { refuse } from './refuse.ts'
import { input, type RequestContext } from './request-members.ts'

// The members of blocks that mean something in one kind of request alone.

const triggers = z.object({
  on_token_grant: z.boolean().optional(),
  on_token_refresh: z.boolean().optional(),
})

const resourceMember = memberOf<ResourceRequestBlock, RequestContext>()

/** When a request for user info or an introspection is sent. */
export const TRIGGERS = {
  triggers: resourceMember({
    create: triggers,
    change: triggers.optional(),
    answer: z.object({ on_token_grant: z.boolean(), on_token_refresh: z.boolean() }),
    read(sent, { path }) {
      if (sent === undefined) return refuse(`${path}.triggers`, 'is required')
      const { on_token_grant: onTokenGrant = false, on_token_refresh: onTokenRefresh = false } = sent
      return { triggers: { onTokenGrant, onTokenRefresh } }
    },
    write: ({ triggers: { onTokenGrant, onTokenRefresh } }) => ({
      on_token_grant: onTokenGrant,
      on_token_refresh: onTokenRefresh,
    }),
  }),
}

const renewalMember = memberOf<ResourceRequestBlock & RenewalRequestBlock, RequestContext>()

/** From when on an access token is renewed. */
export const RENEWAL = {
  least_age: renewalMember({
    ...input(
      z.number().int().min(0).max(31_536_000).nullish().meta({
        description:
          'Beyond Arcade: seconds since the access token was received before which the provider does not renew it (Instagram: 86400). Default: 0.',
      }),
    ),
    answer: z.number(),
    read: (sent) => ({ leastAgeSeconds: sent ?? 0 }),
    write: ({ leastAgeSeconds }) => leastAgeSeconds,
  }),
}

const authorizationMember = memberOf<ResourceRequestBlock & AuthorizationRequestBlock, RequestContext>()

/** What follows the URL of the authorization request. */
export const FRAGMENT = {
  fragment: authorizationMember({
    ...input(
      z
        .string()
        .regex(/^[\w.~=&-]{1,100}$/, 'letters, digits, _ . ~ = & -')
        .nullish()
        .meta({
          description: 'Beyond Arcade: what follows the `#` of the URL: `wechat_redirect` (WeChat).',
        }),
    ),
    answer: z.string().optional(),
    read: (sent) => ({ fragment: sent ?? undefined }),
    write: ({ fragment }) => fragment,
  }),
}

const listMember = memberOf<ResourceRequestBlock & InstallationsRequestBlock, RequestContext>()
const choicesMember = memberOf<ResourceRequestBlock & ChoicesRequestBlock, RequestContext>()
const expression = z.string().min(1).max(500)

/** Where the answer has the list, and the id and the name of each item. */
function listed(defaults: Pick<ListRequestBlock, 'at' | 'id' | 'name'>) {
  const place = (name: keyof typeof defaults, description: string) =>
    listMember({
      ...input(expression.nullish().meta({ description })),
      answer: z.string(),
      read: (sent, { path }) => ({ [name]: readExpression(`${path}.${name}`, sent ?? defaults[name]) }),
      write: (block) => block[name],
    })
  return {
    at: place(
      'at',
      'The list in the answer, as an expression of `response_map`; an answer that is a list itself is `$.items`. Default: `$.installations`, in `choices_request` `$.items`.',
    ),
    id: place('id', 'The id, within one item of the list. Default: `$.id`.'),
    name: place(
      'name',
      'The name for people, within one item of the list. Default: `$.account.login`, in `choices_request` `$.name`.',
    ),
  }
}

/** What each installation is, and what it grants. */
export const LISTED = {
  ...listed({ at: '$.installations', id: '$.id', name: '$.account.login' }),
  scopes: listMember({
    ...input(
      expression.nullish().meta({
        description:
          'What the installation grants, within one item: a list of scopes, or an object such as `{"contents": "read"}`, which means `contents:read`. Left out: not told, so everything that was asked for counts as granted.',
      }),
    ),
    answer: z.string().optional(),
    read: (sent, { path }) => ({
      scopes: sent == null ? undefined : readExpression(`${path}.scopes`, sent),
    }),
    write: ({ scopes }) => scopes,
  }),
}

/** What each tenant is that a user may choose. */
export const CHOICES = {
  ...listed({ at: '$.items', id: '$.id', name: '$.name' }),
  detail: choicesMember({
    ...input(
      expression.nullish().meta({
        description: 'What tells items of the same name apart, within one item: the address of a site.',
      }),
    ),
    answer: z.string().optional(),
    read: (sent, { path }) => ({
      detail: sent == null ? undefined : readExpression(`${path}.detail`, sent),
    }),
    write: ({ detail }) => detail,
  }),
}

function readExpression(path: string, text: string): string {
  const parsed = parseExpression(text)
  return 'fault' in parsed ? refuse(path, `has a fault: ${parsed.fault}`) : text
}

const revocationMember = memberOf<ResourceRequestBlock & RevocationRequestBlock, RequestContext>()

/** Which tokens are revoked, and where the request has them. */
export const REVOKED = {
  revokes: revocationMember({
    ...input(
      z.enum(['access_token', 'refresh_token']).nullish().meta({
        description:
          'Beyond Arcade: the only token that is revoked. Left out: the refresh token, if there is one, and the access token, with a request each.',
      }),
    ),
    answer: z.string().optional(),
    read: (sent) => ({ revokes: sent ?? undefined }),
    write: ({ revokes }) => revokes,
  }),
  token_parameter: revocationMember({
    ...input(
      z.string().max(100).nullish().meta({
        description:
          'Beyond Arcade: the name of the parameter that has the token; it is sent without `token_type_hint`. Left out: `token` and `token_type_hint` (RFC 7009). Empty: `params`, `headers` or `auth_method` place the token, and one request is sent.',
      }),
    ),
    answer: z.string().optional(),
    read: (sent) => ({ tokenParameter: sent ?? undefined }),
    write: ({ tokenParameter }) => tokenParameter,
  }),
}
