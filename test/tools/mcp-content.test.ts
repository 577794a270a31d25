import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { inThread, threadTask } from '../../src/tools/thread-pool.ts'
import { digest } from '../digest.ts'
import type { FakeMcpTool } from '../fake-mcp-server.ts'
import type { ThreadTaskInput } from '../fixtures/thread-task.ts'
import { type McpWorld, startMcpWorld } from '../http/mcp-world.ts'
import { approve, providerBody } from '../http/world.ts'

const text = (text: string) => ({ type: 'text', text })
const audio = { type: 'audio', data: 'UklGRg==', mimeType: 'audio/wav' }
const embedded = {
  type: 'resource',
  resource: { uri: 'file:///a.csv', mimeType: 'text/csv', text: 'a,b\n1,2' },
}
const link = {
  type: 'resource_link',
  uri: 'https://files.example/report.csv',
  name: 'report',
  mimeType: 'text/csv',
}
const whole = { ...link, size: 2048, description: 'The report of May' }

interface Answer {
  readonly content: unknown[]
  readonly structuredContent?: unknown
  readonly isError?: boolean
  readonly _meta?: Record<string, unknown>
}

const answersWith = (image: object): Record<string, Answer> => ({
  image: { content: [image] },
  mixed: { content: [text('Look:'), image, text('{"a":1}')] },
  sounds: { content: [audio, embedded] },
  link: { content: [link] },
  artifact: { content: [whole] },
  artifact_and_text: { content: [text('Here it is.'), whole] },
  script_link: { content: [{ ...whole, uri: 'javascript:alert(1)' }] },
  structured: { structuredContent: { sum: 5 }, content: [text('{"sum":5}'), image] },
  structured_content: { structuredContent: { content: 'own' }, content: [image] },
  list: { content: [text('[1,2]')] },
  fails: { content: [text('No picture.'), image], isError: true },
  plain: { content: [text('just text')] },
})

/**
 * The server repeats its token across the place where its message is cut, in an error of the tool or of the protocol,
 * small or large.
 */
const CUT: readonly (readonly [kind: 'texts' | 'error', before: number, after: number])[] = [
  ['texts', 9_995, 0],
  ['texts', 9_995, 100_000],
  ['error', 495, 0],
  ['error', 495, 100_000],
]

/** With the 2025 protocol the SDK's server answers with events. Answers over 64 kB are read in a thread. */
const SIZES: readonly [name: string, padding: number][] = [
  ['small', 0],
  ['large', 100_000],
]

describe.each(SIZES)('what an MCP tool answers besides text, when it is %s', (_, padding) => {
  const pad = 'A'.repeat(padding)
  const image = { type: 'image', data: `iVBORw0K${pad}`, mimeType: 'image/png' }
  const withPad = (answer: Answer): Answer => ({ ...answer, ...(pad !== '' && { _meta: { pad } }) })
  const answers = answersWith(image)
  const tools: FakeMcpTool[] = [
    ...Object.entries(answers).map(([name, answer]) => ({
      name,
      description: name,
      run: async () => withPad(answer),
    })),
    {
      name: 'leaky',
      description: 'Puts its token into what it shows.',
      _meta: { arcade: { requirements: { authorization: [{ id: 'hub', oauth2: { scopes: ['read'] } }] } } },
      run: async (_, { meta }) => {
        const { token } = (meta.arcade_context as { authorization: { token: string } }).authorization
        const uri = `https://files.example/?t=${token}`
        return {
          content: [
            { ...image, data: Buffer.from(`${pad}picture of ${token}`).toString('base64') },
            { ...embedded, resource: { uri, text: token } },
            { ...link, uri },
          ],
          structuredContent: { digest: digest(token) },
        }
      },
    },
    {
      name: 'leaky_failure',
      description: 'Puts its token into what it complains of.',
      _meta: { arcade: { requirements: { authorization: [{ id: 'hub', oauth2: { scopes: ['read'] } }] } } },
      run: async (args, { meta }) => {
        const { token } = (meta.arcade_context as { authorization: { token: string } }).authorization
        const { kind, before, after } = args as { kind: string; before: number; after: number }
        const said = `${'x'.repeat(before)}${token}${'x'.repeat(after)}`
        if (kind === 'error') throw new Error(said)
        return { isError: true, content: [text(said)] }
      },
    },
    {
      name: 'leaky_log',
      description: 'Logs its token where a line is cut.',
      _meta: { arcade: { requirements: { authorization: [{ id: 'hub', oauth2: { scopes: ['read'] } }] } } },
      run: async (_, { meta, sdk }) => {
        const { token } = (meta.arcade_context as { authorization: { token: string } }).authorization
        const data = `${'x'.repeat(9_995)}${token}`
        await sdk.mcpReq.notify({ method: 'notifications/message', params: { level: 'info', data } })
        return withPad({ content: [text('done')] })
      },
    },
  ]

  let world: McpWorld
  beforeAll(async () => {
    world = await startMcpWorld({ mcp: { tools } })
    await world.call('POST', '/v1/admin/auth_providers', providerBody('hub', world.as))
  })
  afterAll(async () => {
    await world[Symbol.asyncDispose]()
  })

  const plain = async (name: string) =>
    (await world.call('POST', '/v1/tools/execute', { tool_name: `Demo.${name}` })).body.output

  test.each<[string, unknown]>([
    ['image', { value: { content: [image] } }],
    ['mixed', { value: { content: [text('Look:'), image, text('{"a":1}')] } }],
    ['sounds', { value: { content: [audio, embedded] } }],
    ['link', { value: { content: [link] } }],
    ['artifact_and_text', { value: { content: [text('Here it is.'), whole] } }],
    ['script_link', { value: { content: [{ ...whole, uri: 'javascript:alert(1)' }] } }],
    ['structured', { value: { sum: 5, content: [image] } }],
    ['structured_content', { value: { content: 'own', mcp_content: [image] } }],
    [
      'artifact',
      {
        artifact: {
          url: 'https://files.example/report.csv',
          content_type: 'text/csv',
          size: 2048,
          meta: { description: 'The report of May' },
        },
      },
    ],
    ['plain', { value: 'just text' }],
  ])('is kept by execute: %s', async (name, output) => {
    expect(await plain(name)).toEqual(output)
    expect((await world.execute(`Demo.${name}`)).body.output).toEqual(output)
  })

  test('is a list with members of its own for those who know no list as a value', async () => {
    expect(await plain('list')).toEqual({ value: { items: [1, 2] } })
    expect((await world.execute('Demo.list')).body.output).toEqual({ value: [1, 2] })
  })

  test('is kept beside an error', async () => {
    const { body } = await world.execute('Demo.fails')
    expect(body.output.error).toMatchObject({ message: 'No picture.', extra: { content: [image] } })
  })

  test('is kept by run, run_stream, OXP and code', async () => {
    const run = await world.call('POST', '/v1/tools/run', { toolId: 'Demo:image:1.2.3', args: {} })
    expect(run.body).toMatchObject({ structured: { content: [image] }, mcpResult: { content: [image] } })
    const mixed = await world.call('POST', '/v1/tools/run', { toolId: 'Demo:mixed:1.2.3', args: {} })
    expect(mixed.body).toMatchObject({ structured: ['Look:', '{"a":1}'], mcpResult: answers.mixed })
    const stream = await fetch(`${world.gatepass.url}/v1/tools/run_stream`, {
      method: 'POST',
      headers: { authorization: `Bearer ${world.gatepass.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ toolId: 'Demo:image:1.2.3', args: {} }),
    })
    const done = JSON.parse(/^event: done\ndata: (.*)$/m.exec(await stream.text())?.[1] ?? '')
    expect(done.data).toMatchObject({ structured: { content: [image] }, mcpResult: { content: [image] } })
    const oxp = await world.call('POST', '/oxp/tools/call', {
      request: { tool_id: 'Demo.mixed@1.2.3', input: {} },
    })
    expect(oxp.body.result.value).toEqual({ content: answers.mixed?.content })
    const code = await world.call('POST', '/v1/code/execute', {
      language: 'javascript',
      code: 'return [await tools.call("Demo.image", {}), await tools.call("Demo.structured", {})]',
    })
    expect(code.body.value).toEqual([{ content: [image] }, { sum: 5, content: [image] }])
  })

  test('shows no token', async () => {
    const more = { user_id: 'ada', input: {} }
    const asked = await world.call('POST', '/v1/tools/authorize', { tool_name: 'Demo.leaky', user_id: 'ada' })
    await approve(asked.body.url)
    const { body } = await world.execute('Demo.leaky', more)
    const { digest: of, content } = body.output.value
    expect(content.map(({ type }: { type: string }) => type)).toEqual(['image', 'resource', 'resource_link'])
    const token = (
      await world.call('POST', '/v1/tools/authorize', { tool_name: 'Demo.leaky', user_id: 'ada' })
    ).body.context.token
    expect(digest(token)).toBe(of)
    const said = JSON.stringify(body)
    expect(said).not.toContain(token)
    expect(Buffer.from(content[0].data, 'base64').toString()).not.toContain(token)
  })

  test.each(CUT)(
    'shows nothing of a token where its words are cut: %s, %i before, %i after',
    async (kind, before, after) => {
      const whose = { tool_name: 'Demo.leaky_failure', user_id: 'ada' }
      const asked = await world.call('POST', '/v1/tools/authorize', whose)
      if (asked.body.url !== undefined) await approve(asked.body.url)
      const { token } = (await world.call('POST', '/v1/tools/authorize', whose)).body.context
      const { body } = await world.execute('Demo.leaky_failure', {
        user_id: 'ada',
        input: { kind, before, after },
      })
      const { message, developer_message: words = '' } = body.output.error
      expect(kind === 'texts' ? message : words).toContain('x'.repeat(400))
      expect(message.length).toBeLessThanOrEqual(10_000)
      expect(JSON.stringify(body.output.error)).not.toContain(token.slice(0, 5))
    },
  )

  test('shows nothing of a token where its log lines are cut', async () => {
    const whose = { tool_name: 'Demo.leaky_log', user_id: 'ada' }
    const asked = await world.call('POST', '/v1/tools/authorize', whose)
    if (asked.body.url !== undefined) await approve(asked.body.url)
    const { outcome } = await world.run('leaky_log', { userId: 'ada' })
    const message = `${'x'.repeat(9_995)}[redacted]`.slice(0, 10_000)
    expect(outcome).toMatchObject({ outcome: 'value', logs: [{ level: 'info', message }] })
  })
})

/** Keeps the queue of the owner's tasks for threads full, until the returned function is called. */
function fillQueue(owner: string): () => void {
  const task = threadTask<ThreadTaskInput, unknown>('../fixtures/thread-task', import.meta.url)
  const stop = new AbortController()
  const again = (): Promise<unknown> =>
    inThread(task, { does: 'wait', ms: 100 }, { owner, signal: stop.signal }).then(again, () => undefined)
  for (let i = 0; i < 1_000; i++) void again() // more than may wait
  return () => stop.abort()
}

test.each(['2025', '2026'] as const)(
  'a large answer that no thread can read now is an error of its own, by protocol %s',
  async (protocol) => {
    const large: FakeMcpTool = {
      name: 'large',
      description: 'Answers much.',
      run: async () => ({ content: [text('A'.repeat(100_000))] }),
    }
    await using world = await startMcpWorld({ mcp: { protocol, tools: [large] } })
    const { id } = await world.gatepass.broker.store.projects.ensure('default', 1)
    const empty = fillQueue(id)
    const { body } = await world.execute('Demo.large')
    world.mcp.tools.push({ ...large, name: 'described', description: 'A'.repeat(100_000) })
    const { uri } = (await world.call('GET', '/v1/workers/demo')).body.mcp
    const added = await world.call('POST', '/v1/workers', {
      id: 'other',
      mcp: { uri, timeout: 60, retry: 0 },
    })
    empty()
    expect(body.output.error).toMatchObject({
      kind: 'TOOL_RUNTIME_BAD_OUTPUT_VALUE',
      message: 'The tool gave a large answer while too many others were being read.',
      can_retry: false,
    })
    expect(added.body.sync_error).toBe(
      'The server’s list of tools could not be read: busy. It is tried again.',
    )
    expect((await world.execute('Demo.large')).body.success).toBe(true)
  },
)
