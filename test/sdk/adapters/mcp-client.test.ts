import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type LinkRequest, onElicitation, type ShowLink } from '../../../src/sdk/adapters/mcp-client.ts'
import { startWorld } from '../../http/world.ts'
import type { Loopback } from '../../loopback.ts'
import { connect } from '../../mcp/clients.ts'
import { type AgentWorld, ASK_FIRST, askBeforeEcho, giveConsent, startAgentWorld } from './agent-world.ts'
import { startConsentMcpServer } from './consent-mcp-server.ts'

// The official MCP client, and a server that asks for the consents of a real Gatepass by URL elicitation.

let agents: AgentWorld
let server: Loopback
let user = ''

beforeAll(async () => {
  agents = await startAgentWorld()
  server = await startConsentMcpServer(agents.gatepass, () => user)
})

afterAll(async () => {
  await server.close()
  await agents[Symbol.asyncDispose]()
})

/** Calls the tool, and answers its text. */
async function call(show: ShowLink): Promise<string> {
  const client = new Client(
    { name: 'test', version: '1.0.0' },
    { capabilities: { elicitation: { url: {} } }, versionNegotiation: { mode: 'auto' } },
  )
  client.setRequestHandler('elicitation/create', onElicitation(show))
  await client.connect(new StreamableHTTPClientTransport(new URL(server.url)))
  try {
    const { content } = await client.callTool({ name: 'who_am_i', arguments: {} })
    return content.map((block) => (block.type === 'text' ? block.text : '')).join('')
  } finally {
    await client.close()
  }
}

describe('onElicitation', () => {
  test('shows the link and accepts: the tool goes on after the consent', async () => {
    user = agents.newUser()
    const messages: string[] = []
    const answer = await call(({ url, message }) => {
      messages.push(message)
      void giveConsent(url)
    })
    expect(messages).toEqual(['who_am_i needs your approval.'])
    expect(answer).toContain(`"user_id":"${user}"`)
  })

  test('declines when the user does not want to open the link', async () => {
    user = agents.newUser()
    expect(await call(() => false)).toBe('You declined.')
    expect(agents.runsOf(user, 'WhoAmI')).toBe(0)
  })

  test('at /mcp shows the link of a call that waits for a person, and the call goes on', async () => {
    await using world = await startWorld({ gatepass: { mode: 'development' } })
    const { approveCall } = await askBeforeEcho({ world })
    const links: LinkRequest[] = []
    await using connected = await connect(world.gatepass, {
      era: 'modern',
      capabilities: { elicitation: { url: {} } },
    })
    const { client } = connected
    const decided: Promise<void>[] = []
    client.setRequestHandler(
      'elicitation/create',
      onElicitation((link) => {
        links.push(link)
        decided.push(approveCall(link.url))
      }),
    )
    const call = () => client.callTool({ name: ASK_FIRST.name, arguments: ASK_FIRST.input })
    const result = await call()
    await Promise.all(decided)
    expect(JSON.stringify(result)).toContain('ask first')
    expect(links).toMatchObject([{ url: expect.stringContaining('/approve/appr_') }])
    expect(world.worker.invocations).toHaveLength(1)
  })

  test.each([
    ['a form', { mode: 'form', message: 'Your name?' }],
    ['a link of another scheme', { mode: 'url', message: 'Open.', url: 'file:///etc/passwd' }],
    ['a script', { mode: 'url', message: 'Open.', url: 'javascript:alert(1)' }],
    ['plain http to another computer', { mode: 'url', message: 'Open.', url: 'http://example.test/' }],
    ['what is no link', { mode: 'url', message: 'Open.', url: 'example' }],
  ])('declines %s and shows nothing', async (_, params) => {
    const shown: string[] = []
    const answer = await onElicitation(({ url }) => shown.push(url))({ params })
    expect([answer, shown]).toEqual([{ action: 'decline' }, []])
  })
})
