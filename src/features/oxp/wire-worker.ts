import { z } from '@hono/zod-openapi'
import {
  changedLimits,
  defineWorkerType,
  keptSecret,
  limits,
  toKeptSecret,
  workerUri,
} from '../../operations/worker-types/define.ts'
import { AUDIENCE_ALONE, changedOxpSettings, newOxpSettings, oxpSettings } from './backend-settings.ts'

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
    .refine((settings) => settings.api_key === undefined || settings.jwt_secret === undefined, ONE_OF_BOTH)
    .refine(
      (settings) => settings.audience === undefined || settings.jwt_secret !== undefined,
      AUDIENCE_ALONE,
    ),
  change: z
    .object({
      uri: workerUri.optional(),
      api_key: apiKey.nullish().meta({ description: '`null` removes it' }),
      jwt_secret: jwtSecret.nullish().meta({ description: '`null` removes it' }),
      audience: audience.nullish(),
      envelope: envelope.optional(),
      ...limits.change,
    })
    .refine((settings) => settings.api_key == null || settings.jwt_secret == null, ONE_OF_BOTH),
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
    settings: newOxpSettings({ apiKey: api_key, jwtSecret: jwt_secret, audience, envelope }),
    timeoutSeconds: timeout,
    retry,
  }),
  toChange: (_, { uri, api_key, jwt_secret, audience, envelope, timeout, retry }, worker) => ({
    ...(uri !== undefined && { uri }),
    ...changedOxpSettings(oxpSettings(worker), {
      apiKey: api_key,
      jwtSecret: jwt_secret,
      audience,
      envelope,
    }),
    ...changedLimits({ timeout, retry }),
  }),
  toWire(_, worker) {
    const { auth, audience, envelope } = oxpSettings(worker)
    return {
      uri: worker.uri,
      ...(auth === 'api_key' && { api_key: toKeptSecret(true) }),
      ...(auth === 'jwt' && { jwt_secret: toKeptSecret(true) }),
      audience,
      envelope,
      timeout: worker.timeoutSeconds,
      retry: worker.retry,
    }
  },
})
