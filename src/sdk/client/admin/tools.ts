import type * as Wire from '../../generated/wire.ts'
import type { RequestOptions, Transport } from '../transport.ts'

/** Tools imported from metadata. */
export interface AdminTools {
  /** Binds an imported tool to the tool of a worker, which then runs it. */
  bind(
    name: string,
    to: { readonly workerId: string; readonly tool: string },
    options?: RequestOptions,
  ): Promise<Wire.ToolDefinition>
  /** Deletes an imported tool. The provider entries that its import created remain, with their connections. */
  delete(name: string, options?: RequestOptions): Promise<void>
}

export function createAdminTools({ call }: Transport): AdminTools {
  return {
    bind(name, { workerId, tool }, options) {
      const body = { worker_id: workerId, tool }
      return call('bindTool', { params: { name }, body, options })
    },
    async delete(name, options) {
      await call('deleteTool', { params: { name }, options })
    },
  }
}
