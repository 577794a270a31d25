import { z } from '@hono/zod-openapi'
import { BrokerError, invalidMember } from '../../domain/errors.ts'
import { defineOperation } from '../../operations/operation.ts'
import { idText, plainText, scopeText, userIdText } from '../../operations/schemas/fields.ts'
import { JSON_VALUE, jsonObject } from '../../operations/schemas/json-schemas.ts'
import { checked, parse } from '../../parsing/parse.ts'
import type { ForeignConnection, ImportOutcome, RefusedRow } from './import-connection.ts'
import { importConnections as importRows, MOST_CHECKED_ROWS, MOST_ROWS } from './import-connections.ts'

/** RFC 6749 appendix A.12: visible ASCII. */
const token = z
  .string()
  .max(16_384)
  .regex(/^[\x21-\x7e]+$/, 'has to be visible ASCII without spaces')
/** A greater number is in milliseconds since 1970 (from March 1973 on), another in seconds (until the year 5138). */
const MILLISECONDS = 100_000_000_000

/** Empty: not known, as in our own export. */
const accountText = z
  .string()
  .max(200)
  .refine(
    (value) => value === '' || plainText(200).safeParse(value).success,
    'has control characters or unpaired surrogates',
  )
/** RFC 3339. */
const timestamp = z.iso.datetime({ offset: true })

const rowSchema = z.object({
  user_id: userIdText,
  provider_id: idText,
  access_token: token,
  refresh_token: token.nullish(),
  token_type: z.string().min(1).max(50).nullish(),
  expires_at: z.union([z.string().max(40), z.number()]).nullish(),
  scopes: z.union([z.array(scopeText).max(500), z.string().max(20_000)]).nullish(),
  account: z.object({ id: accountText.optional(), name: accountText.optional() }).nullish(),
  user_info: jsonObject.nullish(),
  extra: jsonObject.nullish(),
  kept_values: z.record(z.string().max(100), plainText(500)).nullish(),
  token_secret: z.string().max(5_000).nullish(),
  dpop_key: z.record(z.string().max(100), z.string().max(300)).nullish(),
  default: z.boolean().nullish(),
})

const row = checked(rowSchema, 'the body')

const text = { type: 'string' } as const
const object = { type: 'object', additionalProperties: JSON_VALUE } as const

/** For the documentation only: each row is checked apart from the others, so that a faulty one does not refuse them. */
const rowDocument = z.unknown().openapi('ForeignConnection', {
  description: 'A connection with its tokens, as another installation or product had it',
  type: 'object',
  properties: {
    user_id: text,
    provider_id: { ...text, description: 'An entry with the client that got the tokens' },
    access_token: text,
    refresh_token: text,
    token_type: { ...text, description: 'Left out: `Bearer`' },
    expires_at: {
      type: ['string', 'number'],
      description: 'RFC 3339, or a Unix time in seconds or milliseconds; left out: unknown',
    },
    scopes: { type: 'array', items: text, description: 'Also one text with spaces or commas' },
    account: {
      type: 'object',
      properties: { id: text, name: text },
      description:
        'The account at the provider. `id` is the id in the user info, such as `sub`; if it is left out, the next consent sets it',
    },
    user_info: object,
    extra: { ...object, description: 'Further members of the token response, for tools' },
    kept_values: {
      type: 'object',
      additionalProperties: text,
      description: 'By the names that `oauth2.kept_values` of the provider entry gives them',
    },
    token_secret: {
      ...text,
      description:
        'What signs requests with the token (RFC 5849), where the provider entry has the type `oauth1`',
    },
    dpop_key: {
      type: 'object',
      additionalProperties: text,
      description:
        'The private key that the tokens are bound to (RFC 9449), as a JWK with `alg`, where the provider entry has `oauth2.dpop`',
    },
    default: { type: 'boolean', description: 'It becomes the account that is used when a call names none' },
  },
  required: ['user_id', 'provider_id', 'access_token'],
})

const resultSchema = z
  .object({
    index: z.number().int(),
    result: z.enum(['created', 'replaced', 'present', 'refused']).meta({
      description:
        '`present`: there is a connection of this user, provider and account, which is not changed',
    }),
    connection_id: z.string().optional(),
    check: z.enum(['refreshed', 'refused', 'unavailable', 'not_possible']).optional().meta({
      description:
        'What the refresh showed: a `refused` connection is stored and needs a new consent; one whose check was `unavailable`, for the `reason`, is refreshed when it is used',
    }),
    member: z.string().optional().meta({ description: 'The member that is the reason' }),
    reason: z.string().optional(),
  })
  .openapi('ImportedConnection')

export const importConnections = defineOperation({
  id: 'importConnections',
  method: 'post',
  path: '/v1/admin/user_connections/import',
  role: 'admin',
  tag: 'Connections',
  summary: 'Import connections with their tokens',
  description: `Each row is stored completely or refused; a refused row does not affect the others; at most ${MOST_ROWS} a request, with \`check\` ${MOST_CHECKED_ROWS}. Sending rows again is safe. The provider entry must have the client that got the tokens.`,
  body: z.object({
    connections: z.array(rowDocument).min(1).max(MOST_ROWS),
    replace: z.boolean().optional().meta({ description: 'Replace connections that exist already' }),
    check: z.boolean().optional().meta({ description: 'Refresh each stored connection once' }),
  }),
  answer: 'The result of each row',
  output: z.object({ items: z.array(resultSchema) }),
  async run(broker, { body: { connections, replace = false, check = false }, caller: { projectId } }) {
    const rows = connections.map(readRow)
    const outcomes = await importRows(broker, projectId, rows, { replaces: replace, checks: check })
    return { items: outcomes.map(toWire) }
  },
})

function readRow(sent: unknown): ForeignConnection | RefusedRow {
  try {
    return toForeign(parse(row, sent))
  } catch (error) {
    if (!(error instanceof BrokerError)) throw error
    // messages name members and never quote values
    return { result: 'refused', member: error.faults?.[0]?.path ?? '', reason: error.message }
  }
}

function toForeign(sent: z.output<typeof rowSchema>): ForeignConnection {
  const { scopes, account, expires_at: expires } = sent
  const expiresAt = expires == null || expires === '' ? undefined : toSeconds(expires)
  return {
    userId: sent.user_id,
    providerId: sent.provider_id,
    accessToken: sent.access_token,
    ...(sent.refresh_token != null && { refreshToken: sent.refresh_token }),
    tokenType: sent.token_type ?? 'Bearer',
    ...(expiresAt !== undefined && { expiresAt }),
    scopes: typeof scopes === 'string' ? scopes.split(/[\s,]+/).filter(Boolean) : (scopes ?? []),
    account: { id: account?.id ?? '', name: account?.name ?? '' },
    userInfo: sent.user_info ?? {},
    ...(sent.extra != null && { extra: sent.extra }),
    keptValues: sent.kept_values ?? {},
    ...(sent.dpop_key != null && { dpopKey: sent.dpop_key }),
    ...(sent.token_secret != null && { tokenSecret: sent.token_secret }),
    isDefault: sent.default ?? false,
  }
}

function toSeconds(sent: string | number): number {
  const isNumber = typeof sent === 'number' || /^\d{9,13}$/.test(sent)
  const time = isNumber ? Number(sent) : timestamp.safeParse(sent).success ? Date.parse(sent) : Number.NaN
  const seconds = Math.floor(isNumber && time <= MILLISECONDS ? time : time / 1000)
  if (Number.isFinite(seconds) && seconds > 0 && seconds < MILLISECONDS) return seconds
  throw invalidMember(
    'expires_at',
    'invalid',
    'expires_at is not a time: write RFC 3339 with its zone, such as 2026-11-23T10:00:00Z, or a Unix time.',
  )
}

function toWire(outcome: ImportOutcome, index: number): z.infer<typeof resultSchema> {
  if (outcome.result === 'refused')
    return { index, result: 'refused', member: outcome.member, reason: outcome.reason }
  const { result, connectionId, check, reason } = outcome
  return {
    index,
    result,
    connection_id: connectionId,
    check,
    reason,
  }
}
