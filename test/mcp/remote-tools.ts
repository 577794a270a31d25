import { expect } from 'vitest'
import { type FakeMcpTool, startFakeMcpServer } from '../fake-mcp-server.ts'
import { startGatepass } from '../gatepass.ts'
import { withoutJobs } from '../without-jobs.ts'
import { connect, type Era } from './clients.ts'

/** Starts a Gatepass with a worker `remote`, an MCP server that has these tools. */
export async function startRemoteTools(tools: readonly FakeMcpTool[]) {
  const server = await startFakeMcpServer({ name: 'remote', protocol: '2026', tools })
  // no job in the background reads the list of tools
  const gatepass = await withoutJobs(() => startGatepass({ mode: 'development' }))
  async function create(path: string, body: unknown): Promise<void> {
    const { status } = await gatepass.call('POST', path, body)
    expect(status).toBe(201)
  }
  await create('/v1/workers', { id: 'remote', mcp: { uri: server.url } })
  return {
    gatepass,
    create,
    /** What a client of Gatepass lists, by the names that the server gave. */
    async list(era: Era, user = 'ada') {
      await using connected = await connect(gatepass, { era, user })
      const { tools: listed } = await connected.client.listTools()
      return new Map(listed.map((tool) => [tool.name.replace(/^Remote_/, ''), tool]))
    },
    async call(era: Era, name: string, args: Record<string, unknown> = {}, user = 'ada') {
      await using connected = await connect(gatepass, { era, user })
      return await connected.client.callTool({ name, arguments: args })
    },
    async [Symbol.asyncDispose]() {
      await gatepass.close()
      await server.close()
    },
  }
}

export type RemoteTools = Awaited<ReturnType<typeof startRemoteTools>>
