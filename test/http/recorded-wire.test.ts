import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chainContext } from '../../src/features/chains/store.ts'
import { sealingContext } from '../../src/store/protected-tables.ts'
import { type FakeMcpServer, startFakeMcpServer } from '../fake-mcp-server.ts'
import { testClock } from '../gatepass.ts'
import { answerChecker, type CheckAnswer } from './described-answers.ts'
import { STAINLESS, startWorld, type World } from './world.ts'

// What each way of running a tool answers and what history stores of the run, byte for byte. The snapshots in
// `test/fixtures/recorded-wire` were recorded by the code of commit f60e141, whose types were those of the wire. A
// difference is a change of the wire, which callers notice, or of stored rows, which nodes of that release must still
// read while an installation is upgraded node by node.

const clock = testClock()
const SNAPSHOTS = '../fixtures/recorded-wire'
let world: World
let mcp: FakeMcpServer
let check: CheckAnswer

beforeAll(async () => {
  const environment = { GATEPASS_TOOLS: fileURLToPath(new URL('../fixtures/run-tools.ts', import.meta.url)) }
  world = await startWorld({ gatepass: { environment, now: clock } })
  check = answerChecker((await world.call('GET', '/openapi.json')).body)
  mcp = await startFakeMcpServer({ name: 'remote' })
  mcp.tools.push(
    {
      name: 'link',
      description: 'Answers a resource link.',
      run: async () => ({
        content: [
          {
            type: 'resource_link',
            uri: 'https://files.test/a.csv',
            name: 'a.csv',
            mimeType: 'text/csv',
            size: 3,
          },
        ],
      }),
    },
    {
      name: 'picture',
      description: 'Answers a text and an image.',
      run: async () => ({
        content: [
          { type: 'text', text: '{"a": 1}' },
          { type: 'image', data: 'AAAA', mimeType: 'image/png' },
        ],
      }),
    },
    {
      name: 'arcade_error',
      description: 'Fails as arcade-mcp does.',
      run: async () => ({
        isError: true,
        content: [{ type: 'text', text: 'Wait.' }],
        _meta: {
          arcade: {
            error_kind: 'upstream_runtime_rate_limit',
            can_retry: true,
            developer_message: 'The API said 429.',
            additionalPromptContent: 'Ask less often.',
            retry_after_ms: 1500,
            status_code: 429,
            stacktrace: 'at call()',
          },
        },
      }),
    },
  )
  const registered = await world.call('POST', '/v1/workers', { id: 'mcp', mcp: { uri: mcp.url } })
  expect(registered.status).toBe(201)
})
afterAll(async () => {
  await world[Symbol.asyncDispose]()
  await mcp.close()
})

/** The text without what differs from run to run: ids, times, durations, ports. */
function normalized(text: string): string {
  const ids = new Map<string, string>()
  return text
    .replaceAll(/\b(exec|auth|chain|code|conn|proj|prov|tool|key|work)_[0-9a-z]{20,}\b/gi, (id, prefix) => {
      const known =
        ids.get(id) ?? `${prefix}_${[...ids.keys()].filter((one) => one.startsWith(prefix)).length + 1}`
      ids.set(id, known)
      return known
    })
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, '<time>')
    .replaceAll(/\b1[78]\d{8}\b/g, '<seconds>')
    .replaceAll(/("duration(?:Ms)?":)[\d.]+/g, '$1<ms>')
    .replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:<port>')
    .replaceAll(/"stacktrace":"(?:[^"\\]|\\.)*\\n {4}at (?:[^"\\]|\\.)*"/g, '"stacktrace":"<stack>"')
}

const HEADERS = ['x-gatepass-error-kind', 'warning', 'retry-after', 'oxp-version']

async function raw(method: string, path: string, body?: object, headers: object = {}): Promise<string> {
  const { url, apiKey } = world.gatepass
  const response = await fetch(new URL(path, url), {
    method,
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', ...headers },
    ...(body && { body: JSON.stringify(body) }),
  })
  const shown = HEADERS.flatMap((name) => {
    const value = response.headers.get(name)
    return value === null ? [] : [`${name}: ${value}`]
  })
  const text = await response.text()
  const mediaType = (response.headers.get('content-type') ?? '').replace(/;.*$/, '')
  // the document does not describe the answers for Arcade's SDKs
  if (!('x-stainless-lang' in headers))
    expect(check(method, path, { status: response.status, mediaType, body: text })).toBeUndefined()
  return [`${method} ${path} ${response.status}`, ...shown, text.trimEnd()].join('\n')
}

const error = {
  kind: 'UPSTREAM_RUNTIME_RATE_LIMIT',
  message: 'Slow down.',
  developer_message: 'The API said 429.',
  can_retry: true,
  additional_prompt_content: 'Wait.',
  retry_after_ms: 30_000,
  status_code: 429,
  stacktrace: 'at call()',
  extra: { limit: 60, stack: 'at inner()' },
}

const CALLS: [name: string, tool: string, input: Record<string, unknown>, user?: string][] = [
  ['value', 'Demo.Echo', { text: 'hello', count: 2 }],
  ['null', 'Demo.Null', {}],
  ['list', 'Demo.Array', {}],
  ['large value', 'Demo.Huge', { bytes: 70_000 }],
  ['artifact', 'Demo.Artifact', {}],
  ['error with every member', 'Demo.Fail', error],
  ['error with few members', 'Demo.Fail', {}],
  ['bad input', 'Demo.Fail', { can_retry: 'perhaps' }],
  ['worker fails', 'Demo.Crash', {}],
  ['worker answers no JSON', 'Demo.BadJson', {}],
  ['undeclared consent', 'Demo.Phish', {}],
  ['consent', 'Demo.WhoAmI', {}, 'ada'],
  ['no user', 'Demo.WhoAmI', {}],
  ['missing secret', 'Demo.NeedsSecret', {}],
  ['module value', 'Run.Add', { a: 1, b: 2 }],
  ['module throws', 'Run.Fails', {}],
  ['module answers wrong output', 'Run.WrongOutput', {}],
  ['module is late', 'Run.Late', {}],
  ['module says something', 'Run.Says', {}],
  ['missing metadata', 'Run.Told', {}],
  ['two providers', 'Run.Both', {}, 'ada'],
  ['mcp structured', 'Remote.add', { a: 1, b: 2 }],
  ['mcp text', 'Remote.echo', { a: [1] }],
  ['mcp link', 'Remote.link', {}],
  ['mcp picture', 'Remote.picture', {}],
  ['mcp error', 'Remote.fail', {}],
  ['mcp error of arcade', 'Remote.arcade_error', {}],
  ['no such tool', 'Demo.Nothing', {}],
]

/** What the run left in the database, opened. */
async function stored(id: string): Promise<string> {
  const { broker } = world.gatepass
  await broker.history.flush()
  const { id: projectId } = await broker.store.projects.ensure('default', broker.now())
  const record = await broker.store.executions.find(projectId, id)
  if (record === undefined) return 'nothing is stored'
  const { request, result, ...row } = record
  const place = (column: 'request' | 'result') =>
    sealingContext('executions', column, { id: record.id, projectId })
  return [
    JSON.stringify(row),
    request === undefined ? '-' : broker.sealer.open(request, place('request')),
    result === undefined ? '-' : broker.sealer.open(result, place('result')),
  ].join('\n')
}

describe('every way of running a tool', () => {
  test.each(CALLS)('%s', async (name, tool, input, user_id?: string) => {
    const who = user_id === undefined ? {} : { user_id }
    const run = { toolId: tool, args: input, ...who }
    const arcade = { tool_name: tool, input, ...who, include_error_stacktrace: true }
    const texts: string[] = []
    for (const [path, body, headers] of [
      ['/v1/tools/execute', { tool_name: tool, input, ...who }],
      ['/v1/tools/execute', { tool_name: tool, input, ...who }, STAINLESS],
      ['/v1/tools/execute', arcade, STAINLESS],
      ['/v1/tools/run', run],
      ['/v1/tools/run_stream', run],
      ['/v1/tools/run_chain', { steps: [{ toolId: tool, args: input }], ...who }],
      [
        '/v1/code/execute',
        { code: `return await tools.call(${JSON.stringify(tool)}, ${JSON.stringify(input)})`, ...who },
      ],
      ['/oxp/tools/call', { request: { tool_id: tool, input, context: who } }],
      ['/oxp/tools/call', { tool_id: tool, input, context: who }],
    ] as const)
      texts.push(await raw('POST', path, body, headers))
    texts.push(await raw('POST', '/v1/tools/execute', { ...arcade, keep_content: true }))
    const [id] = /exec_[0-9a-z]+/i.exec(texts.at(-1) ?? '') ?? []
    if (id !== undefined) texts.push(await stored(id), await raw('GET', `/v1/executions/${id}`))
    const text = `${texts.map(normalized).join('\n\n')}\n`.replaceAll(/x{1000,}/g, (xs) => `<${xs.length} x>`)
    await expect(text).toMatchFileSnapshot(`${SNAPSHOTS}/${name.replaceAll(' ', '-')}.txt`)
  })

  test('scheduled runs', async () => {
    const run_at = new Date((clock() + 60) * 1000).toISOString()
    const texts: string[] = []
    const schedule = async (tool_name: string, input: object, headers = {}, more = {}) => {
      texts.push(await raw('POST', '/v1/tools/execute', { tool_name, input, run_at, ...more }, headers))
      return /exec_[0-9a-z]+/i.exec(texts.at(-1) ?? '')?.[0] ?? ''
    }
    const ids = [
      await schedule('Run.Add', { a: 1 }),
      await schedule('Run.Add', { a: 1 }, STAINLESS),
      await schedule('Demo.Fail', { message: 'No.' }),
      await schedule('Demo.NeedsSecret', {}),
    ]
    await schedule('Demo.WhoAmI', {}, {}, { user_id: 'ada' })
    await schedule('Demo.WhoAmI', {}, STAINLESS, { user_id: 'ada' })
    await schedule('Demo.Fail', { can_retry: 'perhaps' })
    clock.advance(60)
    for (const id of ids) {
      const path = `/v1/scheduled_tools/${id}`
      await expect
        .poll(async () => (await world.call('GET', path)).body.execution_status)
        .toMatch(/completed|failed/)
      texts.push(await raw('GET', path))
    }
    await expect(`${texts.map(normalized).join('\n\n')}\n`).toMatchFileSnapshot(`${SNAPSHOTS}/scheduled.txt`)
  })

  test('a chain that waits for consent', async () => {
    const steps = [
      { toolId: 'Demo.Echo', args: { text: 'one' } },
      { toolId: 'Demo.Huge', args: { bytes: 70_000 } },
      { toolId: 'Remote.add', args: { a: 1, b: 2 } },
      { toolId: 'Demo.WhoAmI' },
      { toolId: 'Demo.Null' },
    ]
    const first = await raw('POST', '/v1/tools/run_chain', { steps, user_id: 'chained' })
    const [resume = ''] = /chain_[0-9a-z]+/i.exec(first) ?? []
    const { broker } = world.gatepass
    const { id: projectId } = await broker.store.projects.ensure('default', broker.now())
    const taken = await broker.store.chains.take(projectId, resume, broker.now())
    if (taken === undefined) throw new Error('no chain was kept')
    await broker.store.chains.add(taken)
    const state = broker.sealer.open(taken.state, chainContext('chains', 'state', { id: resume, projectId }))
    await world.connect('chained')
    const second = await raw('POST', '/v1/tools/run_chain', { resume, user_id: 'chained' })
    const text = [first, state, second]
      .map(normalized)
      .join('\n\n')
      .replaceAll(/x{1000,}/g, (xs) => `<${xs.length} x>`)
    const shown = text.replaceAll(/"token_digest":"[0-9a-f]+"/g, '"token_digest":"<digest>"')
    await expect(`${shown}\n`).toMatchFileSnapshot(`${SNAPSHOTS}/chain.txt`)
  })

  test('a chain with refusals', async () => {
    const texts = [
      await raw('POST', '/v1/tools/run_chain', {
        steps: [{ toolId: 'Run.Add', args: {} }, { toolId: 'Run.Add' }],
      }),
      await raw('POST', '/v1/tools/run_chain', {
        steps: [{ toolId: 'Demo.Nothing' }, { toolId: 'Run.Add' }],
      }),
      await raw('POST', '/v1/tools/run_chain', {
        steps: [{ toolId: 'Run.Add', args: { a: 1 }, usePrevious: true }],
      }),
      await raw('POST', '/v1/tools/run_chain', { resume: 'chain_none' }),
    ]
    await expect(`${texts.map(normalized).join('\n\n')}\n`).toMatchFileSnapshot(
      `${SNAPSHOTS}/chain-refused.txt`,
    )
  })
})

test('what the catalogue says of tools', async () => {
  const texts: string[] = []
  for (const path of [
    '/v1/tools',
    '/v1/tools?user_id=ada&include_format=openai,anthropic,mcp,json_schema,oxp,arcade',
    '/v1/tools/Demo.WhoAmI?user_id=ada',
    '/v1/tools/Run.Both?user_id=ada',
    '/v1/tools/Demo.NeedsSecret',
    '/v1/formatted_tools?format=arcade',
    '/v1/tools?met=false&user_id=ada',
    `/v1/tools?filter=${encodeURIComponent('{"read_only":true}')}`,
    `/v1/tools?filter=${encodeURIComponent('{"operations":{"any_off":[]}}')}`,
    '/oxp/tools',
  ])
    texts.push(await raw('GET', path))
  texts.push(
    await raw('POST', '/v1/tools/requirements', {
      tool_names: ['Demo.WhoAmI', 'Run.Both', 'Demo.NeedsSecret', 'Demo.Echo'],
      user_id: 'ada',
    }),
    await raw('POST', '/v1/tools/requirements', {
      tool_names: ['Demo.WhoAmI', 'Demo.EchoWithToken'],
      user_id: 'eve',
      authorize: true,
    }),
    await raw('POST', '/v1/tools/authorize', { tool_name: 'Demo.Echo' }),
    await raw('POST', '/v1/tools/authorize', { tool_name: 'Demo.WhoAmI', user_id: 'ada' }),
  )
  await expect(`${texts.map(normalized).join('\n\n')}\n`).toMatchFileSnapshot(`${SNAPSHOTS}/catalogue.txt`)
})
