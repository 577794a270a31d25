import { fileURLToPath } from 'node:url'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { DEFAULT_PROJECT } from '../../src/domain/project.ts'
import { getTool } from '../../src/tools/catalogue/get-tool.ts'
import { executeTool } from '../../src/tools/run/execute-tool.ts'
import { type Gatepass, startGatepass } from '../gatepass.ts'
import { ERAS, type Era, headersOf } from './clients.ts'

const MODULE = fileURLToPath(new URL('../fixtures/asking-tools.ts', import.meta.url))

/** Two nodes on one database. */
let nodes: readonly [Gatepass, Gatepass]
beforeAll(async () => {
  const environment = { GATEPASS_TOOLS: MODULE }
  const first = await startGatepass({ environment, mode: 'development' })
  nodes = [first, await startGatepass({ environment, mode: 'development', databasePath: first.databasePath })]
})
afterAll(async () => {
  for (const node of nodes) await node.close()
})

interface Asked {
  readonly era: Era
  readonly user: string
  /** What the user answers to each question; the last again and again. */
  readonly answers?: readonly object[]
  readonly capabilities?: object
  /** Which node each POST goes to, by its number. Default: the first. */
  readonly nodeOf?: (post: number) => 0 | 1
}

/** An official client whose requests may go to either node. */
async function connectAsking({ era, user, answers = [], capabilities, nodeOf = () => 0 }: Asked) {
  const questions: { readonly message: string; readonly requestedSchema?: unknown }[] = []
  const posts: { readonly method?: string; readonly params?: { readonly requestState?: string } }[] = []
  const client = new Client(
    { name: 'test', version: '1' },
    {
      capabilities: capabilities ?? { elicitation: { form: {} } },
      versionNegotiation: { mode: era === 'legacy' ? 'legacy' : 'auto' },
    },
  )
  if (capabilities === undefined)
    client.setRequestHandler('elicitation/create', ({ params }) => {
      questions.push(params)
      return (answers[Math.min(questions.length, answers.length) - 1] ?? { action: 'cancel' }) as never // as the test says
    })
  const [first] = nodes
  const transport = new StreamableHTTPClientTransport(new URL('/mcp', first.url), {
    requestInit: { headers: headersOf(first.apiKey, user) },
    fetch: (url, init) => {
      if (init?.method === 'POST') posts.push(JSON.parse(String(init.body)))
      const { url: origin } = nodes[init?.method === 'POST' ? nodeOf(posts.length - 1) : 0]
      return fetch(new URL(new URL(url).pathname, origin), init)
    },
  })
  await client.connect(transport)
  return { client, transport, questions, posts, [Symbol.asyncDispose]: () => client.close() }
}

const accept = (content: object) => ({ action: 'accept', content })
const SMALL = accept({ size: 'small' })
const jsonOf = (result: { readonly content?: unknown }) =>
  JSON.parse((result.content as readonly [{ readonly text: string }])[0].text)

describe.each(ERAS)('a tool that asks, called by $version', ({ era }) => {
  test('gets the answers of its user, and runs once', async () => {
    const user = `ada-${era}`
    await using asked = await connectAsking({ era, user, answers: [SMALL, accept({ count: 2 })] })
    const progress: { readonly total?: number | undefined }[] = []
    const result = await asked.client.callTool(
      { name: 'Asking_Order', arguments: { what: 'tea' } },
      { onprogress: (one) => void progress.push(one) },
    )
    expect(jsonOf(result)).toEqual({ what: 'tea', size: 'small', count: 2, user, runs: 1 })
    expect(asked.questions).toEqual([
      expect.objectContaining({
        message: 'Which size?',
        requestedSchema: {
          type: 'object',
          properties: { size: { type: 'string', enum: ['small', 'large'] } },
          required: ['size'],
        },
      }),
      expect.objectContaining({ message: 'How many?' }),
    ])
    // the client reports its own rounds too, without a total
    expect(progress.filter(({ total }) => total !== undefined)).toEqual([
      { progress: 1, total: 3, message: 'asks for the size' },
      { progress: 2, total: 3, message: 'asks for the number' },
      { progress: 3, total: 3, message: 'ordered' },
    ])
  })

  test.each(['decline', 'cancel'])('hears of a %s', async (action) => {
    await using asked = await connectAsking({ era, user: 'ada', answers: [SMALL, { action }] })
    const result = await asked.client.callTool({ name: 'Asking_Order', arguments: { what: 'tea' } })
    expect(jsonOf(result)).toEqual({ [action]: 'count' })
  })

  test('is asked again where the answer does not fit', async () => {
    const answers = [SMALL, accept({ count: 0 }), accept({ count: 3 })]
    await using asked = await connectAsking({ era, user: `eve-${era}`, answers })
    const result = await asked.client.callTool({ name: 'Asking_Order', arguments: { what: 'tea' } })
    expect(jsonOf(result)).toMatchObject({ count: 3, runs: 1 })
    expect(asked.questions.map(({ message }) => message)).toEqual(['Which size?', 'How many?', 'How many?'])
  })

  test('hears where the client shows no forms, and the client is not asked', async () => {
    await using asked = await connectAsking({ era, user: 'ada', capabilities: {} })
    const result = await asked.client.callTool({ name: 'Asking_Order', arguments: { what: 'tea' } })
    expect(result).toMatchObject({
      isError: true,
      content: [{ type: 'text', text: expect.stringContaining('does not declare elicitation') }],
      _meta: { 'gatepass/error': { kind: 'TOOL_RUNTIME_CONTEXT_REQUIRED', can_retry: false } },
    })
  })

  test('does not get to ask for a password', async () => {
    await using asked = await connectAsking({ era, user: 'ada', answers: [accept({ password: 'x' })] })
    const result = await asked.client.callTool({ name: 'Asking_AskPassword', arguments: {} })
    expect(JSON.stringify(result)).toContain('must not ask for passwords')
    expect(asked.questions).toEqual([])
  })

  test('gets answers that reach another node, and the client its result', async () => {
    const user = `bob-${era}`
    // everything but the first `tools/call` alternates between the nodes
    let calls = 0
    await using asked = await connectAsking({
      era,
      user,
      answers: [SMALL, accept({ count: 2 })],
      nodeOf: () => (calls++ % 2 === 0 ? 0 : 1),
    })
    const result = await asked.client.callTool({ name: 'Asking_Order', arguments: { what: 'tea' } })
    expect(jsonOf(result)).toEqual({ what: 'tea', size: 'small', count: 2, user, runs: 1 })
  })
})

test('while a tool asks, the time limit of the tool that has called it is paused too', async () => {
  const { broker } = nodes[0]
  const { id: projectId } = await broker.store.projects.ensure(DEFAULT_PROJECT, broker.now())
  const tool = await getTool(broker, projectId, 'Asking:OrderForMe')
  const answers = [{ size: 'small' }, { count: 2 }]
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'], shouldAdvanceTime: true })
  try {
    const { outcome } = await executeTool(broker, {
      tool,
      input: { what: 'tea' },
      entryPoint: 'mcp',
      userId: 'late',
      dialog: {
        modes: ['form'],
        async elicit() {
          vi.advanceTimersByTime(40_000)
          return { action: 'accept', content: answers.shift() ?? {} }
        },
      },
    })
    expect(outcome).toMatchObject({ outcome: 'value', value: { what: 'tea', size: 'small', count: 2 } })
  } finally {
    vi.useRealTimers()
  }
})
