import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import type { Pool } from 'undici'
import { z } from 'zod'
import { callWorker } from './bare-worker.ts'

const GREET = { description: 'Says hello.', inputSchema: z.object({ name: z.string() }) }

/** An MCP server as the SDK's examples write it, whose only tool calls the worker. */
export function mcpHandler(worker: Pool) {
  return createMcpHandler(({ requestInfo }) => {
    const server = new McpServer({ name: 'bare', version: '1' })
    const userId = requestInfo?.headers.get('x-gatepass-user') ?? ''
    server.registerTool('Bench_Greet', GREET, async (input) => {
      const { output } = await callWorker(worker, userId, input)
      return { content: [{ type: 'text', text: output.value }] }
    })
    return server
  })
}
