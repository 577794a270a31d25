import { describe, expect, test } from 'vitest'
import { readMcpResult } from '../../src/tools/mcp/read-mcp-result.ts'
import { namespaceOf, readMcpTool, versionOf } from '../../src/tools/mcp/read-mcp-tool.ts'
import type { McpSettings } from '../../src/tools/mcp/settings.ts'

const text = (...texts: string[]) => texts.map((one) => ({ type: 'text', text: one }))

describe('a result', () => {
  test.each([
    ['structured', { structuredContent: { a: 1 }, content: text('{"a":2}') }, { a: 1 }],
    ['structured null', { structuredContent: null, content: text('x') }, null],
    ['one text that is JSON', { content: text('42') }, 42],
    ['one text that is none', { content: text('{"a":') }, '{"a":'],
    ['several texts', { content: text('1', 'two') }, ['1', 'two']],
    ['no text', { content: [{ type: 'image', data: 'AA==', mimeType: 'image/png' }] }, null],
    ['nothing', { content: [] }, null],
    [
      'a text beside a picture',
      { content: [{ type: 'image', data: 'AA==', mimeType: 'image/png' }, ...text('hi')] },
      'hi',
    ],
  ])('%s', (_, result, value) => {
    expect(readMcpResult(result)).toEqual({ outcome: 'value', value, mcpResult: result })
  })

  test('that is an error says how to take it', () => {
    const arcade = {
      errorKind: 'upstream_runtime_rate_limit',
      canRetry: true,
      retryAfterMs: 10.2,
      statusCode: 429,
    }
    const result = { isError: true, content: text('Too', 'often'), _meta: { arcade } }
    expect(readMcpResult(result)).toEqual({
      outcome: 'error',
      error: {
        kind: 'UPSTREAM_RUNTIME_RATE_LIMIT',
        message: 'Too\noften',
        canRetry: true,
        retryAfterMs: 11,
        statusCode: 429,
      },
      mcpResult: result,
    })
    expect(readMcpResult({ isError: true, content: [] })).toMatchObject({
      error: { kind: 'TOOL_RUNTIME_FATAL', message: 'The tool failed without saying why.' },
    })
  })
})

describe('a tool', () => {
  const object = { type: 'object' } as const
  const read = (tool: object, settings: McpSettings = {}) =>
    readMcpTool({ name: 'one', inputSchema: object, ...tool }, { namespace: 'Demo' }, settings)

  test('keeps what it says of itself', () => {
    const said = {
      title: 'One',
      description: 'Does one.',
      inputSchema: { ...object, $defs: { x: {} }, additionalProperties: false },
      outputSchema: { ...object, properties: { a: {} } },
      annotations: { title: 'Other', readOnlyHint: true, idempotentHint: false },
      icons: [{ src: 'https://icons.test/one.png', sizes: ['16x16'] }],
      _meta: { 'com.example/x': 1 },
    }
    const { _meta: meta, ...rest } = said
    expect(read(said)).toEqual({
      outcome: 'read',
      tool: {
        ...rest,
        meta,
        name: 'one',
        namespace: 'Demo',
        requirements: { authorization: [], secrets: [], metadata: [] },
        document: { name: 'one', ...said },
      },
    })
  })

  test.each([
    ['a name with a space', { name: 'a b' }],
    ['no name', { name: '' }],
    ['a name too long', { name: 'x'.repeat(129) }],
    ['no schema', { inputSchema: null }],
    ['a schema of no object', { inputSchema: { type: 'string' } }],
    ['a schema as deep as the sea', { inputSchema: deep(70) }],
    ['a description longer than a book', { description: 'x'.repeat(300_000) }],
    ['a task', { execution: { taskSupport: 'required' } }],
    ['a requirement of no provider', { _meta: { arcade: { requirements: { authorization: {} } } } }],
    ['a scheme that nobody can meet', { _meta: secured({ a: { type: 'apiKey' } }, [{ a: [] }]) }],
    ['a scheme that is not there', { _meta: secured({}, [{ a: [] }]) }],
  ])('is refused with a reason: %s', (_, tool) => {
    expect(read(tool)).toMatchObject({ outcome: 'refused', reason: expect.stringMatching(/\w/) })
  })

  function secured(securitySchemes: object, securityRequirements: object[]) {
    return { securitySchemes, securityRequirements }
  }
  const schemes = {
    github: { type: 'oauth2' },
    google: { type: 'openIdConnect', provider_id: 'google-work' },
    key: { type: 'apiKey' },
  }

  test.each<[string, object, McpSettings, object]>([
    [
      'one alternative',
      secured(schemes, [{ github: ['repo'] }]),
      {},
      { authorization: [{ providerId: 'github', scopes: ['repo'] }] },
    ],
    [
      'several, any of which is enough',
      secured(schemes, [{ github: ['repo'] }, [{ scheme: 'google', scopes: ['mail'] }], {}]),
      {},
      {
        authorization: [],
        alternatives: [
          [{ providerId: 'github', scopes: ['repo'] }],
          [{ providerId: 'google-work', scopes: ['mail'] }],
          [],
        ],
      },
    ],
    [
      'one of which cannot be met',
      secured(schemes, [{ key: [] }, { github: [] }]),
      {},
      { authorization: [{ providerId: 'github', scopes: [] }] },
    ],
    [
      'as Arcade’s workers say it',
      {
        arcade: {
          requirements: {
            authorization: { id: 'gh', oauth2: { scopes: ['a'] } },
            secrets: [{ key: 'K' }, 'L'],
          },
        },
      },
      {},
      { authorization: [{ id: 'gh', scopes: ['a'] }], secrets: ['K', 'L'] },
    ],
    [
      'the operator’s word for it',
      secured(schemes, [{ github: [] }]),
      { requirements: { tools: { one: { secrets: ['S'] } } } },
      { authorization: [], secrets: ['S'] },
    ],
    [
      'the operator’s word for all that say nothing',
      {},
      { requirements: { authorization: [{ id: 'x', scopes: [] }] } },
      { authorization: [{ id: 'x', scopes: [] }] },
    ],
    [
      'its own word before that',
      secured(schemes, [{ github: [] }]),
      { requirements: { secrets: ['S'] } },
      { authorization: [{ providerId: 'github', scopes: [] }], secrets: [] },
    ],
    [
      'the server’s consent first',
      secured(schemes, [{ github: [] }]),
      { authorization: { providerUid: 'prov_1', scopes: ['s'] } },
      {
        authorization: [
          { providerUid: 'prov_1', scopes: ['s'], use: 'server' },
          { providerId: 'github', scopes: [] },
        ],
      },
    ],
  ])('needs %s', (_, _meta, settings, requirements) => {
    expect(read({ _meta }, settings)).toMatchObject({ outcome: 'read', tool: { requirements } })
  })

  test('gets no token of a provider that the operator does not allow it', () => {
    const _meta = secured(schemes, [{ github: ['repo'] }])
    expect(read({ _meta }, { providers: ['google'] })).toMatchObject({ outcome: 'refused' })
    expect(read({ _meta }, { providers: ['GitHub'] })).toMatchObject({ outcome: 'read' })
  })

  test.each([
    ['github-mcp-server', 'Github'],
    ['GitHub MCP Server', 'GitHub'],
    ['acmeMcpServer', 'Acme'],
    ['my.cool_tools', 'MyCoolTools'],
    ['mcp-server', 'worker-id'],
    ['日本', 'worker-id'],
    ['', 'worker-id'],
  ])('of the server %j is in the namespace %s', (name, namespace) => {
    expect(namespaceOf(name, 'worker-id')).toBe(namespace)
  })

  test.each([
    ['1.2.3', '1.2.3'],
    ['v1.2.3-rc.1+b', '1.2.3-rc.1+b'],
    ['1.0', undefined],
    ['latest', undefined],
  ])('of the server version %s is of the version %s', (said, version) => {
    expect(versionOf(said)).toBe(version)
  })
})

function deep(levels: number): object {
  return levels === 0 ? {} : { type: 'object', properties: { a: deep(levels - 1) } }
}
