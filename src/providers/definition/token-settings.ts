import { z } from 'zod'
import { type Provider, type Rotation, rotationOf } from '../provider.ts'
import { sameServer } from './known-server.ts'
import { changed, memberOf } from './member.ts'
import { refuse } from './refuse.ts'
import type { OAuth2Context } from './requests.ts'

// How long a server's tokens live, and what becomes of a refresh token that was used.

const DAY = 86_400
const YEAR = 365 * DAY

const member = memberOf<Provider, OAuth2Context>()
const input = <Schema extends z.ZodType>(schema: Schema) => ({ create: schema, change: schema })

/** The setting of the base, unless the entry is now for another server. */
function before<Name extends keyof Provider>(context: OAuth2Context, name: Name): Provider[Name] | undefined {
  return sameServer(context) ? context.base?.[name] : undefined
}

export const TOKEN_SETTINGS = {
  rotation: member({
    ...input(
      z
        .object({
          kind: z.enum(['none', 'single_use', 'grace']),
          grace_seconds: z
            .number()
            .int()
            .min(1)
            .max(30 * DAY)
            .nullish(),
        })
        .nullish()
        .meta({
          description:
            'Beyond Arcade: what the server does with a used refresh token. `none`: it can be used again. `single_use`: a second use ends the whole grant with its access tokens, so after a refresh whose outcome is unknown Gatepass uses the access token until it expires before it tries the refresh token again. `grace`: the server accepts it for `grace_seconds` after its use; after that as `single_use`.',
          example: { kind: 'grace', grace_seconds: 600 },
        }),
    ),
    answer: z.object({ kind: z.string(), grace_seconds: z.number().optional() }).optional(),
    read: (sent, context) => ({ rotation: readRotation(sent, before(context, 'rotation')) }),
    write: ({ rotation }) =>
      rotation && {
        kind: rotation.kind,
        ...(rotation.kind === 'grace' && { grace_seconds: rotation.graceSeconds }),
      },
  }),
  strict_rotation: member({
    ...input(
      z.boolean().nullish().meta({
        description: 'Beyond Arcade: `true` is `rotation` of the kind `single_use`, which has replaced it.',
      }),
    ),
    answer: z.literal(true).optional(),
    read(sent, context) {
      const { rotation } = context.read
      if (sent === true && rotation !== undefined && rotation.kind !== 'single_use')
        refuse('oauth2.strict_rotation', `contradicts oauth2.rotation, whose kind is ${rotation.kind}`)
      if (sent === false && rotation?.kind === 'single_use') return { rotation: undefined }
      const strict = rotation === undefined && changed(sent, before(context, 'strictRotation'))
      return { strictRotation: strict || undefined }
    },
    write: (provider) => rotationOf(provider)?.kind === 'single_use' || undefined,
  }),
  refresh_margin: member({
    ...input(
      z.number().int().min(1).max(3600).nullish().meta({
        description:
          'Beyond Arcade: how many seconds before its expiry an access token is refreshed; the background refreshes tokens in use up to three times as early. Default: a tenth of the lifetime, at most 60. Never more than half the lifetime.',
      }),
    ),
    answer: z.number().optional(),
    read: (sent, context) => ({
      refreshMarginSeconds: changed(sent, before(context, 'refreshMarginSeconds')),
    }),
    write: ({ refreshMarginSeconds }) => refreshMarginSeconds,
  }),
  refresh_token_expires_in: member({
    ...input(
      z
        .number()
        .int()
        .min(60)
        .max(10 * YEAR)
        .nullish()
        .meta({
          description:
            'Beyond Arcade: the lifetime of refresh tokens in seconds, for token responses that do not state it (as `refresh_token_expires_in`, `refresh_expires_in`, `x_refresh_token_expires_in`, or by the response map). An expired refresh token is sent only when the access token has expired too. If the provider refuses it, the connection needs a new consent, with the reason `refresh_token_expired`.',
        }),
    ),
    answer: z.number().optional(),
    read: (sent, context) => readLife('seconds', sent, context),
    write: ({ refreshTokenLife }) => refreshTokenLife?.seconds,
  }),
  refresh_token_idle: member({
    ...input(
      z
        .number()
        .int()
        .min(60)
        .max(10 * YEAR)
        .nullish()
        .meta({
          description: 'Beyond Arcade: the seconds without use after which a refresh token expires.',
        }),
    ),
    answer: z.number().optional(),
    read: (sent, context) => readLife('idleSeconds', sent, context),
    write: ({ refreshTokenLife }) => refreshTokenLife?.idleSeconds,
  }),
  keep_alive: member({
    ...input(
      z.boolean().nullish().meta({
        description:
          'Beyond Arcade: unused connections are refreshed in the background before their refresh token expires, when four fifths of its life have passed.',
      }),
    ),
    answer: z.literal(true).optional(),
    read: (sent, context) => ({ keepAlive: changed(sent, before(context, 'keepAlive')) || undefined }),
    write: ({ keepAlive }) => keepAlive || undefined,
  }),
}

function readRotation(
  sent:
    | { readonly kind: Rotation['kind']; readonly grace_seconds?: number | null | undefined }
    | null
    | undefined,
  known: Rotation | undefined,
): Rotation | undefined {
  if (sent === undefined) return known
  if (sent === null) return undefined
  const { kind, grace_seconds: graceSeconds } = sent
  if (kind !== 'grace') {
    if (graceSeconds != null) refuse('oauth2.rotation.grace_seconds', 'is for the kind grace only')
    return { kind }
  }
  if (graceSeconds == null) return refuse('oauth2.rotation.grace_seconds', 'is required for the kind grace')
  return { kind, graceSeconds }
}

function readLife(
  name: 'seconds' | 'idleSeconds',
  sent: number | null | undefined,
  context: OAuth2Context,
): Pick<Provider, 'refreshTokenLife'> {
  const known = before(context, 'refreshTokenLife')?.[name]
  const value = changed(sent, known)
  const { [name]: _, ...others } = context.read.refreshTokenLife ?? {}
  const life = { ...others, ...(value !== undefined && { [name]: value }) }
  return Object.keys(life).length > 0 ? { refreshTokenLife: life } : {}
}

/** Refuses settings of refreshes that contradict each other. */
export function checkRefresh({
  refreshRequest,
  renewalRequest,
  keepAlive,
  stateParameter,
  codeParameter,
}: Provider): void {
  if (refreshRequest !== undefined && renewalRequest !== undefined)
    refuse(
      'oauth2.renewal_request',
      'is for servers without refresh tokens: refresh_request: null removes that one',
    )
  if (keepAlive === true && refreshRequest === undefined)
    refuse('oauth2.keep_alive', 'needs a refresh_request')
  if (stateParameter !== undefined && stateParameter === codeParameter)
    refuse('oauth2.state_parameter', 'is the name of code_parameter')
}
