import { z } from '@hono/zod-openapi'
import { toTimestamp } from '../../domain/clock.ts'
import { NEEDS_AUTHORIZATION_REASONS } from '../../domain/connection.ts'
import {
  addSharedConnection,
  changeSharedConnection,
  getSharedConnection as get,
  listSharedConnections as list,
  deleteSharedConnection as remove,
  type SharedWithEntry,
  testSharedConnection as test,
} from '../../flows/manage-shared-connections.ts'
import { defineOperation } from '../operation.ts'
import { fieldsText, idText, plainText, scopeText, visibleLine } from '../schemas/fields.ts'
import { pageSchema, slicePage, wholeListQuery } from '../schemas/page.ts'

const tag = 'Connections of the project'
const PATH = '/v1/admin/connections'

const patterns = (of: string) =>
  z
    .array(plainText(500))
    .min(1)
    .max(200)
    .meta({ description: `${of}; \`*\` is any characters` })

const users = patterns('The ids of users')
const agents = patterns('The ids and names of API keys, and the client ids of MCP clients. Left out: any')
const tools = patterns(
  'Names of tools. Left out: any tool, and uses without a tool, such as the proxy and tokens that callers fetch',
)

const sharedWithSchema = z.strictObject({ users, agents: agents.optional(), tools: tools.optional() }).meta({
  description: 'Who may use the connection: a use has to match all members',
  example: { users: ['*'], tools: ['Crm.*'] },
})

const sharingChange = z
  .strictObject({ users: users.optional(), agents: agents.nullish(), tools: tools.nullish() })
  .meta({
    description: 'Members that are left out stay; `null` for `agents` or `tools` means any again',
    example: { users: ['ada'], tools: null },
  })

const fields = fieldsText.meta({
  writeOnly: true,
  description:
    'For a provider of the type `credentials`: all its fields (`credentials.fields`), secrets too. The service is asked first; nothing is stored that it refuses',
  example: { domain: 'acme', api_key: '…' },
})

const nameText = visibleLine(100).meta({ description: 'What people call it; unique for its provider' })

const sharedSchema = z
  .object({
    id: z.string(),
    provider_id: z.string().optional(),
    owner: z.literal('project'),
    name: z.string(),
    scopes: z.array(z.string()).optional(),
    shared_with: sharedWithSchema,
    status: z.enum(['active', 'needs_attention']).meta({
      description: '`needs_attention`: callers are refused until an administrator has looked after it',
    }),
    status_reason: z.enum(NEEDS_AUTHORIZATION_REASONS).optional(),
    created_at: z.string(),
    updated_at: z.string(),
  })
  .openapi('SharedConnection')

const params = z.object({ id: idText })

export const addConnectionOfProject = defineOperation({
  id: 'addConnectionOfProject',
  sdk: 'admin.sharedConnections.create(connection)',
  method: 'post',
  path: PATH,
  role: 'admin',
  tag,
  summary: 'Add a connection of the project, and share it',
  description:
    'For a provider whose `owner` is `project` or `either`. The provider is asked for a token first, or whether it takes the fields; if not, nothing is added.',
  body: z.object({
    provider_id: idText.meta({ description: 'A provider entry, by its id or its kind' }),
    owner: z.literal('project').nullish(),
    name: nameText,
    scopes: z
      .array(scopeText)
      .min(1)
      .max(200)
      .nullish()
      .meta({ description: 'The most that its tokens may have. Left out: what each tool needs' }),
    fields: fields.nullish(),
    shared_with: sharedWithSchema,
  }),
  takesIdempotencyKey: true,
  status: 201,
  answer: 'Added',
  output: sharedSchema,
  async run(broker, { body, caller }) {
    const { provider_id: provider, name, scopes, fields, shared_with: sharedWith } = body
    return toWire(
      await addSharedConnection(broker, caller.projectId, {
        provider,
        name,
        scopes: scopes ?? undefined,
        fields: fields ?? undefined,
        sharedWith,
      }),
    )
  },
})

export const listConnectionsOfProject = defineOperation({
  id: 'listConnectionsOfProject',
  sdk: 'admin.sharedConnections.list()',
  method: 'get',
  path: PATH,
  role: 'readonly',
  tag,
  summary: 'All connections of the project',
  query: z.object(wholeListQuery),
  answer: 'One page, with all of them unless `limit` is given',
  output: pageSchema(sharedSchema),
  async run(broker, { query, caller }) {
    const items = (await list(broker, caller.projectId)).map(toWire)
    return slicePage(items, { ...query, limit: query.limit ?? items.length })
  },
})

export const getConnectionOfProject = defineOperation({
  id: 'getConnectionOfProject',
  sdk: 'admin.sharedConnections.get(id)',
  method: 'get',
  path: `${PATH}/{id}`,
  role: 'readonly',
  tag,
  summary: 'One connection of the project',
  params,
  answer: 'The connection',
  output: sharedSchema,
  run: async (broker, { params: { id }, caller }) => toWire(await get(broker, caller.projectId, id)),
})

export const updateConnectionOfProject = defineOperation({
  id: 'updateConnectionOfProject',
  sdk: 'admin.sharedConnections.update(id, changes)',
  method: 'patch',
  path: `${PATH}/{id}`,
  role: 'admin',
  tag,
  summary: 'Rename a connection of the project, share it with others, or replace its key',
  params,
  body: z.object({
    name: nameText.optional(),
    shared_with: sharingChange.optional(),
    fields: fields.optional(),
  }),
  answer: 'Changed',
  output: sharedSchema,
  run: async (broker, { params: { id }, body: { name, shared_with: sharedWith, fields }, caller }) =>
    toWire(await changeSharedConnection(broker, caller.projectId, id, { name, sharedWith, fields })),
})

export const testConnectionOfProject = defineOperation({
  id: 'testConnectionOfProject',
  sdk: 'admin.sharedConnections.test(id)',
  method: 'post',
  path: `${PATH}/{id}/test`,
  role: 'admin',
  tag,
  summary: 'Ask for a new token of a connection of the project, or have its key checked',
  params,
  answer: 'The provider gave a token, or takes the key',
  output: sharedSchema,
  run: async (broker, { params: { id }, caller }) => toWire(await test(broker, caller.projectId, id)),
})

export const deleteConnectionOfProject = defineOperation({
  id: 'deleteConnectionOfProject',
  sdk: 'admin.sharedConnections.delete(id)',
  method: 'delete',
  path: `${PATH}/{id}`,
  role: 'admin',
  tag,
  summary: 'Delete a connection of the project with its tokens and its key',
  params,
  answer: 'Deleted',
  run: (broker, { params: { id }, caller }) => remove(broker, caller.projectId, id),
})

function toWire({ shared, entry, trouble }: SharedWithEntry): z.infer<typeof sharedSchema> {
  const { id, name, scopes, sharedWith, createdAt, updatedAt } = shared
  return {
    id,
    provider_id: entry?.id,
    owner: 'project',
    name,
    scopes: scopes && [...scopes],
    shared_with: {
      users: [...sharedWith.users],
      ...(sharedWith.agents && { agents: [...sharedWith.agents] }),
      ...(sharedWith.tools && { tools: [...sharedWith.tools] }),
    },
    status: trouble === undefined ? 'active' : 'needs_attention',
    status_reason: trouble,
    created_at: toTimestamp(createdAt),
    updated_at: toTimestamp(updatedAt),
  }
}
