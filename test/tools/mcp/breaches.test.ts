import { expect, test } from 'vitest'
import { startMcpWorld } from '../../http/mcp-world.ts'
import { answerJson } from '../../loopback.ts'

// A server that breaks the protocol: the operator reads how.

test.each([
  ['tools/call', { content: [] }, /missing required resultType/],
  [
    'tools/call',
    { resultType: 'complete', content: [{ type: 'text', text: 5 }] },
    /Invalid result for tools\/call: /,
  ],
])(
  'a server whose %s result %j breaks the protocol is said to, with the reason',
  async (broken, result, why) => {
    await using world = await startMcpWorld({ mcp: { protocol: '2026' } })
    world.mcp.behaviour.intercept = ({ json }, res) => {
      const { method, id } = json as { method?: string; id: number }
      if (method !== broken) return false
      answerJson(res, 200, { jsonrpc: '2.0', id, result })
      return true
    }
    const { body } = await world.execute('Demo.echo', { user_id: 'ada' })
    expect(body.output.error).toMatchObject({
      kind: 'TOOL_RUNTIME_BAD_OUTPUT_VALUE',
      developer_message: expect.stringMatching(/does not follow the Model Context Protocol: /),
    })
    expect(body.output.error.developer_message).toMatch(why)
  },
)

test('a server whose list of tools breaks the protocol says so where the operator looks', async () => {
  await using world = await startMcpWorld({ mcp: { protocol: '2026' } })
  world.mcp.behaviour.intercept = ({ json }, res) => {
    const { method, id } = json as { method?: string; id: number }
    if (method !== 'tools/list') return false
    answerJson(res, 200, { jsonrpc: '2.0', id, result: { tools: [] } })
    return true
  }
  const { body } = await world.call('PATCH', '/v1/workers/demo', { enabled: true })
  expect(body.sync_error).toMatch(/does not follow the Model Context Protocol: .*missing required resultType/)
})
