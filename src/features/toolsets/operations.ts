import { z } from '@hono/zod-openapi'
import type { Broker } from '../../broker.ts'
import { defineOperation } from '../../operations/operation.ts'
import { idText } from '../../operations/schemas/fields.ts'
import { pageQuery, pageSchema, slicePage } from '../../operations/schemas/page.ts'
import type { Toolset } from './domain.ts'
import { getToolset as get, toolsOf } from './toolset.ts'
import { addToolset, changeToolset, deleteToolset as remove } from './toolset-settings.ts'
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
} from './wire.ts'

const idParams = z.object({ id: idText })
const tag = 'Toolsets'

export const listToolsets = defineOperation({
  id: 'listToolsets',
  sdk: 'admin.toolsets.list()',
  method: 'get',
  path: '/v1/toolsets',
  role: 'readonly',
  tag,
  summary: 'All toolsets',
  query: z.object(pageQuery),
  answer: 'A page, by id',
  output: pageSchema(toolsetSchema),
  async run(broker, { query, caller }) {
    const toolsets = await broker.store.toolsets.list(caller.projectId)
    return slicePage(
      toolsets.map((toolset) => toolsetToWire(broker.settings, toolset)),
      query,
    )
  },
})

export const getToolset = defineOperation({
  id: 'getToolset',
  sdk: 'admin.toolsets.get(id)',
  method: 'get',
  path: '/v1/toolsets/{id}',
  role: 'readonly',
  tag,
  summary: 'One toolset, and how many tools it has now',
  params: idParams,
  answer: 'The toolset',
  output: toolsetDetailSchema,
  run: async (broker, { params: { id }, caller }) =>
    await detail(broker, await get(broker, caller.projectId, id)),
})

export const listToolsetTools = defineOperation({
  id: 'listToolsetTools',
  sdk: 'admin.toolsets.tools(id)',
  method: 'get',
  path: '/v1/toolsets/{id}/tools',
  role: 'readonly',
  tag,
  summary: 'The tools of a toolset, oldest first, under the names that MCP clients get',
  description: '`GET /v1/tools?toolset={id}` describes them.',
  params: idParams,
  query: z.object(pageQuery),
  answer: 'A page, oldest first',
  output: pageSchema(shownToolSchema),
  async run(broker, { params: { id }, query, caller }) {
    const { tools } = await toolsOf(broker, await get(broker, caller.projectId, id))
    const page = slicePage(tools, query)
    return { ...page, items: page.items.map(shownToolToWire) }
  },
})

export const createToolset = defineOperation({
  id: 'createToolset',
  sdk: 'admin.toolsets.create(toolset)',
  method: 'post',
  path: '/v1/toolsets',
  role: 'admin',
  tag,
  summary: 'Make a toolset',
  description:
    'A tool is in it when any of `tools`, `namespaces`, `tags` and `providers` names it, even if the tool is added later. `warnings` lists selectors that match no tool now.',
  body: newToolsetSchema,
  takesIdempotencyKey: true,
  status: 201,
  answer: 'Made',
  output: toolsetDetailSchema,
  async run(broker, { body, caller }) {
    const toolset = await addToolset(broker, caller.projectId, body.id, settingsFromWire(body))
    return detail(broker, toolset)
  },
})

export const updateToolset = defineOperation({
  id: 'updateToolset',
  sdk: 'admin.toolsets.update(id, changes)',
  method: 'patch',
  path: '/v1/toolsets/{id}',
  role: 'admin',
  tag,
  summary: 'Change a toolset',
  description: 'Each list is replaced as a whole; `null` removes a member.',
  params: idParams,
  body: toolsetChangesSchema,
  answer: 'Changed',
  output: toolsetDetailSchema,
  async run(broker, { params: { id }, body, caller }) {
    const toolset = await get(broker, caller.projectId, id)
    return detail(broker, await changeToolset(broker, toolset, changesFromWire(body)))
  },
})

export const deleteToolset = defineOperation({
  id: 'deleteToolset',
  sdk: 'admin.toolsets.delete(id)',
  method: 'delete',
  path: '/v1/toolsets/{id}',
  role: 'admin',
  tag,
  summary: 'Delete a toolset',
  description: 'Its tools are not deleted.',
  params: idParams,
  answer: 'Deleted',
  async run(broker, { params: { id }, caller: { projectId } }) {
    await remove(broker, projectId, id)
  },
})

async function detail(broker: Broker, toolset: Toolset) {
  return detailToWire(broker.settings, toolset, await toolsOf(broker, toolset))
}
