import { z } from '@hono/zod-openapi'
import { toTimestamp } from '../../domain/clock.ts'
import { USE_KINDS } from '../../domain/requested-use.ts'
import { newIdText, plainText } from '../../operations/schemas/fields.ts'
import { withoutUndefined } from '../../sdk/without-undefined.ts'
import type { Policy, PolicyHook, PolicyMatch, PolicyTime } from './domain.ts'
import type { PolicySettings } from './policy-settings.ts'

// Policies on the wire. Unknown members are refused, because a policy whose member is misspelled would match everything.

const texts = (max: number, description: string) =>
  z
    .array(plainText(max))
    .min(1, 'names nothing; leave it out to match everything')
    .max(200)
    .optional()
    .meta({ description })

const time = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'HH:MM, from 00:00 to 23:59')

const matchSchema = z
  .strictObject({
    users: texts(500, 'Users; `*` matches any characters, here and in all lists'),
    tools: texts(400, 'Tools by any of their names, in any case; `allow` only by names of their own'),
    workers: texts(200, 'Ids of the workers that run the tool'),
    providers: texts(200, 'Ids of provider entries'),
    scopes: texts(1000, 'What the token may do'),
    hosts: texts(300, 'Where the token goes: `api.github.com`, `*.example.com`, `localhost:8080`'),
    uses: z.array(z.enum(USE_KINDS)).min(1, 'names nothing; leave it out to match everything').optional(),
    time: z
      .strictObject({
        days: z
          .array(z.number().int().min(1).max(7))
          .min(1)
          .max(7)
          .optional()
          .meta({ description: '1 is Monday' }),
        from: time.optional(),
        to: time.optional().meta({ description: 'The end; this minute is not included' }),
        zone: plainText(100).optional().meta({ description: 'Such as Europe/Berlin; absent: UTC' }),
      })
      .optional(),
    rate: z
      .strictObject({
        limit: z.number().int().min(1).max(1_000_000),
        seconds: z.number().int().min(1).max(86_400),
        per: z.enum(['user', 'tool', 'project']),
      })
      .optional()
      .meta({ description: 'Matches once there were more than `limit` uses within `seconds`' }),
  })
  .openapi('PolicyMatch')

const effectSchema = z.enum(['allow', 'deny', 'hook']).meta({
  description:
    '`deny`: a use that it matches is refused. `allow`: if there are such policies, a use that none of them matches is refused. `hook`: a use that it matches is refused unless the hook permits it.',
})

const timeoutMs = z.number().int().min(100).max(10_000)
const onFailure = z
  .enum(['deny', 'allow'])
  .meta({ description: 'The decision when the hook fails or its answer is invalid' })
/** Gatepass removes the secret from the answers of the hook, so it must be too long to occur in them by chance. */
const secret = plainText(500).refine((text) => text.length >= 16 && /^[\x21-\x7e]*$/.test(text), {
  message: '16 characters or more, visible ASCII without spaces',
})

const hookSchema = z.strictObject({
  url: plainText(2048),
  timeout_ms: timeoutMs.default(2_000),
  on_failure: onFailure.default('deny'),
  secret: secret
    .optional()
    .meta({ description: 'Sent as `Authorization: Bearer <secret>`', writeOnly: true }),
})

const hookChangesSchema = hookSchema.partial().extend({
  timeout_ms: timeoutMs.optional(),
  on_failure: onFailure.optional(),
  secret: secret.nullish().meta({ description: '`null` removes the secret', writeOnly: true }),
})

export const policySchema = z
  .object({
    id: z.string(),
    description: z.string().optional(),
    enabled: z.boolean(),
    effect: z.enum(['allow', 'deny', 'hook']),
    match: matchSchema,
    hook: z
      .object({
        url: z.string(),
        timeout_ms: z.number().int(),
        on_failure: onFailure,
        secret: z.object({ exists: z.boolean() }),
      })
      .optional(),
    created_at: z.string(),
    updated_at: z.string(),
  })
  .openapi('Policy')

const newPolicy = z.strictObject({
  id: newIdText,
  description: plainText(1000).nullish(),
  enabled: z.boolean().default(true),
  effect: effectSchema,
  match: matchSchema,
  hook: hookSchema.optional(),
})
export const newPolicySchema = newPolicy.openapi('NewPolicy')

export const policyChangesSchema = newPolicy
  .omit({ id: true })
  .partial()
  .extend({ enabled: z.boolean().optional(), hook: hookChangesSchema.optional() })

export function settingsFromWire(body: z.output<typeof newPolicySchema>): PolicySettings {
  const { description, enabled, effect, match, hook } = body
  return {
    ...(description != null && { description }),
    enabled,
    effect,
    match: matchFromWire(match),
    ...(hook && { hook: hookFromWire(hook) }),
    ...(hook?.secret !== undefined && { hookSecret: hook.secret }),
  }
}

export function matchFromWire({ time, rate, ...lists }: z.infer<typeof matchSchema>): PolicyMatch {
  return { ...withoutUndefined(lists), ...(time && { time: withoutUndefined(time) }), ...(rate && { rate }) }
}

function matchToWire(match: PolicyMatch) {
  const { users, tools, workers, providers, scopes, hosts, uses, time, rate } = match
  return {
    ...(users && { users: [...users] }),
    ...(tools && { tools: [...tools] }),
    ...(workers && { workers: [...workers] }),
    ...(providers && { providers: [...providers] }),
    ...(scopes && { scopes: [...scopes] }),
    ...(hosts && { hosts: [...hosts] }),
    ...(uses && { uses: [...uses] }),
    time: time && timeToWire(time),
    ...(rate && { rate: { limit: rate.limit, seconds: rate.seconds, per: rate.per } }),
  }
}

function timeToWire({ days, from, to, zone }: PolicyTime) {
  return {
    ...(days && { days: [...days] }),
    from,
    to,
    zone,
  }
}

function hookFromWire({ url, timeout_ms, on_failure }: z.infer<typeof hookSchema>): PolicyHook {
  return { url, timeoutMs: timeout_ms, onFailure: on_failure }
}

export function hookChangesFromWire(hook: z.infer<typeof hookChangesSchema>): Partial<PolicyHook> {
  return withoutUndefined({ url: hook.url, timeoutMs: hook.timeout_ms, onFailure: hook.on_failure })
}

export function policyToWire(policy: Policy): z.infer<typeof policySchema> {
  const { id, description, enabled, effect, match, hook, hookSecret, createdAt, updatedAt } = policy
  return {
    id,
    description,
    enabled,
    effect,
    match: matchToWire(match),
    ...(hook && {
      hook: {
        url: hook.url,
        timeout_ms: hook.timeoutMs,
        on_failure: hook.onFailure,
        secret: { exists: hookSecret !== undefined },
      },
    }),
    created_at: toTimestamp(createdAt),
    updated_at: toTimestamp(updatedAt),
  }
}
