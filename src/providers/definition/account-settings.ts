import { z } from 'zod'
import { USUAL_ACCOUNT } from '../catalogue/built-in-provider.ts'
import type { Provider } from '../provider.ts'
import { parseExpression } from '../response-map.ts'
import { knownServer, sameHost, sameServer } from './known-server.ts'
import { memberOf } from './member.ts'
import { refuse } from './refuse.ts'
import type { OAuth2Context } from './requests.ts'

// Whose account a connection is, which scopes are usual, and which clients the server takes.

type Setting = 'defaultScopes' | 'account' | 'publicClients' | 'ignoresIdToken'

const member = memberOf<Pick<Provider, Setting>, OAuth2Context, Provider>()
const input = <Schema extends z.ZodType>(schema: Schema) => ({ create: schema, change: schema })
const expressions = z.array(z.string().min(1).max(500)).max(10)
export const accountExpressions = z.object({ id: expressions.optional(), name: expressions.optional() })

export const ACCOUNT_SETTINGS = {
  default_scopes: member({
    ...input(
      z.array(z.string().min(1).max(300)).max(100).nullish().meta({
        description: 'Beyond Arcade: the scopes that are requested where a requirement names none.',
      }),
    ),
    answer: z.array(z.string()).optional(),
    read: (sent, { base }) => ({
      defaultScopes: sent === undefined ? (base?.defaultScopes ?? []) : (sent ?? []),
    }),
    write: ({ defaultScopes }) => (defaultScopes.length > 0 ? [...defaultScopes] : undefined),
  }),
  account: member({
    ...input(
      accountExpressions.nullish().meta({
        description:
          "Beyond Arcade: where the user info has the account's id and its name, as expressions of a response map, the most trusted first. Left out: where most servers have them, OpenID Connect's claims first.",
        example: { id: ['$.data.id'], name: ['$.data.email', '$.data.login'] },
      }),
    ),
    answer: z.object({ id: z.array(z.string()), name: z.array(z.string()) }).optional(),
    read: (sent, context) => ({ account: readAccount(sent, context) }),
    write({ account }) {
      const isUsual = same(account.id, USUAL_ACCOUNT.id) && same(account.name, USUAL_ACCOUNT.name)
      return isUsual ? undefined : { id: [...account.id], name: [...account.name] }
    },
  }),
  public_clients: member({
    ...input(
      z.boolean().nullish().meta({
        description:
          'Beyond Arcade: whether the server takes clients without a secret (RFC 6749 section 2.1). Left out: it does if the entry uses PKCE with S256 and does not authenticate by Basic.',
      }),
    ),
    answer: z.boolean().optional(),
    read(sent, context) {
      const before = sameServer(context) ? context.base?.publicClients : undefined
      return { publicClients: sent === undefined ? before : (sent ?? undefined) }
    },
    write: ({ publicClients }) => publicClients,
  }),
  ignores_id_token: member({
    ...input(
      z.boolean().nullish().meta({
        description:
          'Beyond Arcade: ID tokens that come without the scope `openid` are neither checked nor read.',
      }),
    ),
    answer: z.literal(true).optional(),
    read(sent, context) {
      const ignoresIdToken = sent === undefined ? knownServer(context)?.ignoresIdToken : sent
      return { ignoresIdToken: ignoresIdToken === true || undefined }
    },
    write: ({ ignoresIdToken }) => ignoresIdToken || undefined,
  }),
}

interface AccountInput {
  readonly id?: string[] | undefined
  readonly name?: string[] | undefined
}

/** The places of id and name in the user info. Those of the base hold only for user info of the same host. */
function readAccount(
  sent: AccountInput | null | undefined,
  { base, read }: OAuth2Context,
): Provider['account'] {
  const isSamePlace = sameHost(base?.userInfoRequest?.endpoint, read.userInfoRequest?.endpoint)
  const before = base !== undefined && isSamePlace && sent !== null ? base.account : USUAL_ACCOUNT
  checkAccount('oauth2.account', sent)
  return { id: sent?.id ?? before.id, name: sent?.name ?? before.name }
}

/** Throws `invalid_request` for an expression that cannot be read. */
export function checkAccount(path: string, sent: AccountInput | null | undefined): void {
  for (const name of ['id', 'name'] as const)
    for (const [at, text] of (sent?.[name] ?? []).entries()) {
      const parsed = parseExpression(text)
      if ('fault' in parsed) refuse(`${path}.${name}.${at}`, parsed.fault)
    }
}

function same(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((text, at) => text === other[at])
}
