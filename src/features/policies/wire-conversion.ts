import type { z } from '@hono/zod-openapi'
import type { ApprovalTerms } from '../../domain/approval.ts'
import { toTimestamp } from '../../domain/clock.ts'
import { withoutUndefined } from '../../sdk/without-undefined.ts'
import type { ArgumentRule, ArgumentTest, Policy, PolicyHook, PolicyMatch, PolicyTime } from './domain.ts'
import type { PolicySettings } from './policy-settings.ts'
import type {
  approveSchema,
  argumentSchema,
  hookChangesSchema,
  hookSchema,
  matchSchema,
  newPolicySchema,
  policySchema,
  WireTest,
} from './wire.ts'

export function settingsFromWire(body: z.output<typeof newPolicySchema>): PolicySettings {
  const { description, enabled, effect, match, hook, approve } = body
  return {
    ...(description != null && { description }),
    enabled,
    effect,
    match: matchFromWire(match),
    ...(hook && { hook: hookFromWire(hook) }),
    ...(hook?.secret !== undefined && { hookSecret: hook.secret }),
    ...(approve && { approve: approvalFromWire(approve) }),
  }
}

export function approvalFromWire(approve: z.output<typeof approveSchema>): ApprovalTerms {
  const { by, expires_seconds, use_within_seconds, remember } = approve
  return { by, expiresSeconds: expires_seconds, useWithinSeconds: use_within_seconds, remember }
}

function approvalToWire({ by, expiresSeconds, useWithinSeconds, remember }: ApprovalTerms) {
  return {
    by,
    expires_seconds: expiresSeconds,
    use_within_seconds: useWithinSeconds,
    remember: [...remember],
  }
}

export function matchFromWire(match: z.infer<typeof matchSchema>): PolicyMatch {
  const { time, rate, quota, arguments: conditions, ...lists } = match
  return {
    ...withoutUndefined(lists),
    ...(conditions && { arguments: conditions.map(argumentFromWire) }),
    ...(time && { time: withoutUndefined(time) }),
    ...(rate && { rate }),
    ...(quota && { quota: withoutUndefined(quota) }),
  }
}

function matchToWire(match: PolicyMatch) {
  const { users, tools, workers, providers, owners, scopes, hosts, uses, hints, methods, paths } = match
  const { time, rate, quota } = match
  const conditions = match.arguments
  return {
    ...(users && { users: [...users] }),
    ...(tools && { tools: [...tools] }),
    ...(workers && { workers: [...workers] }),
    ...(providers && { providers: [...providers] }),
    ...(owners && { owners: [...owners] }),
    ...(scopes && { scopes: [...scopes] }),
    ...(hosts && { hosts: [...hosts] }),
    ...(uses && { uses: [...uses] }),
    ...(hints && { hints: [...hints] }),
    ...(methods && { methods: [...methods] }),
    ...(paths && { paths: [...paths] }),
    ...(conditions && { arguments: conditions.map(argumentToWire) }),
    time: time && timeToWire(time),
    ...(quota && { quota: { ...quota } }),
    ...(rate && { rate: { limit: rate.limit, seconds: rate.seconds, per: rate.per } }),
  }
}

function argumentFromWire({ not, ...rule }: z.infer<typeof argumentSchema>): ArgumentRule {
  const { at, as, missing } = rule
  return withoutUndefined({ at, as, ...testFromWire(rule), not: not && testFromWire(not), missing })
}

function testFromWire({ one_of, matches, domains, schema }: WireTest): ArgumentTest {
  return withoutUndefined({ oneOf: one_of, matches, domains, schema })
}

function argumentToWire({ not, ...rule }: ArgumentRule): z.infer<typeof argumentSchema> {
  const { at, as, missing } = rule
  return withoutUndefined({ at, as, ...testToWire(rule), not: not && testToWire(not), missing })
}

function testToWire({ oneOf, matches, domains, schema }: ArgumentTest): WireTest {
  return withoutUndefined({
    one_of: oneOf && [...oneOf],
    matches,
    domains: domains && [...domains],
    schema: schema && { ...schema },
  })
}

function timeToWire({ days, from, to, zone }: PolicyTime) {
  return {
    ...(days && { days: [...days] }),
    from,
    to,
    zone,
  }
}

function hookFromWire({ url, format, timeout_ms, on_failure }: z.infer<typeof hookSchema>): PolicyHook {
  return { url, format, timeoutMs: timeout_ms, onFailure: on_failure }
}

export function hookChangesFromWire(hook: z.infer<typeof hookChangesSchema>): Partial<PolicyHook> {
  return withoutUndefined({
    url: hook.url,
    format: hook.format,
    timeoutMs: hook.timeout_ms,
    onFailure: hook.on_failure,
  })
}

export function policyToWire(policy: Policy): z.infer<typeof policySchema> {
  const { id, description, enabled, effect, match, hook, hookSecret, approve, createdAt, updatedAt } = policy
  return {
    id,
    description,
    enabled,
    effect,
    match: matchToWire(match),
    ...(hook && {
      hook: {
        url: hook.url,
        format: hook.format ?? 'arcade',
        timeout_ms: hook.timeoutMs,
        on_failure: hook.onFailure,
        secret: { exists: hookSecret !== undefined },
      },
    }),
    ...(approve && { approve: approvalToWire(approve) }),
    created_at: toTimestamp(createdAt),
    updated_at: toTimestamp(updatedAt),
  }
}
