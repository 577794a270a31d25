import { z } from '@hono/zod-openapi'
import type { Broker } from '../../broker.ts'
import { AUDIT_ACTIONS } from '../../domain/audit.ts'
import { fromTimestamp } from '../../domain/clock.ts'
import { exportAudit } from '../../flows/audit/export-audit.ts'
import { type AuditFilter, readAudit } from '../../flows/audit/read-audit.ts'
import { withoutUndefined } from '../../sdk/without-undefined.ts'
import { newestAnchor } from '../../services/audit-anchors.ts'
import { type AuditEntry, entryToWire } from '../../services/audit-entry.ts'
import { Answer, TextStream } from '../answer.ts'
import { defineOperation } from '../operation.ts'
import { idText, limitQuery, userIdText, wholeNumber } from '../schemas/fields.ts'

const tag = 'Audit'

const timestamp = z.iso
  .datetime({ offset: true })
  .transform(fromTimestamp)
  .meta({ type: 'string', format: 'date-time', example: '2026-11-21T00:00:00Z' })

const filterQuery = {
  user_id: userIdText.optional(),
  provider_id: idText.optional(),
  connection_id: idText.optional(),
  action: z.enum(AUDIT_ACTIONS).optional(),
  tool: z.string().min(1).max(300).optional(),
  subject: z.string().min(1).max(300).optional(),
  actor_id: idText
    .optional()
    .meta({ description: 'The id of an API key, or of a user who called with an access token' }),
  since: timestamp.optional(),
  until: timestamp.optional(),
}

export const auditEntrySchema = z
  .object({
    seq: z.number().int().meta({ description: 'Counts the entries of the project, without gaps' }),
    at: z.string(),
    action: z.enum(AUDIT_ACTIONS),
    actor: z.object({
      kind: z.enum(['api_key', 'user', 'operator', 'cli', 'system']),
      id: z.string().optional(),
      client: z
        .string()
        .optional()
        .meta({ description: 'The client id of the MCP client with which a user called' }),
    }),
    user_id: z.string().optional(),
    provider_id: z.string().optional(),
    connection_id: z.string().optional(),
    owner: z
      .literal('project')
      .optional()
      .meta({ description: 'The token is of a connection of the project, used for `user_id`' }),
    authorization_id: z.string().optional(),
    subject: z.string().optional(),
    tool: z.string().optional(),
    scopes: z.array(z.string()).optional(),
    reason: z.string().optional(),
    detail: z.string().optional().meta({ description: 'The message of the provider' }),
    fingerprint: z
      .string()
      .optional()
      .meta({ description: 'A keyed hash of the access token, the same for the same token' }),
    purpose: z.string().optional().meta({ description: 'The endpoint or command' }),
    request_id: z.string().optional(),
  })
  .openapi('AuditEntry')

interface FilterQuery {
  readonly user_id?: string | undefined
  readonly provider_id?: string | undefined
  readonly connection_id?: string | undefined
  readonly action?: string | undefined
  readonly tool?: string | undefined
  readonly subject?: string | undefined
  readonly actor_id?: string | undefined
  readonly since?: number | undefined
  readonly until?: number | undefined
  readonly before?: number | undefined
  readonly after?: number | undefined
}

export const listAuditEntries = defineOperation({
  id: 'listAuditEntries',
  method: 'get',
  path: '/v1/admin/audit',
  role: 'readonly',
  tag,
  summary: 'The audit trail, newest first',
  query: z.object({
    ...filterQuery,
    before: wholeNumber({ min: 1 })
      .optional()
      .meta({ description: 'Only entries before this number: `next_before` of the page before' }),
    limit: limitQuery(1000).default(100),
  }),
  answer: 'A page; `next_before` is set if there are more entries',
  output: z.object({
    items: z.array(auditEntrySchema),
    next_before: z.number().int().optional(),
    archived_through: z.number().int().optional().meta({
      description:
        'Entries up to this number are no longer listed, because an administrator has archived them',
    }),
  }),
  async run(broker, { query, caller }) {
    const anchor = await newestAnchor(broker, caller.projectId)
    const items: AuditEntry[] = []
    for await (const entry of readAudit(broker, caller.projectId, toFilter(query), 'newest first')) {
      items.push(entry)
      if (items.length > query.limit) break
    }
    const page = items.slice(0, query.limit)
    return Answer.untyped({
      items: page.map(entryToWire),
      ...(items.length > page.length && { next_before: page.at(-1)?.seq }),
      ...(anchor && { archived_through: anchor.lastSeq }),
    })
  },
})

export const exportAuditEntries = defineOperation({
  id: 'exportAuditEntries',
  method: 'get',
  path: '/v1/admin/audit/export',
  role: 'readonly',
  tag,
  summary: 'The audit trail as JSON lines, oldest first',
  query: z.object({
    ...filterQuery,
    after: wholeNumber({ min: 0 }).optional().meta({
      description:
        'Only entries after this number: where the last export ended. If the next entry is archived, the answer is 410 `entries_archived`',
    }),
  }),
  answer:
    'Each line is an AuditEntry. The header `Audit-Archived-Through` has the number of the last archived entry, if there is one',
  output: z.string(),
  mediaType: 'application/x-ndjson',
  run: (broker, { query, caller }) => exportedEntries(broker, caller.projectId, toFilter(query)),
})

/** The selected entries as JSON lines. Throws like `exportAudit`. */
export async function exportedEntries(
  broker: Broker,
  projectId: string,
  filter: AuditFilter,
): Promise<TextStream> {
  const { entries, archivedThrough } = await exportAudit(broker, projectId, filter)
  const headers = archivedThrough === undefined ? {} : { 'audit-archived-through': String(archivedThrough) }
  return new TextStream('application/x-ndjson', toLines(entries), headers)
}

async function* toLines(entries: AsyncIterable<AuditEntry>): AsyncGenerator<string, undefined> {
  for await (const entry of entries) yield `${JSON.stringify(entryToWire(entry))}\n`
  return undefined
}

function toFilter(query: FilterQuery): AuditFilter {
  const { user_id, provider_id, connection_id, action, tool, subject } = query
  const { actor_id, since, until, before, after } = query
  const filter = {
    userId: user_id,
    providerId: provider_id,
    connectionId: connection_id,
    action,
    tool,
    subject,
    actorId: actor_id,
    since,
    until,
    before,
    after,
  }
  return withoutUndefined(filter)
}
