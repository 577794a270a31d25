import { z } from '@hono/zod-openapi'
import { type ApiKey, isExpired, ROLES } from '../../domain/api-key.ts'
import { type EpochSeconds, toTimestamp } from '../../domain/clock.ts'

const limits = {
  user_id: z.string().optional().openapi({ description: 'The only user that the key acts for' }),
  expires_at: z.string().optional(),
  rate_limit: z.number().int().optional(),
}
export const keySchema = z
  .object({
    id: z.string(),
    name: z.string(),
    project: z.string(),
    role: z.enum(ROLES),
    status: z.enum(['active', 'expired', 'revoked']),
    created_at: z.string(),
    ...limits,
    last_used_at: z.string().optional(),
    replaced_by: z.string().optional().openapi({ description: 'The key that took its place' }),
    revoked_at: z.string().optional(),
  })
  .openapi('ApiKey')
export const issuedSchema = z
  .object({
    id: z.string(),
    key: z.string().openapi({ description: 'The key itself. No other answer has it' }),
    project: z.string(),
    role: z.enum(ROLES),
    name: z.string(),
    ...limits,
  })
  .openapi('IssuedApiKey')
export function issuedToWire(
  { key, record }: { key: string; record: ApiKey },
  project: string,
): z.infer<typeof issuedSchema> {
  const { id, role, name } = record
  return { id, key, project, role, name, ...limitsOf(record) }
}

export function keyToWire(key: ApiKey, project: string, now: EpochSeconds): z.infer<typeof keySchema> {
  const { id, name, role, createdAt, lastUsedAt, revokedAt, replacedBy } = key
  return {
    id,
    name,
    project,
    role,
    status: revokedAt !== undefined ? 'revoked' : isExpired(key, now) ? 'expired' : 'active',
    created_at: toTimestamp(createdAt),
    ...limitsOf(key),
    ...(lastUsedAt !== undefined && { last_used_at: toTimestamp(lastUsedAt) }),
    ...(replacedBy !== undefined && { replaced_by: replacedBy }),
    ...(revokedAt !== undefined && { revoked_at: toTimestamp(revokedAt) }),
  }
}

function limitsOf({ userId, expiresAt, rateLimit }: ApiKey) {
  return {
    ...(userId !== undefined && { user_id: userId }),
    ...(expiresAt !== undefined && { expires_at: toTimestamp(expiresAt) }),
    ...(rateLimit !== undefined && { rate_limit: rateLimit }),
  }
}
