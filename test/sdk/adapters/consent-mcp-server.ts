import { toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler, inputRequired, McpServer } from '@modelcontextprotocol/server'
import { z } from 'zod'
import type { Gatepass } from '../../../src/sdk/client/gatepass.ts'
import { type Loopback, listen } from '../../loopback.ts'

/** An MCP server (2026-07-28) with the tool `who_am_i`, which asks for a missing consent of Gatepass by URL elicitation. */
export async function startConsentMcpServer(gatepass: Gatepass, user: () => string): Promise<Loopback> {
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: 'consent', version: '1.0.0' })
    server.registerTool(
      'who_am_i',
      { description: 'Says for whom the token acts.', inputSchema: z.object({}) },
      async (_, { mcpReq: { inputResponses } }) => {
        if (JSON.stringify(inputResponses ?? {}).includes('"decline"'))
          return { isError: true, content: [{ type: 'text', text: 'You declined.' }] }
        let outcome = await gatepass.tools.execute('Demo_WhoAmI', {}, { user: user() })
        if (outcome.outcome === 'requires_authorization') {
          const { id, url, wait } = outcome.authorization
          if (inputResponses === undefined)
            return inputRequired({
              inputRequests: {
                [id]: inputRequired.elicitUrl({ url, message: 'who_am_i needs your approval.' }),
              },
            })
          await wait()
          outcome = await gatepass.tools.execute('Demo_WhoAmI', {}, { user: user() })
        }
        if (outcome.outcome !== 'value') throw new Error(`ended with ${outcome.outcome}`)
        return { content: [{ type: 'text', text: JSON.stringify(outcome.value) }] }
      },
    )
    return server
  })
  const handle = toNodeHandler(handler)
  return listen((req, res) => handle(req as Parameters<typeof handle>[0], res)) // its type leaves out `undefined`
}
