import type * as Wire from '../../generated/wire.ts'
import type { Body } from '../operation.ts'
import { createList, type List } from '../pages.ts'
import type { RequestOptions, Transport } from '../transport.ts'

/** Toolsets are named selections of tools, which MCP clients reach at `/mcp/{id}`. */
export interface AdminToolsets {
  list(): List<Wire.Toolset>
  /** With the number of its tools, and what its selectors do not find. */
  get(id: string, options?: RequestOptions): Promise<Wire.ToolsetDetail>
  /** Its tools, oldest first, under the names that MCP clients get. */
  tools(id: string): List<Wire.ShownTool>
  create(toolset: Body<'createToolset'>, options?: RequestOptions): Promise<Wire.ToolsetDetail>
  /** Each list is replaced as a whole; `null` removes a member. */
  update(id: string, changes: Body<'updateToolset'>, options?: RequestOptions): Promise<Wire.ToolsetDetail>
  /** Its tools stay. */
  delete(id: string, options?: RequestOptions): Promise<void>
}

export function createToolsets({ call }: Transport): AdminToolsets {
  return {
    list: () => createList((query, options) => call('listToolsets', { query, options })),
    get: (id, options) => call('getToolset', { params: { id }, options }),
    tools: (id) =>
      createList((query, options) => call('listToolsetTools', { params: { id }, query, options })),
    create: (body, options) => call('createToolset', { body, options }),
    update: (id, body, options) => call('updateToolset', { params: { id }, body, options }),
    async delete(id, options) {
      await call('deleteToolset', { params: { id }, options })
    },
  }
}
