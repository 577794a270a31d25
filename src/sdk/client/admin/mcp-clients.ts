import type * as Wire from '../../generated/wire.ts'
import { createList, type List } from '../pages.ts'
import type { RequestOptions, Transport } from '../transport.ts'

/** The MCP clients that users have allowed to act for them. */
export interface AdminMcpClients {
  /** The newest first; of all users unless one is named. */
  list(filter?: { readonly user?: string | undefined }): List<Wire.McpClient>
  /** Ends the client's access for its user: its tokens are refused from then on. */
  delete(id: string, options?: RequestOptions): Promise<void>
}

export function createMcpClients({ call }: Transport): AdminMcpClients {
  return {
    list: ({ user } = {}) =>
      createList((page, options) => {
        const query = { user_id: user, ...page }
        return call('listMcpClients', { query, options })
      }),
    async delete(id, options) {
      await call('deleteMcpClient', { params: { id }, options })
    },
  }
}
