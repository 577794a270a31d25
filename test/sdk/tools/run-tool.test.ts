import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { anyOf, OAuth2 } from '../../../src/sdk/tools/auth.ts'
import type { ToolRun } from '../../../src/sdk/tools/run.ts'
import { runTool } from '../../../src/sdk/tools/run-tool.ts'
import { TOOL_MARK, type ToolOptions, tool } from '../../../src/sdk/tools/tool.ts'
import { toCallToolResult } from '../../../src/sdk/tools/tool-result.ts'

const run: ToolRun = {
  way: 'this test',
  userId: 'ada',
  sessionId: null,
  requestId: 'r1',
  authorizations: {},
  metadata: {},
  secret: () => undefined,
}

const held = (...names: string[]) =>
  Object.fromEntries(
    names.map((name) => [
      name,
      { token: `token of ${name}`, tokenType: 'Bearer', userInfo: {}, scopes: [], extra: {} },
    ]),
  )

const runOf = (
  options: Partial<ToolOptions> & Pick<ToolOptions, 'handler'>,
  input: unknown = {},
  more: Partial<ToolRun> = {},
) =>
  runTool(
    { name: 'it', options: tool({ input: z.object({}), ...options } as ToolOptions)[TOOL_MARK] },
    input,
    { ...run, ...more },
  )

describe('what a handler returns', () => {
  test.each([
    ['a text', 'hello', { content: [{ type: 'text', text: 'hello' }] }],
    ['an object', { n: 1 }, { content: [{ type: 'text', text: '{"n":1}' }], structuredContent: { n: 1 } }],
    ['a list', [1, 2], { content: [{ type: 'text', text: '[1,2]' }] }],
    ['nothing', undefined, { content: [{ type: 'text', text: 'null' }] }],
    [
      'a complete result',
      { content: [{ type: 'image', data: 'AA==', mimeType: 'image/png' }] },
      { content: [{ type: 'image', data: 'AA==', mimeType: 'image/png' }] },
    ],
    [
      'a failure',
      { content: [{ type: 'text', text: 'no such user' }], isError: true },
      { content: [{ type: 'text', text: 'no such user' }], isError: true },
    ],
    [
      'a value that has a member of that name',
      { content: [{ id: 1 }], total: 1 },
      {
        content: [{ type: 'text', text: '{"content":[{"id":1}],"total":1}' }],
        structuredContent: { content: [{ id: 1 }], total: 1 },
      },
    ],
  ])('%s', async (_, returned, expected) => {
    const result = await runOf({ handler: () => returned })
    if (result.outcome === 'authorization_required') throw new Error('no consent is needed')
    expect(toCallToolResult(result)).toEqual(expected)
  })

  test('is what its schema says, or the run has failed', async () => {
    const output = z.object({ n: z.number().default(1) })
    expect(await runOf({ output, handler: () => ({}) })).toEqual({ outcome: 'value', json: '{"n":1}' })
    expect(await runOf({ output, handler: () => ({ n: 'one' }) })).toMatchObject({
      error: { kind: 'TOOL_RUNTIME_BAD_OUTPUT_VALUE' },
    })
    const content = [{ type: 'text', text: 'one' }]
    expect(await runOf({ output, handler: () => ({ content, structuredContent: {} }) })).toEqual({
      outcome: 'content',
      result: { content, structuredContent: { n: 1 } },
    })
    expect(await runOf({ output, handler: () => ({ content }) })).toMatchObject({
      error: { kind: 'TOOL_RUNTIME_BAD_OUTPUT_VALUE' },
    })
    expect(await runOf({ output, handler: () => ({ content, isError: true }) })).toMatchObject({
      outcome: 'content',
    })
  })
})

describe('a run', () => {
  test('takes no input that the schema refuses', async () => {
    const result = await runOf({ input: z.object({ n: z.number() }), handler: () => 1 }, { n: 'one' })
    expect(result).toMatchObject({ error: { kind: 'TOOL_RUNTIME_BAD_INPUT_VALUE' } })
    expect(JSON.stringify(result)).toContain('n: ')
  })

  test('ends when its time is over, and drops what comes later', async () => {
    const lines: string[] = []
    const late = Promise.withResolvers<void>()
    const result = await runOf(
      {
        timeoutSeconds: 0.01,
        async handler({ log, signal }) {
          await log.info('begun')
          await new Promise((resolve) => signal.addEventListener('abort', resolve))
          await log.info('late')
          late.resolve()
        },
      },
      {},
      { log: (_, line) => void lines.push(line) },
    )
    expect(result).toMatchObject({ error: { kind: 'NETWORK_TRANSPORT_RUNTIME_TIMEOUT' } })
    await late.promise
    expect(lines).toEqual(['begun'])
  })

  test('ends with the consent that a tool lacks which it calls, also when the handler goes on', async () => {
    const missing = {
      outcome: 'authorization_required',
      authorization: {
        id: 'auth_1',
        url: 'https://gp.test/connect/auth_1',
        scopes: ['read'],
        status: 'pending',
      },
    } as const
    const result = await runOf(
      {
        async handler({ tools }) {
          await tools.call('other').catch(() => undefined)
          return 'gone on'
        },
      },
      {},
      { callTool: async () => missing },
    )
    expect(result).toEqual(missing)
  })

  test('does not begin without the tokens and secrets that the tool needs', async () => {
    const demo = OAuth2({ id: 'demo' })
    const either = anyOf(demo, [OAuth2({ id: 'a' }), OAuth2({ id: 'b' })])
    const handler = ({ authorization }: { readonly authorization?: { readonly token: string } }) =>
      authorization?.token
    const one = { requiresAuth: demo, handler } as unknown as ToolOptions
    const any = { requiresAuth: either, handler } as unknown as ToolOptions
    const unmet = { error: { kind: 'TOOL_REQUIREMENTS_NOT_MET' } }
    expect(await runOf(one)).toMatchObject(unmet)
    expect(await runOf(one, {}, { authorizations: held('demo') })).toMatchObject({ json: '"token of demo"' })
    expect(await runOf(any, {}, { authorizations: held('a') })).toMatchObject(unmet)
    expect(await runOf(any, {}, { authorizations: held('a', 'b') })).toMatchObject({ json: '"token of a"' })
    expect(await runOf({ requiresSecrets: ['KEY'], handler: () => 1 })).toMatchObject(unmet)
  })

  test.each([
    ['ui.elicit', ({ ui }) => ui.elicit('Sure?', z.object({ sure: z.boolean() }))],
    ['sampling.createMessage', ({ sampling }) => sampling.createMessage({ messages: [], maxTokens: 1 })],
    ['tools.call', ({ tools }) => tools.call('other')],
  ] satisfies [string, ToolOptions['handler']][])('says that its way has no %s', async (member, handler) => {
    const result = await runOf({ handler })
    expect(result).toMatchObject({ error: { kind: 'TOOL_RUNTIME_CONTEXT_REQUIRED', canRetry: false } })
    expect(JSON.stringify(result)).toContain(`(${member}), which this test does not offer.`)
  })
})
