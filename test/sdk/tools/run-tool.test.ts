import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { Gatepass } from '../../../src/sdk/client/gatepass.ts'
import { anyOf, OAuth2, type RequiresAuth } from '../../../src/sdk/tools/auth.ts'
import type { ToolContext } from '../../../src/sdk/tools/context.ts'
import { withOwnTools } from '../../../src/sdk/tools/own-tools.ts'
import type { ToolRun } from '../../../src/sdk/tools/run.ts'
import { runTool } from '../../../src/sdk/tools/run-tool.ts'
import { TOOL_MARK, type ToolOptions, tool } from '../../../src/sdk/tools/tool.ts'
import { ToolApp } from '../../../src/sdk/tools/tool-app.ts'
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

  test('ends at its time limit, and so do the requests to resources of its app', async () => {
    const app = new ToolApp()
    const ended = Promise.withResolvers<void>()
    app.resource('x://slow', {
      handler: ({ signal }) =>
        new Promise<string>((resolve) => {
          signal?.addEventListener('abort', () => {
            ended.resolve()
            resolve('late')
          })
        }),
    })
    app.tool('slow', {
      input: z.object({}),
      timeoutSeconds: 0.05,
      handler: async ({ resources }) => (await resources.get('x://slow')).uri,
    })
    const slow = app.tools.find('slow')
    if (slow === undefined) throw new Error('it was added')
    expect(await runTool({ ...slow, app }, {}, run)).toMatchObject({ outcome: 'error' })
    await ended.promise
  })

  test('need not await the answers of its app, and gets none after its end', async () => {
    const unhandled = vi.fn()
    process.on('unhandledRejection', unhandled)
    const read = vi.fn(() => 'hello')
    const app = new ToolApp()
    app.resource('x://motd', { handler: read })
    const late = Promise.withResolvers<ToolContext['resources']>()
    app.tool('hasty', {
      input: z.object({}),
      handler({ resources, prompts }) {
        void resources.get('x://none')
        void resources.read('x://none')
        void prompts.get('none')
        late.resolve(resources)
        return 'done'
      },
    })
    const hasty = app.tools.find('hasty')
    if (hasty === undefined) throw new Error('it was added')
    try {
      expect(await runTool({ ...hasty, app }, {}, run)).toEqual({ outcome: 'value', json: '"done"' })
      const resources = await late.promise
      await expect(resources.get('x://motd')).rejects.toThrow('The run has ended.')
      await new Promise(setImmediate) // rejections are reported when the microtasks are done
      expect(unhandled).not.toHaveBeenCalled()
      expect(read).not.toHaveBeenCalled()
    } finally {
      process.off('unhandledRejection', unhandled)
    }
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

describe('an app', () => {
  test.each([Number.POSITIVE_INFINITY, 3601, 0, -1, Number.NaN])(
    'takes no tool with the time limit %s',
    (timeoutSeconds) => {
      const app = new ToolApp()
      const add = () => app.tool('slow', { input: z.object({}), timeoutSeconds, handler: () => '' })
      expect(add).toThrow('The tool "slow" needs a timeoutSeconds that is more than 0 and at most 3600.')
    },
  )

  test.each([
    ['a text that is too long', `x://${'a'.repeat(2000)}`, undefined],
    ['many separators', `x://${'.'.repeat(1990)}/`, undefined],
    ['as much as fits in the first', 'x://a.b.c.d.e', { a: 'a.b', b: 'c', c: 'd', d: 'e' }],
  ])('matches the URI of a resource: %s', async (_, uri, params) => {
    const app = new ToolApp()
    app.resource('x://{a}.{b}.{c}.{d}', { handler: (request) => JSON.stringify(request.params) })
    app.resource('x://{all}', { handler: () => '{}' })
    const contents = await app.resources.read(uri, { userId: null })
    expect(contents).toEqual(params && [{ uri, text: JSON.stringify(params) }])
  })
})

describe('a tool of the app that another one calls', () => {
  /** Runs `outer`, which calls the tool `inner`. */
  const outerRun = async (app: ToolApp, more: Partial<ToolRun>) => {
    app.tool('outer', {
      input: z.object({}),
      handler: async ({ tools }) => (await tools.call('inner')).content,
    })
    const outer = app.tools.find('outer')
    if (outer === undefined) throw new Error('it was added')
    return runTool({ ...outer, app }, {}, withOwnTools(app, { ...run, ...more }))
  }

  test.each(['a form', 'the model', 'a form of a prompt'])(
    'asks by %s while the time limits of both are stopped',
    async (what) => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
      const answersLate = async () => vi.advanceTimersByTime(40_000)
      const app = new ToolApp()
      app.prompt('sure', {
        handler: async ({ ui }) => (await ui.elicit('Sure?', z.object({}))).action,
      })
      app.tool('inner', {
        input: z.object({}),
        async handler({ ui, sampling, prompts }) {
          if (what === 'a form') await ui.elicit('Sure?', z.object({}))
          if (what === 'the model') await sampling.createMessage({ messages: [], maxTokens: 1 })
          if (what === 'a form of a prompt') await prompts.get('sure')
          return 'answered'
        },
      })
      try {
        const result = await outerRun(app, {
          async elicit() {
            await answersLate()
            return { action: 'accept', content: {} }
          },
          async createMessage() {
            await answersLate()
            return { role: 'assistant', content: { type: 'text', text: 'yes' }, model: 'm' }
          },
        })
        expect(result).toEqual({ outcome: 'value', json: '[{"type":"text","text":"answered"}]' })
      } finally {
        vi.useRealTimers()
      }
    },
  )

  const [a, b] = [OAuth2({ id: 'a', scopes: ['write'] }), OAuth2({ id: 'b' })]
  test.each<[string, RequiresAuth, string]>([
    ['either, of which one is there', anyOf(OAuth2({ id: 'none' }), b), '"token of b"'],
    ['either, of which one lacks a scope', anyOf(a, b), '"token of b"'],
    ['two, of which one is either', [OAuth2({ id: 'a' }), anyOf(OAuth2({ id: 'none' }), b)], '"token of a"'],
    ['one that lacks a scope', a, 'needs tokens that the tool which calls it does not have'],
    ['either, of which both are missing', anyOf(a, OAuth2({ id: 'none' })), 'needs tokens'],
  ])('has the tokens of the outer one: needs %s', async (_, requiresAuth, expected) => {
    const app = new ToolApp()
    app.tool('inner', {
      input: z.object({}),
      requiresAuth,
      handler: (context) =>
        JSON.stringify((context as { authorization?: { token: string } }).authorization?.token),
    })
    const result = await outerRun(app, { authorizations: held('a', 'b') })
    expect(JSON.stringify(result).replaceAll(/\\/g, '')).toContain(expected)
  })

  test('has the metadata and the secrets of the outer call that it declares', async () => {
    const app = new ToolApp()
    app.tool('inner', {
      input: z.object({}),
      requiresMetadata: ['locale'],
      requiresSecrets: ['KEY'],
      handler: ({ metadata, getSecret }) => ({ metadata, key: getSecret('KEY') }),
    })
    const result = await outerRun(app, {
      metadata: { locale: 'de', tenant: 'acme' },
      secret: (key) => `value of ${key}`,
    })
    const text = JSON.stringify({ metadata: { locale: 'de' }, key: 'value of KEY' })
    expect(result).toEqual({ outcome: 'value', json: JSON.stringify([{ type: 'text', text }]) })
  })

  const refusal = (name: string) => ({ name, message: `Gatepass refuses: ${name}.` })
  const failed = { outcome: 'value', json: expect.stringContaining('Gatepass refuses: ') }
  const thrown = { outcome: 'error', error: { message: expect.not.stringMatching(/Gatepass/i) } }
  test.each([
    ['that Gatepass does not have is a failed result', 404, refusal('not_found'), failed],
    ['that a policy denies is a failed result', 403, refusal('denied_by_policy'), failed],
    ['is an error for the author without a valid key', 401, refusal('invalid_authorization'), thrown],
    ['is an error for the author where no Gatepass answers', 404, { message: 'no route' }, thrown],
  ])('%s', async (_, status, body, expected) => {
    const fetch = async () => Response.json(body, { status })
    const gatepass = new Gatepass({ baseUrl: 'http://gatepass.internal', apiKey: 'key', fetch })
    expect(await outerRun(new ToolApp({ gatepass }), {})).toMatchObject(expected)
  })
})
