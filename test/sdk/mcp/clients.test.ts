import { fileURLToPath } from 'node:url'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as LegacyTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import {
  ElicitRequestSchema,
  ListRootsRequestSchema,
  LoggingMessageNotificationSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { mcp, type ServedMcp, serveMcp } from '../../../src/sdk/mcp/mcp.ts'
import { ToolApp } from '../../../src/sdk/tools/index.ts'
import { questionsApp } from './questions-app.ts'

// Real clients: the official one of each protocol, and the one of the SDK's first version.

const { app, counts } = questionsApp()
let served: ServedMcp
beforeAll(async () => {
  served = await serveMcp(app, { port: 0 })
})
afterAll(() => served.close())
beforeEach(() => void Object.assign(counts, { entered: 0, charged: 0, cleaned: 0, cancelled: 0 }))

const CAPABILITIES = { elicitation: { form: {} }, roots: {} }
const ROOTS = { roots: [{ uri: 'file:///home/ada' }] }

/** Answers each form by its message. */
function answers(message: string) {
  const content: Record<string, unknown> = message === 'Sure?' ? { sure: true } : { guests: 4 }
  return { action: 'accept' as const, content: content as Record<string, boolean | number> }
}

async function connect(mode: 'legacy' | 'auto', capabilities: object = CAPABILITIES, other?: ToolApp) {
  const client = new Client({ name: 'test', version: '1' }, { capabilities, versionNegotiation: { mode } })
  const asked: string[] = []
  if ('elicitation' in capabilities)
    client.setRequestHandler('elicitation/create', ({ params: { message } }) => {
      asked.push(message)
      return answers(message)
    })
  if ('roots' in capabilities) client.setRequestHandler('roots/list', () => ROOTS)
  const handler = other && mcp(other)
  const options = handler && {
    fetch: (url: URL | string, init?: RequestInit) => handler.fetch(new Request(url, init)),
  }
  await client.connect(new StreamableHTTPClientTransport(new URL(served.url ?? ''), options))
  return { client, asked, [Symbol.asyncDispose]: () => client.close() }
}

describe.each([
  { mode: 'legacy', version: '2025-11-25', entered: 1 },
  { mode: 'auto', version: '2026-07-28', entered: 3 },
] as const)('the official client by $version', ({ mode, version, entered }) => {
  test('lists the tools as the app has them', async () => {
    await using connected = await connect(mode)
    const { client } = connected
    expect(client.getNegotiatedProtocolVersion()).toBe(version)
    expect(client.getServerVersion()).toMatchObject({ name: 'questions', version: '1.2.0' })
    expect(client.getInstructions()).toBe('Ask away.')
    const { tools } = await client.listTools()
    expect(tools).toMatchObject([
      {
        name: 'book',
        description: 'Books a table, after two questions.',
        annotations: { destructiveHint: true },
        inputSchema: { type: 'object', required: ['place'] },
        outputSchema: { type: 'object' },
      },
      { name: 'context' },
      { name: 'numbers' },
      { name: 'waits' },
    ])
  })

  test('answers forms; a step is done once, and what has been reported arrives', async () => {
    await using connected = await connect(mode)
    const { client, asked } = connected
    const reported: number[] = []
    const result = await client.callTool(
      { name: 'book', arguments: { place: 'Oslo' } },
      { onprogress: ({ progress }) => void reported.push(progress) },
    )
    expect(result.structuredContent).toEqual({ place: 'Oslo', guests: 4, paid: 1 })
    expect(asked).toEqual(['How many?', 'Sure?'])
    expect(counts).toEqual({ entered, charged: 1, cleaned: entered, cancelled: 0 })
    expect(reported).toContain(2)
  })

  test('is told what it does not offer, and a tool without the question runs', async () => {
    await using connected = await connect(mode, {})
    const { client } = connected
    const call = client.callTool({ name: 'book', arguments: { place: 'Oslo' } })
    if (mode === 'legacy')
      expect(await call).toMatchObject({
        isError: true,
        _meta: { arcade: { errorKind: 'TOOL_RUNTIME_CONTEXT_REQUIRED' } },
      })
    else
      await expect(call).rejects.toMatchObject({
        code: -32_021,
        data: { requiredCapabilities: { elicitation: {} } },
      })
    expect((await client.callTool({ name: 'context', arguments: {} })).structuredContent).toMatchObject({
      roots: [],
    })
  })

  test('gives its roots, and is nobody without a token', async () => {
    await using connected = await connect(mode)
    const { structuredContent } = await connected.client.callTool({
      name: 'context',
      arguments: {},
      _meta: { arcade_context: { user_id: 'mallory', metadata: [{ key: 'admin', value: 'yes' }] } },
    })
    expect(structuredContent).toEqual({
      userId: null,
      hasSession: mode === 'legacy',
      requestId: expect.any(String),
      roots: ['file:///home/ada'],
      metadata: {},
    })
  })

  test('gets a list as the structured content of its protocol', async () => {
    await using connected = await connect(mode)
    const { structuredContent, content } = await connected.client.callTool({ name: 'numbers', arguments: {} })
    expect(structuredContent).toEqual(mode === 'legacy' ? { result: [1, 2, 3] } : [1, 2, 3])
    expect(content).toMatchObject([{ type: 'text', text: '[1,2,3]' }])
  })

  test('a tool that another calls twice asks and does its steps for each call', async () => {
    const inviting = new ToolApp({ name: 'inviting' })
    const sent: string[] = []
    const failures: unknown[] = []
    inviting.tool('mail', {
      input: z.object({ to: z.string() }),
      async handler({ input: { to }, ui, step }) {
        await ui.elicit(`Mail ${to}?`, z.object({ guests: z.int() }), { key: 'sure' })
        return { number: await step('send', () => sent.push(to)) }
      },
    })
    inviting.tool('invite', {
      input: z.object({}),
      async handler({ tools, ui }) {
        const numbers: unknown[] = []
        for (const to of ['ada', 'grace']) {
          const { isError, structuredContent } = await tools.call('mail', { to })
          if (isError === true) failures.push(to)
          numbers.push(structuredContent?.number)
        }
        await ui.elicit('Sure?', z.object({ sure: z.boolean() }), { key: 'sure' })
        return { numbers }
      },
    })
    await using connected = await connect(mode, CAPABILITIES, inviting)
    const { structuredContent } = await connected.client.callTool({ name: 'invite', arguments: {} })
    expect(structuredContent).toEqual({ numbers: [1, 2] })
    expect(connected.asked).toEqual(['Mail ada?', 'Mail grace?', 'Sure?'])
    expect(sent).toEqual(['ada', 'grace'])
    expect(failures).toEqual([]) // a round that ends is no failure of the inner tool
  })

  test('learns of bad arguments and unknown tools', async () => {
    await using connected = await connect(mode)
    const { client } = connected
    expect(await client.callTool({ name: 'book', arguments: { place: 7 } })).toMatchObject({
      isError: true,
      _meta: { arcade: { errorKind: 'TOOL_RUNTIME_BAD_INPUT_VALUE' } },
    })
    await expect(client.callTool({ name: 'nothing', arguments: {} })).rejects.toMatchObject({ code: -32_602 })
  })

  test('cancels a call', async () => {
    await using connected = await connect(mode)
    const given = new AbortController()
    const call = connected.client.callTool({ name: 'waits', arguments: {} }, { signal: given.signal })
    await vi.waitFor(() => expect(counts.entered).toBe(1), 300_000)
    given.abort()
    await expect(call).rejects.toThrow()
    await vi.waitFor(() => expect(counts.cancelled).toBe(1), 300_000)
  })
})

describe('the client of the first SDK', () => {
  test('lists, answers forms, gets log lines and changes', async () => {
    const client = new LegacyClient({ name: 'old', version: '1' }, { capabilities: CAPABILITIES })
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => answers(params.message))
    client.setRequestHandler(ListRootsRequestSchema, () => ROOTS)
    const lines: unknown[] = []
    client.setNotificationHandler(
      LoggingMessageNotificationSchema,
      ({ params }) => void lines.push(params.data),
    )
    const changed = vi.fn()
    client.setNotificationHandler(ToolListChangedNotificationSchema, changed)
    const transport = new LegacyTransport(new URL(served.url ?? ''))
    await client.connect(transport as Parameters<typeof client.connect>[0]) // its types are older than exactOptionalPropertyTypes
    try {
      const result = await client.callTool({ name: 'book', arguments: { place: 'Bergen' } })
      expect(result.structuredContent).toEqual({ place: 'Bergen', guests: 4, paid: 1 })
      expect(lines).toEqual(['Booking Bergen'])
      await app.changed('tools')
      await vi.waitFor(() => expect(changed).toHaveBeenCalled(), 300_000)
    } finally {
      await transport.terminateSession()
      await client.close()
    }
  })
})

test('a client of 2025 over stdio learns when its user has approved', async () => {
  const client = new Client(
    { name: 'test', version: '1' },
    { capabilities: { elicitation: { url: {} } }, versionNegotiation: { mode: 'legacy' } },
  )
  const completed = Promise.withResolvers<string>()
  client.setNotificationHandler('notifications/elicitation/complete', ({ params }) =>
    completed.resolve(params.elicitationId),
  )
  const program = fileURLToPath(new URL('../../fixtures/mcp-stdio.ts', import.meta.url))
  const env = { GATEPASS_USER: 'ada', PATH: process.env.PATH ?? '' }
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [program], env }))
  try {
    await expect(client.callTool({ name: 'approved', arguments: {} })).rejects.toMatchObject({
      code: -32_042,
    })
    expect(await completed.promise).toBe('auth_1')
    expect(await client.callTool({ name: 'approved', arguments: {} })).toMatchObject({
      content: [{ text: 'token of ada' }],
    })
  } finally {
    await client.close()
  }
})

describe.each(['legacy', 'auto'] as const)('over stdio (%s)', (mode) => {
  test('answers forms, for the configured user', async () => {
    const client = new Client(
      { name: 'test', version: '1' },
      { capabilities: CAPABILITIES, versionNegotiation: { mode } },
    )
    client.setRequestHandler('elicitation/create', ({ params: { message } }) => answers(message))
    client.setRequestHandler('roots/list', () => ROOTS)
    const program = fileURLToPath(new URL('../../fixtures/mcp-stdio.ts', import.meta.url))
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [program],
      env: { GATEPASS_USER: 'ada', PATH: process.env.PATH ?? '' },
    })
    await client.connect(transport)
    try {
      const { structuredContent } = await client.callTool({ name: 'book', arguments: { place: 'Rome' } })
      expect(structuredContent).toEqual({ place: 'Rome', guests: 4, paid: 1 })
      const context = await client.callTool({ name: 'context', arguments: {} })
      expect(context.structuredContent).toMatchObject({ userId: 'ada', roots: ['file:///home/ada'] })
    } finally {
      await client.close()
    }
  })
})
