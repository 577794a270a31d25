import { ProtocolError } from '@modelcontextprotocol/client'
import { inputRequired, UrlElicitationRequiredError } from '@modelcontextprotocol/server'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { BackendCall } from '../../src/tools/backend.ts'
import type { Dialog, Elicitation, ElicitationAnswer } from '../../src/tools/dialog/dialog.ts'
import { runRounds } from '../../src/tools/mcp/call-rounds.ts'
import { ExchangeFault } from '../../src/tools/mcp/exchange.ts'
import { createServerMessages } from '../../src/tools/mcp/server-messages.ts'
import type { ToolLog } from '../../src/tools/tool-answer.ts'
import type { FakeMcpTool, McpToolContext } from '../fake-mcp-server.ts'
import { type McpWorld, startMcpWorld } from '../http/mcp-world.ts'

const FORM = {
  mode: 'form',
  message: 'Which branch?',
  requestedSchema: { type: 'object', properties: { branch: { type: 'string' } }, required: ['branch'] },
} as const
const LINK = { mode: 'url', message: 'Log in first.', url: 'https://login.example/start' } as const
const PASSWORD = {
  mode: 'form',
  message: 'Log in',
  requestedSchema: { type: 'object', properties: { password: { type: 'string' } } },
} as const

/** Asks as the protocol has it: by a request of 2025, or by a round of 2026-07-28. */
async function ask({ sdk }: McpToolContext, params: typeof FORM | typeof LINK | typeof PASSWORD) {
  const { mcpReq } = sdk
  if (mcpReq.envelope === undefined) {
    const question = params.mode === 'url' ? { ...params, elicitationId: 'e1' } : params
    return { given: await mcpReq.elicitInput(question as Parameters<typeof mcpReq.elicitInput>[0]) } // of the test
  }
  const given = mcpReq.inputResponses?.one
  if (given !== undefined) return { given, state: mcpReq.requestState() }
  return inputRequired({
    inputRequests: {
      one: params.mode === 'url' ? inputRequired.elicitUrl(params) : inputRequired.elicit(params as never), // of the test
    },
    requestState: 'of the server',
  })
}

let linkNeeded = 0
const tools: FakeMcpTool[] = [
  { name: 'form', run: (_, context) => ask(context, FORM) },
  { name: 'link', run: (_, context) => ask(context, LINK) },
  { name: 'password', run: (_, context) => ask(context, PASSWORD) },
  {
    name: 'refuse',
    async run() {
      if (linkNeeded-- <= 0) return { ok: true }
      throw new UrlElicitationRequiredError([{ ...LINK, elicitationId: 'e2' }])
    },
  },
  {
    name: 'talk',
    async run(_, { sdk }) {
      await sdk.mcpReq.notify({
        method: 'notifications/message',
        params: { level: 'warning', logger: 'git', data: { disk: 'full' } },
      })
      await sdk.mcpReq.notify({ method: 'notifications/message', params: { level: 'info', data: 'done' } })
      return { ok: true }
    },
  },
]

function dialogOf(answer: ElicitationAnswer, modes: Dialog['modes'] = ['form', 'url']) {
  const shown: Elicitation[] = []
  const logged: ToolLog[] = []
  const dialog: Dialog = {
    modes,
    async elicit(question) {
      shown.push(question)
      return answer
    },
    log: (line) => void logged.push(line),
  }
  return { dialog, shown, logged }
}

describe.each(['2025', '2026'] as const)('a server of the protocol %s', (protocol) => {
  let world: McpWorld
  beforeAll(async () => {
    world = await startMcpWorld({ mcp: { protocol, tools } })
  })
  afterAll(() => world[Symbol.asyncDispose]())

  test('asks by a form, and gets the answer', async () => {
    const { dialog, shown } = dialogOf({ action: 'accept', content: { branch: 'main' } })
    const { outcome } = await world.run('form', { dialog })
    expect(shown).toEqual([
      {
        ...FORM,
        message: expect.stringMatching(/^The tool form \(127\.0\.0\.1:\d+\) asks: Which branch\?$/),
      },
    ])
    const answer = { action: 'accept', content: { branch: 'main' } }
    expect(outcome).toMatchObject({
      outcome: 'value',
      value: { given: answer, ...(protocol === '2026' && { state: 'of the server' }) },
    })
  })

  test.each(['decline', 'cancel'] as const)('hears of a %s', async (action) => {
    const { dialog } = dialogOf({ action })
    const { outcome } = await world.run('form', { dialog })
    expect(outcome).toMatchObject({ value: { given: { action } } })
  })

  test('sends its user to a page of its own, which is named, and which Gatepass does not open', async () => {
    const { dialog, shown } = dialogOf({ action: 'accept' })
    const { outcome } = await world.run('link', { dialog })
    expect(shown).toEqual([
      { mode: 'url', url: LINK.url, message: expect.stringContaining('its own page at login.example.') },
    ])
    expect(outcome).toMatchObject({ outcome: 'value' })
  })

  test('does not get to ask for a password', async () => {
    const { dialog, shown } = dialogOf({ action: 'accept', content: { password: 'x' } })
    const { outcome } = await world.run('password', { dialog })
    expect(shown).toEqual([])
    expect(outcome).toMatchObject({
      outcome: 'error',
      error: {
        kind: 'TOOL_RUNTIME_CONTEXT_REQUIRED',
        message: expect.stringContaining('must not ask for passwords'),
      },
    })
  })

  test.each([
    ['form', []],
    ['link', ['form']],
  ] as const)('is not told of more than the caller’s client shows: %s with %j', async (tool, modes) => {
    const { dialog, shown } = dialogOf({ action: 'accept' }, modes)
    const { outcome } = await world.run(tool, { dialog })
    expect(shown).toEqual([])
    expect(outcome).toMatchObject({ outcome: 'error', error: { kind: 'TOOL_RUNTIME_CONTEXT_REQUIRED' } })
  })

  test('cannot ask where there is no dialog, and the caller is told how to call the tool', async () => {
    const { body } = await world.execute('Demo.form')
    expect(body.output.error).toMatchObject({
      kind: 'TOOL_RUNTIME_CONTEXT_REQUIRED',
      message: expect.stringContaining('over MCP'),
    })
  })

  test('writes lines into the log of the run', async () => {
    const { dialog, logged } = dialogOf({ action: 'cancel' })
    const { outcome } = await world.run('talk', { dialog })
    const lines = [
      { level: 'warning', message: 'git: {"disk":"full"}' },
      { level: 'info', message: 'done' },
    ]
    expect(outcome).toMatchObject({ outcome: 'value', logs: lines })
    expect(logged).toEqual(lines)
  })

  test('writes no secret of its worker into the log of the run', async () => {
    const secret = 'the-secret-of-the-worker'
    await using keyed = await startMcpWorld({
      mcp: {
        protocol,
        tools: [
          {
            name: 'tell',
            async run(_, { sdk }) {
              const data = `called with ${sdk.http?.req?.headers.get('x-api-key')}`
              await sdk.mcpReq.notify({ method: 'notifications/message', params: { level: 'info', data } })
              return { ok: true }
            },
          },
        ],
      },
      settings: { headers: { 'X-Api-Key': `\${secret:KEY}` }, secrets: { KEY: secret } },
    })
    const { dialog, logged } = dialogOf({ action: 'cancel' })
    const { outcome } = await keyed.run('tell', { dialog })
    expect(logged).toEqual([{ level: 'info', message: 'called with [redacted]' }])
    expect(JSON.stringify(outcome)).not.toContain(secret)
  })

  test('makes Gatepass read its list again', async () => {
    const before = world.mcp.methods().filter((one) => one === 'tools/list').length
    world.mcp.tools.push({
      name: 'grow',
      async run(_, { sdk }) {
        for (let i = 0; i < 5; i++) await sdk.mcpReq.notify({ method: 'notifications/tools/list_changed' })
        return { ok: true }
      },
    })
    await world.call('PATCH', '/v1/workers/demo', { mcp: { retry: 0 } }) // reads the list
    await world.run('grow')
    await vi.waitFor(() => {
      const listed = world.mcp.methods().filter((one) => one === 'tools/list').length
      expect(listed).toBe(before + 2)
    }, 300_000)
  })

  test('is given its time to run, and its user theirs to answer', async () => {
    const { dialog } = dialogOf({ action: 'accept', content: { branch: 'main' } })
    await world.call('PATCH', '/v1/workers/demo', { mcp: { timeout: 10 } })
    const slowly: Dialog = {
      ...dialog,
      async elicit(...asked) {
        await new Promise((resolve) => setTimeout(resolve, 10_200))
        return dialog.elicit(...asked)
      },
    }
    const { outcome } = await world.run('form', { dialog: slowly })
    expect(outcome).toMatchObject({ outcome: 'value' })
    await world.call('PATCH', '/v1/workers/demo', { mcp: { timeout: 60 } })
  })
})

test('a server of 2025-11-25 that requires a visit to its page is called again after it', async () => {
  await using world = await startMcpWorld({ mcp: { protocol: '2025', tools } })
  const { dialog, shown } = dialogOf({ action: 'accept' })
  linkNeeded = 2
  const { outcome } = await world.run('refuse', { dialog })
  expect(outcome).toMatchObject({ outcome: 'value', value: { ok: true } })
  expect(shown).toEqual([expect.objectContaining({ mode: 'url', url: LINK.url })])
  linkNeeded = 1
  const refused = await world.run('refuse', { dialog: dialogOf({ action: 'decline' }).dialog })
  expect(refused.outcome).toMatchObject({
    error: { kind: 'TOOL_RUNTIME_CONTEXT_REQUIRED', message: expect.stringContaining('did not open') },
  })
  linkNeeded = 1
  const { body } = await world.execute('Demo.refuse')
  expect(body.output.error).toMatchObject({ kind: 'TOOL_RUNTIME_CONTEXT_REQUIRED' })
  expect(JSON.stringify(body)).not.toContain('login.example')
})

test.each<[characters: number, outcome: object, calls: number]>([
  [100_000, { outcome: 'value', value: { isSame: true } }, 2],
  [600_000, { outcome: 'error', error: { kind: 'TOOL_RUNTIME_BAD_OUTPUT_VALUE' } }, 1],
])('a server of 2026-07-28 that asks with a state of %i characters', async (characters, outcome, calls) => {
  const state = 'x'.repeat(characters)
  const bulky: FakeMcpTool = {
    name: 'bulky',
    async run(_, { sdk: { mcpReq } }) {
      if (mcpReq.inputResponses?.one !== undefined) return { isSame: mcpReq.requestState() === state }
      return inputRequired({
        inputRequests: { one: inputRequired.elicit(FORM as never) }, // of the test
        requestState: state,
      })
    },
  }
  await using world = await startMcpWorld({
    mcp: { protocol: '2026', tools: [bulky] },
    settings: { timeout: 60 },
  })
  const { dialog } = dialogOf({ action: 'accept', content: { branch: 'main' } })
  expect((await world.run('bulky', { dialog })).outcome).toMatchObject(outcome)
  expect(world.mcp.calls).toHaveLength(calls)
})

test('a user has two minutes on a page of the server from the moment when they opened it', async () => {
  let now = 0
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now)
  let requests = 0
  const elicit = async () => {
    now += 130_000
    return { action: 'accept' } as const
  }
  const result = await runRounds({
    messages: { ...createServerMessages({} as BackendCall, []), elicit }, // only `elicit` is used
    canOpenLinks: true,
    signal: new AbortController().signal,
    pausedDuring: (ask) => ask(),
    async request() {
      if (requests++ > 0) return { content: [] }
      const data = { elicitations: [{ ...LINK, elicitationId: 'e3' }] }
      throw new ExchangeFault(new ProtocolError(-32_042, 'A visit is required.', data), {})
    },
  }).finally(() => clock.mockRestore())
  expect([result, requests]).toEqual([{ content: [] }, 2])
})
