import { z } from '@hono/zod-openapi'
import type { Broker } from '../../broker.ts'
import { KEY_PREFIXES, ROLES } from '../../domain/api-key.ts'
import { type EpochSeconds, fromTimestamp, toTimestamp } from '../../domain/clock.ts'
import { BrokerError, invalidMember } from '../../domain/errors.ts'
import { createKey, projectForKey, projectOf, revokeKey, rotateKey } from '../../flows/manage-keys.ts'
import {
  cursorPageSchema,
  cursorQuery,
  requestedPage,
  toCursorPage,
} from '../../operations/schemas/cursor-page.ts'
import { idText, plainText, userIdText } from '../../operations/schemas/fields.ts'
import type { AddEndpoint } from '../endpoint/endpoint.ts'
import { issuedSchema, issuedToWire, keySchema, keyToWire } from './key-wire.ts'
import { checkedProjectName } from './projects.ts'

/** In seconds. */
const CENTURY = 100 * 365 * 24 * 3600
const DAY = 24 * 3600

const prefix = z.enum(KEY_PREFIXES).nullish().openapi({
  description: 'How the key begins: `arc` for software that accepts only the form of Arcade’s keys',
})

const idParams = z.object({ id: idText })
const tag = 'API keys'

/** API keys, for administrators without access to the database; `gatepass keys` uses the same endpoints. */
export function addKeys(add: AddEndpoint, broker: Broker): void {
  add(
    {
      operationId: 'listApiKeys',
      method: 'get',
      path: '/v1/admin/keys',
      role: 'admin',
      tag,
      summary: "The project's API keys, never the keys themselves",
      query: z.object(cursorQuery),
      responses: { 200: { description: 'A page', schema: cursorPageSchema(keySchema) } },
    },
    async ({ c, query, caller }) => {
      const project = await projectOf(broker, caller)
      const list = ['keys', project.id]
      const pageRequest = requestedPage(query, list)
      const page = await broker.store.apiKeys.page(project.id, pageRequest)
      const keys = page.items.map((key) => keyToWire(key, project.name, broker.now()))
      return c.json(toCursorPage(keys, page, pageRequest, list))
    },
  )

  add(
    {
      operationId: 'createApiKey',
      method: 'post',
      path: '/v1/admin/keys',
      role: 'admin',
      tag,
      summary: 'Make an API key, shown this once',
      description:
        'The key belongs to the project of the calling key. An administrator of the project `default` can also make the first key of another project, which is created if it does not exist. Further keys are made only by administrators of that project.',
      body: z.object({
        role: z.enum(ROLES),
        project: plainText(200)
          .nullish()
          .openapi({ description: 'By name; by default that of the calling key' }),
        name: plainText(200)
          .nullish()
          .openapi({ description: 'The purpose of the key, by which you recognize it' }),
        user_id: userIdText.nullish().openapi({
          description:
            'The only user that the key acts for; not with the role `admin`. Without it, every user',
        }),
        expires_at: z.iso.datetime({ offset: true }).nullish().openapi({
          description:
            'The key is refused from then on; without `expires_at` and `expires_in` it never expires',
        }),
        expires_in: z.number().int().min(1).max(CENTURY).nullish().openapi({ description: 'Seconds' }),
        rate_limit: z.number().int().min(0).max(1_000_000).nullish().openapi({
          description: 'Requests a second, in place of GATEPASS_RATE_LIMIT; 0: no limit',
        }),
        prefix,
      }),
      responses: { 201: { description: 'Made', schema: issuedSchema } },
    },
    async ({ c, body, caller }) => {
      const expiresAt = readExpiry(body, broker.now())
      if (body.user_id != null && body.role === 'admin')
        throw invalidMember(
          'user_id',
          'conflict',
          'A key that acts for one user cannot administer: give it the role caller or readonly.',
        )
      const own = await projectOf(broker, caller)
      // `projectForKey` may create the project, so the request is checked first
      const project =
        body.project == null ? own : await projectForKey(broker, own, checkedProjectName(body.project, own))
      const newKey = {
        projectId: project.id,
        name: body.name ?? '',
        role: body.role,
        ...(expiresAt !== undefined && { expiresAt }),
        ...(body.rate_limit != null && { rateLimit: body.rate_limit }),
        ...(body.user_id != null && { userId: body.user_id }),
      }
      return c.json(
        issuedToWire(await createKey(broker, newKey, body.prefix ?? undefined), project.name),
        201,
      )
    },
  )

  add(
    {
      operationId: 'getApiKey',
      method: 'get',
      path: '/v1/admin/keys/{id}',
      role: 'admin',
      tag,
      summary: 'One API key, never the key itself',
      params: idParams,
      responses: { 200: { description: 'The key', schema: keySchema } },
    },
    async ({ c, params: { id }, caller }) => {
      const project = await projectOf(broker, caller)
      const key = await broker.store.apiKeys.find(project.id, id)
      if (key === undefined)
        throw new BrokerError('not_found', `There is no API key "${id}" in the project "${project.name}".`)
      return c.json(keyToWire(key, project.name, broker.now()))
    },
  )

  add(
    {
      operationId: 'rotateApiKey',
      method: 'post',
      path: '/v1/admin/keys/{id}/rotate',
      role: 'admin',
      tag,
      summary: 'Make a key that takes the place of another',
      description:
        'Both keys are valid until the old one ends: after `grace` seconds, or earlier if it expires earlier.',
      params: idParams,
      body: z.object({
        grace: z.number().int().min(0).max(CENTURY).nullish().openapi({
          description: 'How many seconds the old key stays valid; a day by default',
        }),
        prefix,
      }),
      bodyIsOptional: true,
      responses: {
        201: {
          description: 'Made',
          schema: issuedSchema.extend({ replaces: z.object({ id: z.string(), expires_at: z.string() }) }),
        },
      },
    },
    async ({ c, params: { id }, body, caller }) => {
      const project = await projectOf(broker, caller)
      const { oldEndsAt, ...issued } = await rotateKey(broker, project, id, {
        graceSeconds: body.grace ?? DAY,
        ...(body.prefix != null && { prefix: body.prefix }),
      })
      const replaces = { id, expires_at: toTimestamp(oldEndsAt) }
      return c.json({ ...issuedToWire(issued, project.name), replaces }, 201)
    },
  )

  add(
    {
      operationId: 'revokeApiKey',
      method: 'delete',
      path: '/v1/admin/keys/{id}',
      role: 'admin',
      tag,
      summary: 'Revoke an API key: it is refused from now on',
      description: 'A key may revoke itself. The record of a revoked key stays in the list.',
      params: idParams,
      responses: { 204: { description: 'Revoked' } },
    },
    async ({ c, params: { id }, caller }) => {
      await revokeKey(broker, await projectOf(broker, caller), id)
      return c.body(null, 204)
    },
  )
}

/**
 * Returns when the key expires; `undefined`: never. Throws `invalid_request` for a time that has passed or is too far
 * away, and if both members are given.
 */
export function readExpiry(
  {
    expires_at: at,
    expires_in: seconds,
  }: { expires_at?: string | null | undefined; expires_in?: number | null | undefined },
  now: EpochSeconds,
): EpochSeconds | undefined {
  if (at != null && seconds != null)
    throw invalidMember('expires_in', 'conflict', 'Give expires_at or expires_in, not both.')
  if (seconds != null) return now + seconds
  if (at == null) return undefined
  const expiresAt = fromTimestamp(at)
  if (expiresAt <= now || expiresAt > now + CENTURY)
    throw invalidMember(
      'expires_at',
      'invalid',
      'expires_at must be in the future, and within a hundred years.',
    )
  return expiresAt
}
