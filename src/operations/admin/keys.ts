import { z } from '@hono/zod-openapi'
import { type ApiKey, isExpired, KEY_PREFIXES, ROLES } from '../../domain/api-key.ts'
import { type EpochSeconds, fromTimestamp, toTimestamp } from '../../domain/clock.ts'
import {
  createKey,
  getKey,
  LONGEST_LIFETIME,
  projectOf,
  revokeKey,
  rotateKey,
} from '../../flows/manage-keys.ts'
import { defineOperation } from '../operation.ts'
import { cursorPageSchema, cursorQuery, requestedPage, toCursorPage } from '../schemas/cursor-page.ts'
import { idText, plainText, userIdText } from '../schemas/fields.ts'

const prefix = z.enum(KEY_PREFIXES).nullish().meta({
  description: 'How the key begins: `arc` for software that accepts only the form of Arcade’s keys',
})

const idParams = z.object({ id: idText })
const tag = 'API keys'

const limits = {
  user_id: z.string().optional().meta({ description: 'The only user that the key acts for' }),
  groups: z.array(z.string()).optional().meta({
    description: 'Of an approver: the groups whose calls it lists and decides about; without it, all',
  }),
  expires_at: z.string().optional(),
  rate_limit: z.number().int().optional(),
}
const keySchema = z
  .object({
    id: z.string(),
    name: z.string(),
    project: z.string(),
    role: z.enum(ROLES),
    status: z.enum(['active', 'expired', 'revoked']),
    created_at: z.string(),
    ...limits,
    last_used_at: z.string().optional(),
    replaced_by: z.string().optional().meta({ description: 'The key that took its place' }),
    revoked_at: z.string().optional(),
  })
  .openapi('ApiKey')
const issuedSchema = z
  .object({
    id: z.string(),
    key: z.string().meta({ description: 'The key itself. No other answer has it' }),
    project: z.string(),
    role: z.enum(ROLES),
    name: z.string(),
    ...limits,
  })
  .openapi('IssuedApiKey')

export const listApiKeys = defineOperation({
  id: 'listApiKeys',
  sdk: 'admin.keys.list()',
  method: 'get',
  path: '/v1/admin/keys',
  role: 'admin',
  tag,
  summary: "The project's API keys, never the keys themselves",
  query: z.object(cursorQuery),
  answer: 'A page',
  output: cursorPageSchema(keySchema),
  async run(broker, { query, caller }) {
    const project = await projectOf(broker, caller)
    const list = ['keys', project.id]
    const pageRequest = requestedPage(query, list)
    const page = await broker.store.apiKeys.page(project.id, pageRequest)
    const keys = page.items.map((key) => apiKeyToWire(key, project.name, broker.now()))
    return toCursorPage(keys, page, pageRequest, list)
  },
})

export const createApiKey = defineOperation({
  id: 'createApiKey',
  sdk: 'admin.keys.create(key)',
  method: 'post',
  path: '/v1/admin/keys',
  role: 'admin',
  tag,
  summary: 'Create an API key, which is shown only once',
  description:
    'The key belongs to the project of the calling key. An administrator of the project `default` can also make the first key of another project, which is created if it does not exist. Further keys are made only by administrators of that project.',
  repetition: 'unsafe',
  body: z.object({
    role: z.enum(ROLES),
    project: plainText(200).nullish().meta({ description: 'By name; by default that of the calling key' }),
    name: plainText(200).nullish().meta({ description: 'The purpose of the key, by which you recognize it' }),
    user_id: userIdText.nullish().meta({
      description: 'The only user that the key acts for; not with the role `admin`. Without it, every user',
    }),
    groups: z.array(idText).min(1, 'names none; leave it out for all').max(50).nullish().meta({
      description:
        'Only with the role `approver`: the groups whose calls the key lists and decides about. Without it, all',
    }),
    expires_at: z.iso.datetime({ offset: true }).nullish().meta({
      description: 'The key is refused from then on; without `expires_at` and `expires_in` it never expires',
    }),
    expires_in: z.number().int().min(1).max(LONGEST_LIFETIME).nullish().meta({ description: 'Seconds' }),
    rate_limit: z.number().int().min(0).max(1_000_000).nullish().meta({
      description: 'Requests a second, in place of GATEPASS_RATE_LIMIT; 0: no limit',
    }),
    prefix,
  }),
  status: 201,
  answer: 'Made',
  output: issuedSchema,
  async run(broker, { body, caller }) {
    const { project, ...issued } = await createKey(broker, await projectOf(broker, caller), {
      role: body.role,
      name: body.name ?? undefined,
      project: body.project ?? undefined,
      userId: body.user_id ?? undefined,
      groups: body.groups ?? undefined,
      expiresAt: body.expires_at == null ? undefined : fromTimestamp(body.expires_at),
      expiresIn: body.expires_in ?? undefined,
      rateLimit: body.rate_limit ?? undefined,
      prefix: body.prefix ?? undefined,
    })
    return issuedToWire(issued, project.name)
  },
})

export const getApiKey = defineOperation({
  id: 'getApiKey',
  sdk: 'admin.keys.get(id)',
  method: 'get',
  path: '/v1/admin/keys/{id}',
  role: 'admin',
  tag,
  summary: 'One API key, never the key itself',
  params: idParams,
  answer: 'The key',
  output: keySchema,
  async run(broker, { params: { id }, caller }) {
    const project = await projectOf(broker, caller)
    return apiKeyToWire(await getKey(broker, project, id), project.name, broker.now())
  },
})

export const rotateApiKey = defineOperation({
  id: 'rotateApiKey',
  sdk: 'admin.keys.rotate(id)',
  method: 'post',
  path: '/v1/admin/keys/{id}/rotate',
  role: 'admin',
  tag,
  summary: 'Create a key that replaces another',
  description:
    'Both keys are valid until the old one ends: after `grace` seconds, or earlier if it expires earlier.',
  repetition: 'unsafe',
  params: idParams,
  body: z.object({
    grace: z.number().int().min(0).max(LONGEST_LIFETIME).nullish().meta({
      description: 'How many seconds the old key stays valid; a day by default',
    }),
    prefix,
  }),
  bodyIsOptional: true,
  status: 201,
  answer: 'Made',
  output: issuedSchema.extend({ replaces: z.object({ id: z.string(), expires_at: z.string() }) }),
  async run(broker, { params: { id }, body, caller }) {
    const project = await projectOf(broker, caller)
    const { oldEndsAt, ...issued } = await rotateKey(broker, project, id, {
      graceSeconds: body.grace ?? undefined,
      prefix: body.prefix ?? undefined,
    })
    return { ...issuedToWire(issued, project.name), replaces: { id, expires_at: toTimestamp(oldEndsAt) } }
  },
})

export const revokeApiKey = defineOperation({
  id: 'revokeApiKey',
  sdk: 'admin.keys.revoke(id)',
  method: 'delete',
  path: '/v1/admin/keys/{id}',
  role: 'admin',
  tag,
  summary: 'Revoke an API key; it is refused from then on',
  description: 'A key may revoke itself. The record of a revoked key stays in the list.',
  params: idParams,
  answer: 'Revoked',
  run: async (broker, { params: { id }, caller }) => revokeKey(broker, await projectOf(broker, caller), id),
})

function issuedToWire(
  { key, record }: { key: string; record: ApiKey },
  project: string,
): z.infer<typeof issuedSchema> {
  const { id, role, name } = record
  return { id, key, project, role, name, ...limitsOf(record) }
}

export function apiKeyToWire(key: ApiKey, project: string, now: EpochSeconds): z.infer<typeof keySchema> {
  const { id, name, role, createdAt, lastUsedAt, revokedAt, replacedBy } = key
  return {
    id,
    name,
    project,
    role,
    status: revokedAt !== undefined ? 'revoked' : isExpired(key, now) ? 'expired' : 'active',
    created_at: toTimestamp(createdAt),
    ...limitsOf(key),
    last_used_at: toTimestamp(lastUsedAt),
    replaced_by: replacedBy,
    revoked_at: toTimestamp(revokedAt),
  }
}

function limitsOf({ userId, groups, expiresAt, rateLimit }: ApiKey) {
  return {
    user_id: userId,
    groups: groups === undefined ? undefined : [...groups],
    expires_at: toTimestamp(expiresAt),
    rate_limit: rateLimit,
  }
}
