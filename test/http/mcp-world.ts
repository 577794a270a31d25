import type { BackendCall } from '../../src/tools/backend.ts'
import { getTool } from '../../src/tools/catalogue/get-tool.ts'
import { executeTool } from '../../src/tools/run/execute-tool.ts'
import type { Execution, ToolCall } from '../../src/tools/run/execution.ts'
import { type FakeAuthorizationServer, startFakeAuthorizationServer } from '../fake-authorization-server.ts'
import { type FakeMcpServer, type FakeMcpServerOptions, startFakeMcpServer } from '../fake-mcp-server.ts'
import { type Gatepass, type GatepassOptions, startGatepass } from '../gatepass.ts'
import { withoutJobs } from '../without-jobs.ts'
import { approve, STAINLESS } from './world.ts'

/** A Gatepass with an MCP server that is registered as the worker `demo`. */
export interface McpWorld extends AsyncDisposable {
  readonly as: FakeAuthorizationServer
  readonly mcp: FakeMcpServer
  readonly gatepass: Gatepass
  readonly call: Gatepass['call']
  /** The answer to its registration as a worker. */
  readonly worker: Awaited<ReturnType<Gatepass['call']>>
  /** Runs a tool as Arcade's SDKs do, whose answers have the kind of an error. */
  execute(tool_name: string, more?: Record<string, unknown>): ReturnType<Gatepass['call']>
  /** Runs a tool of the namespace `Demo` without HTTP, with its events and its cancellation. */
  run(
    name: string,
    more?: Pick<BackendCall, 'onEvent' | 'signal'> & Pick<ToolCall, 'userId' | 'dialog'>,
  ): Promise<Execution>
  /** Has the user approve the server, and lists its tools in their name. */
  authorize(userId: string): ReturnType<Gatepass['call']>
}

export interface McpWorldOptions {
  readonly mcp?: Omit<FakeMcpServerOptions, 'as'>
  /** Whether the server requires OAuth. */
  readonly wantsOAuth?: boolean
  readonly as?: Parameters<typeof startFakeAuthorizationServer>[0]
  readonly gatepass?: GatepassOptions
  /** Settings beside `uri`. */
  readonly settings?: Record<string, unknown>
}

export async function startMcpWorld(options: McpWorldOptions = {}): Promise<McpWorld> {
  const as = await startFakeAuthorizationServer({
    registration: 'public',
    requirePkce: 'S256',
    userInfo: '500',
    ...options.as,
  })
  const mcp = await startFakeMcpServer({ ...options.mcp, ...(options.wantsOAuth && { as }) })
  const gatepass = await withoutJobs(() => startGatepass(options.gatepass))
  const { call } = gatepass
  const worker = await call('POST', '/v1/workers', {
    id: 'demo',
    // tests of pinned tools are in threats/pinned-tools.test.ts
    pinning: 'record',
    mcp: { uri: mcp.url, timeout: 60, retry: 0, ...options.settings },
  })
  return {
    as,
    mcp,
    gatepass,
    call,
    worker,
    execute: (tool_name, more = {}) =>
      call('POST', '/v1/tools/execute', { tool_name, ...more }, { headers: STAINLESS }),
    async run(name, { signal, ...more } = {}) {
      const { broker } = gatepass
      const { id: projectId } = await broker.store.projects.ensure('default', broker.now())
      const tool = await getTool(broker, projectId, `Demo.${name}`)
      return executeTool(broker, { tool, input: {}, entryPoint: 'run_stream', ...more }, signal)
    },
    async authorize(userId) {
      const path = `/v1/workers/demo/authorize?user_id=${encodeURIComponent(userId)}`
      const { body } = await call('POST', path)
      await approve(body.url)
      return call('POST', path)
    },
    async [Symbol.asyncDispose]() {
      await gatepass.close()
      await mcp.close()
      await as.close()
    },
  }
}
