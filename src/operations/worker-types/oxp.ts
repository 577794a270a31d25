import { z } from '@hono/zod-openapi'
import { BrokerError } from '../../domain/errors.ts'
import { type OxpSettings, oxpSettings } from '../../tools/oxp/oxp-server.ts'
import { changedLimits, defineWorkerType, keptSecret, limits, toKeptSecret, workerUri } from './define.ts'

/** The key is sent unchanged as a header value (RFC 9110 section 5.5). */
const apiKey = z
  .string()
  .max(1000)
  .regex(/^[\x21-\x7e]+$/, 'must have only visible ASCII characters, without spaces')
  .meta({ description: 'Sent as the header `OXP-API-Key`', writeOnly: true })
const jwtSecret = z
  .string()
  .min(1)
  .max(1000)
  .meta({ description: 'Signs a JWT for each request (HS256), sent as the bearer token', writeOnly: true })
const audience = z.string().min(1).max(500).meta({ description: "The JWT's `aud`" })
const envelope = z.enum(['request', 'none']).meta({
  description:
    '`none` for servers that expect the call itself as the body, without the member `request` around it',
})

const ONE_OF_BOTH = 'takes an `api_key` or a `jwt_secret`, not both'
const AUDIENCE_ALONE = 'an `audience` needs a `jwt_secret`'

/** OXP servers. */
export const oxpWorker = defineWorkerType({
  type: 'oxp',
  create: z
    .object({
      uri: workerUri,
      api_key: apiKey.optional(),
      jwt_secret: jwtSecret.optional(),
      audience: audience.optional(),
      envelope: envelope.default('request'),
      ...limits.create,
    })
    .refine((one) => one.api_key === undefined || one.jwt_secret === undefined, ONE_OF_BOTH)
    .refine((one) => one.audience === undefined || one.jwt_secret !== undefined, AUDIENCE_ALONE),
  change: z
    .object({
      uri: workerUri.optional(),
      api_key: apiKey.nullish().meta({ description: '`null` removes it' }),
      jwt_secret: jwtSecret.nullish().meta({ description: '`null` removes it' }),
      audience: audience.nullish(),
      envelope: envelope.optional(),
      ...limits.change,
    })
    .refine((one) => one.api_key == null || one.jwt_secret == null, ONE_OF_BOTH),
  answer: z.object({
    uri: z.string(),
    api_key: keptSecret.optional(),
    jwt_secret: keptSecret.optional(),
    audience: z.string().optional(),
    envelope,
    ...limits.answer,
  }),
  toSettings: (_, { uri, api_key, jwt_secret, audience, envelope, timeout, retry }) => ({
    uri,
    secret: api_key ?? jwt_secret ?? '',
    settings: toSettings({ auth: authOf(api_key, jwt_secret), audience, envelope }),
    timeoutSeconds: timeout,
    retry,
  }),
  toChange(_, { uri, api_key, jwt_secret, timeout, retry, ...sent }, worker) {
    const before = oxpSettings(worker)
    const cleared =
      (api_key === null && before.auth === 'api_key') || (jwt_secret === null && before.auth === 'jwt')
    const secret = api_key ?? jwt_secret ?? (cleared ? '' : undefined)
    const auth = secret === undefined ? before.auth : authOf(api_key, jwt_secret)
    if (sent.audience != null && auth !== 'jwt')
      throw new BrokerError('invalid_request', `oxp: ${AUDIENCE_ALONE}.`)
    const audience = sent.audience === undefined ? before.audience : (sent.audience ?? undefined)
    return {
      ...(uri !== undefined && { uri }),
      ...(secret !== undefined && { secret }),
      settings: toSettings({ auth, audience, envelope: sent.envelope ?? before.envelope }),
      ...changedLimits({ timeout, retry }),
    }
  },
  toWire(_, worker) {
    const { auth, audience, envelope } = oxpSettings(worker)
    return {
      uri: worker.uri,
      ...(auth === 'api_key' && { api_key: toKeptSecret(true) }),
      ...(auth === 'jwt' && { jwt_secret: toKeptSecret(true) }),
      ...(audience !== undefined && { audience }),
      envelope,
      timeout: worker.timeoutSeconds,
      retry: worker.retry,
    }
  },
})

function authOf(
  apiKey: string | null | undefined,
  jwtSecret: string | null | undefined,
): OxpSettings['auth'] {
  if (apiKey != null) return 'api_key'
  return jwtSecret == null ? 'none' : 'jwt'
}

/** Only a JWT has an audience. */
function toSettings({
  auth,
  audience,
  envelope,
}: Pick<OxpSettings, 'auth' | 'envelope'> & { readonly audience?: string | undefined }) {
  return { auth, envelope, ...(auth === 'jwt' && audience !== undefined && { audience }) }
}
