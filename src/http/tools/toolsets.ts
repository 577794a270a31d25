import { z } from '@hono/zod-openapi'
import type { Broker } from '../../broker.ts'
import type { Toolset } from '../../domain/toolset.ts'
import { idText } from '../../operations/schemas/fields.ts'
import { pageQuery, pageSchema, slicePage } from '../../operations/schemas/page.ts'
import { getToolset, shownTools } from '../../tools/catalogue/shown-tools.ts'
import { addToolset, changeToolset, deleteToolset } from '../../tools/catalogue/toolset-settings.ts'
import type { AddEndpoint } from '../endpoint/endpoint.ts'
import {
  changesFromWire,
  detailToWire,
  newToolsetSchema,
  settingsFromWire,
  shownToolSchema,
  shownToolToWire,
  toolsetChangesSchema,
  toolsetDetailSchema,
  toolsetSchema,
  toolsetToWire,
} from './toolset-wire.ts'

const idParams = z.object({ id: idText })
const tag = 'Toolsets'

/** Toolsets are named selections of tools, which MCP clients reach at `/mcp/{id}`. */
export function addToolsets(add: AddEndpoint, broker: Broker): void {
  const detail = async (toolset: Toolset) =>
    detailToWire(broker.settings, toolset, await shownTools(broker, toolset.projectId, toolset.id))

  add(
    {
      operationId: 'listToolsets',
      method: 'get',
      path: '/v1/toolsets',
      role: 'readonly',
      tag,
      summary: 'All toolsets',
      query: z.object(pageQuery),
      responses: { 200: { description: 'A page, by id', schema: pageSchema(toolsetSchema) } },
    },
    async ({ c, query, caller }) => {
      const toolsets = await broker.store.toolsets.list(caller.projectId)
      return c.json(
        slicePage(
          toolsets.map((one) => toolsetToWire(broker.settings, one)),
          query,
        ),
      )
    },
  )

  add(
    {
      operationId: 'getToolset',
      method: 'get',
      path: '/v1/toolsets/{id}',
      role: 'readonly',
      tag,
      summary: 'One toolset, and how many tools it has now',
      params: idParams,
      responses: { 200: { description: 'The toolset', schema: toolsetDetailSchema } },
    },
    async ({ c, params: { id }, caller }) =>
      c.json(await detail(await getToolset(broker, caller.projectId, id))),
  )

  add(
    {
      operationId: 'listToolsetTools',
      method: 'get',
      path: '/v1/toolsets/{id}/tools',
      role: 'readonly',
      tag,
      summary: 'The tools of a toolset, under the names that MCP clients get',
      description: '`GET /v1/tools?toolset={id}` describes them.',
      params: idParams,
      query: z.object(pageQuery),
      responses: { 200: { description: 'A page, oldest first', schema: pageSchema(shownToolSchema) } },
    },
    async ({ c, params: { id }, query, caller }) => {
      const { tools } = await shownTools(broker, caller.projectId, id)
      const page = slicePage(tools, query)
      return c.json({ ...page, items: page.items.map(shownToolToWire) })
    },
  )

  add(
    {
      operationId: 'createToolset',
      method: 'post',
      path: '/v1/toolsets',
      role: 'admin',
      tag,
      summary: 'Make a toolset',
      description:
        'A tool is in it when any of `tools`, `namespaces`, `tags` and `providers` names it, even if the tool is added later. `warnings` lists selectors that match no tool now.',
      body: newToolsetSchema,
      takesIdempotencyKey: true,
      responses: { 201: { description: 'Made', schema: toolsetDetailSchema } },
    },
    async ({ c, body, caller }) => {
      const toolset = await addToolset(broker, caller.projectId, body.id, settingsFromWire(body))
      return c.json(await detail(toolset), 201)
    },
  )

  add(
    {
      operationId: 'updateToolset',
      method: 'patch',
      path: '/v1/toolsets/{id}',
      role: 'admin',
      tag,
      summary: 'Change a toolset',
      description: 'Each list is replaced as a whole; `null` removes a member.',
      params: idParams,
      body: toolsetChangesSchema,
      responses: { 200: { description: 'Changed', schema: toolsetDetailSchema } },
    },
    async ({ c, params: { id }, body, caller }) => {
      const toolset = await getToolset(broker, caller.projectId, id)
      return c.json(await detail(await changeToolset(broker, toolset, changesFromWire(body))))
    },
  )

  add(
    {
      operationId: 'deleteToolset',
      method: 'delete',
      path: '/v1/toolsets/{id}',
      role: 'admin',
      tag,
      summary: 'Delete a toolset',
      description: 'Its tools are not deleted.',
      params: idParams,
      responses: { 204: { description: 'Deleted' } },
    },
    async ({ c, params: { id }, caller: { projectId } }) => {
      await deleteToolset(broker, projectId, id)
      return c.body(null, 204)
    },
  )
}
