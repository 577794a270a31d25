import PostalMime from 'postal-mime'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startWorld, type World } from '../http/world.ts'
import { answer, type Loopback, listen, type RecordedRequest, record } from '../loopback.ts'

// Tools that are described requests, and those of packs: what a model writes into their input, and what an API answers.

let world: World
let api: Loopback
let token: string
let calls: RecordedRequest[] = []
let reply: { status?: number; type?: string; body?: string } = {}

beforeAll(async () => {
  world = await startWorld({ gatepass: { mode: 'development' } })
  api = await listen(async (req, res) => {
    calls.push(await record(req))
    const { status = 200, type = 'application/json', body = '{"ok":true}' } = reply
    answer(res, status, type, body)
  })
  const hosts = [new URL(api.url).host]
  await world.call('PATCH', '/v1/admin/auth_providers/demo', { oauth2: { api: { hosts } } })
  token = await world.connect('ada')
  await world.connect('bob')
})
afterAll(async () => {
  await world[Symbol.asyncDispose]()
  await api.close()
})
beforeEach(() => {
  calls = []
  reply = {}
})

let workers = 0
const properties = (...names: string[]) => ({
  type: 'object',
  properties: Object.fromEntries(names.map((name) => [name, {}])),
})

async function register(request: object): Promise<string> {
  const id = `attacked${++workers}`
  const one = { name: 'Do', description: 'Does it.', method: 'POST', url: `${api.url}/things`, ...request }
  const requests = [{ input_schema: properties(), authorization: { id: 'demo', scopes: ['read'] }, ...one }]
  const { status, body } = await world.call('POST', '/v1/workers', {
    id,
    pinning: 'record',
    openapi: { requests },
  })
  expect([status, body.message]).toEqual([201, undefined])
  return id
}

const call = async (id: string, input: object = {}, more: object = {}) =>
  (await world.execute(`${id}.Do`, { input, user_id: 'ada', ...more })).body
async function run(request: object, input: object = {}) {
  const names = Object.keys(input)
  const id = await register({ input_schema: properties(...names), ...request })
  const { output } = await call(id, input)
  return output as { value?: unknown; error?: { message: string } }
}

describe('threat 83: an input that leads the request elsewhere', () => {
  test.each([
    '..',
    '.',
    'a/../..',
    '%2e%2e',
    '%2e%2e%2fx',
    '%252e%252e%252fx',
    '..%2fx%zz',
    '%zz/..%2f',
    '..\\x',
    '..%5cx',
    'a\r\nHost: evil.example',
    'a%0d%0ax',
    '\0',
    '',
  ])('%j is no part of a path', async (id) => {
    const { error } = await run({ url: `${api.url}/things/{id}` }, { id })
    expect(error?.message).toMatch(/path|empty/)
    expect(calls).toHaveLength(0)
  })

  test.each([
    '//evil.example',
    '@evil.example',
    '?a=b',
    '#x',
    'a;b',
    '{{x}}',
    '{other}',
    '\u2025',
    '\uff0e\uff0e',
    '\u2024\u2024/',
  ])('%j stays within its segment of the path', async (id) => {
    await run({ url: `${api.url}/things/{id}/end` }, { id, other: 'x' })
    const [{ path = '', search = '' } = {}] = calls
    expect([path.split('/').length, path.endsWith('/end'), search]).toEqual([4, true, ''])
    expect(decodeURIComponent(path.split('/')[2] ?? '')).toBe(id)
  })

  test.each(['a//b', '/a', 'a/', '../a', 'a/./b', 'a/%2e%2e/b', 'a/..%2f%zz'])(
    '%j is no path of several segments',
    async (path) => {
      const described = { url: `${api.url}/files/{path}/content`, path: { path: { $segments: '{path}' } } }
      expect((await run(described, { path })).error?.message).toMatch(/path|empty/)
      expect(calls).toHaveLength(0)
    },
  )

  test.each(['{id}', 'a?b', 'a#b', 'a b', 'a\\b', '..', 'a/../..'])(
    'the value %j, which the provider gave a connection, changes nothing of the URL after it',
    async (site) => {
      await world.call('PATCH', '/v1/admin/auth_providers/demo', {
        oauth2: { kept_values: { site: { from: 'token_response', pattern: '[^<>]+' } } },
      })
      world.as.behaviour.tokenMembers = { site }
      const user_id = `of ${site}`
      await world.connect(user_id)
      world.as.behaviour.tokenMembers = {}
      const id = await register({ url: `${api.url}/{{site}}/things/{id}`, input_schema: properties('id') })
      const { output } = await call(id, { id: 'x' }, { user_id })
      expect(output.error.message).toMatch(/changes the rest of a URL|valid path/)
      expect(calls).toHaveLength(0)
    },
  )
})

describe('threat 83: an input that becomes more than its place', () => {
  test.each([
    ['the name of a group', 'boss@example.com:<eve@example.org>'],
    ['a group', 'friends:eve@example.org'],
    ['two addresses', 'ada@example.com,eve@example.org'],
    ['two addresses in one', 'ada@example.com <eve@example.org> <bob@example.com>'],
    ['a line break', 'ada@example.com\r\nBcc: eve@example.org'],
    ['a line separator', 'ada@example.com\u2028'],
    ['an invisible character', 'eve@example.org\u200b'],
    ['a text that runs the other way', '\u202eada@example.com'],
    ['a long name', `${'ä'.repeat(500)} <ada@example.com>`],
  ])('%s is no address of an e-mail', async (_, address) => {
    const body = { raw: { $rfc5322: { to: '{to}', text: 'x' } } }
    expect((await run({ body }, { to: [address] })).error?.message).toContain('one e-mail address')
    expect(calls).toHaveLength(0)
  })

  test.each([
    'text/plain\r\nBcc: eve@example.org',
    'multipart/mixed; boundary=x',
    'text/plain; name=x; boundary=y',
    `text/${'x'.repeat(300)}`,
  ])('%j is no media type of an attachment', async (content_type) => {
    const body = { raw: { $rfc5322: { to: ['a@b.c'], attachments: '{files}' } } }
    const files = [{ filename: 'a.txt', data: 'aGk=', content_type }]
    expect((await run({ body }, { files })).error?.message).toContain('must be a media type')
    expect(calls).toHaveLength(0)
  })

  test('of an e-mail its fields add no header and no recipient', async () => {
    const evil = 'x\r\nBcc: eve@example.org\r\n\r\n<x>'
    const message = {
      to: ['ada@example.com'],
      subject: '{evil}',
      in_reply_to: '{evil}',
      references: '{evil}',
      attachments: '{files}',
    }
    await run({ body: { raw: { $rfc5322: message } } }, { evil, files: [{ filename: evil, data: 'aGk=' }] })
    const { raw } = JSON.parse(calls[0]?.body ?? '{}')
    const read = await PostalMime.parse(raw)
    expect(read.headers.map(({ key }) => key)).not.toContain('bcc')
    expect([read.to, read.bcc]).toEqual([[{ name: '', address: 'ada@example.com' }], undefined])
  })

  test.each<[string, unknown]>([
    ['a conversion', { $literal: { $text: '{secret}' } }],
    ['a placeholder', '{secret}'],
    ['a value of the connection', '{{site}}'],
    ['prototype keys', JSON.parse('{"__proto__": {"a": 1}, "constructor": {"prototype": {"b": 2}}}')],
  ])('%s in a value is a value', async (_, value) => {
    await run({ body: { value: '{value}', list: { $map: '{value}', to: '{item}' } } }, { value, secret: 's' })
    expect(JSON.parse(calls[0]?.body ?? '')).toEqual({ value, list: [value] })
  })
})

describe('threat 84: an input that holds the event loop, or takes all memory', () => {
  const deep = (levels: number, name: string, end: unknown): unknown =>
    levels === 0 ? end : { [name]: deep(levels - 1, name, end) }
  const leaves = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`m${i}`, 1]))
  const form = { content_type: 'application/x-www-form-urlencoded' }

  test.each<[string, object, unknown, string]>([
    [
      'names that are nested in a form',
      { body: { a: { $brackets: '{a}' } }, ...form },
      deep(60, 'k'.repeat(10_000), leaves),
      'nests too many long names',
    ],
    [
      'names that are nested in a query',
      { query: { a: { $brackets: '{a}' } } },
      deep(60, 'k'.repeat(200), Object.fromEntries(Object.entries(leaves).slice(0, 500))),
      'nests too many long names',
    ],
    [
      'a list that is mapped',
      { body: { a: { $map: '{a}', to: { x: '{item}' } } } },
      Array(500_000).fill(1),
      'at most 10000 elements',
    ],
    [
      'a list that is joined',
      { body: { a: { $join: '{a}' } } },
      Array(500_000).fill(1),
      'at most 10000 elements',
    ],
    [
      'documents of Atlassian',
      { body: { a: { $map: '{a}', to: { $adf: '{item}' } } } },
      Array(50).fill('x\n\n'.repeat(10_000)),
      'at most 10000 elements',
    ],
    [
      'e-mails',
      { body: { a: { $map: '{a}', to: { $rfc5322: { text: '{item}' } } } } },
      Array(5_000).fill('x'),
      'at most 10000 elements',
    ],
    [
      'attachments',
      { body: { a: { $rfc5322: { attachments: '{a}' } } } },
      Array(20_000).fill({ filename: 'a', data: '' }),
      'it may have 100',
    ],
    [
      'a filename',
      { body: { a: { $rfc5322: { attachments: '{a}' } } } },
      [{ filename: 'ä'.repeat(1_000_000), data: '' }],
      'may have 255',
    ],
    ['a large form', { body: { a: '{a}' }, ...form }, 'ä'.repeat(2_000_000), 'The form has more than'],
    ['a long value of the query', { query: { a: '{a}' } }, Array(500_000).fill('a'), 'a query is shorter'],
    ['a long part of the path', { url: 'PLACE/{a}' }, '%25'.repeat(1_000_000), 'a path is shorter'],
    ['a long quoted text', { query: { a: { $quoted: '{a}' } } }, '"'.repeat(2_000_000), 'at most 16000'],
  ])('%s', async (_, request, a, refusal) => {
    const placed = 'url' in request ? { url: `${api.url}/{a}` } : request
    const id = await register({ ...placed, input_schema: properties('a') })
    const { output } = await call(id, { a })
    expect(output?.error?.message).toContain(refusal)
    expect(calls).toHaveLength(0)
  })
})

describe('threat 85: what one call sends or is answered reaches another', () => {
  test('two callers, or two users of one tool, with one idempotency key are two calls for the service', async () => {
    const id = await register({ headers: { 'Idempotency-Key': { $call_id: true } } })
    const keyOf = async (user_id: string, key: string) => {
      const request = { tool_id: `${id}.Do`, call_id: 'order-1', context: { user_id }, input: {} }
      const { status, body } = await world.call('POST', '/oxp/tools/call', { request }, { key })
      expect([status, body.message]).toEqual([200, undefined])
      return calls.at(-1)?.headers['idempotency-key']
    }
    const [one, two] = [await world.gatepass.makeKey('caller'), await world.gatepass.makeKey('caller')]
    const first = await keyOf('ada', one)
    expect(first).toMatch(/^[\da-f-]{36}$/)
    expect(await keyOf('bob', two)).not.toBe(first)
  })
})

describe('threat 71: a rule about an argument that the caller leaves out', () => {
  const visibility = { type: 'string', enum: ['PUBLIC', 'PRIVATE'], default: 'PUBLIC' }
  const described = {
    body: { visibility: '{visibility}' },
    input_schema: { type: 'object', properties: { visibility } },
  }

  test('denies the value that is sent in its place', async () => {
    const id = await register(described)
    const policy = {
      id: 'no-public',
      effect: 'deny',
      match: { tools: [`${id}.Do`], arguments: [{ at: '/visibility', one_of: ['PUBLIC'] }] },
    }
    expect(await world.call('POST', '/v1/admin/policies', policy)).toMatchObject({ status: 201 })
    for (const input of [{ visibility: 'PUBLIC' }, {}])
      expect((await call(id, input)).output).toMatchObject({
        error: { developer_message: expect.stringMatching(/^CONTEXT_DENIED/) },
      })
    expect((await call(id, { visibility: 'PRIVATE' })).output.value).toEqual({ ok: true })
    expect(calls.map(({ body }) => body)).toEqual(['{"visibility":"PRIVATE"}'])
    await world.call('DELETE', '/v1/admin/policies/no-public')
  })

  test('an approver is shown the value that is sent in its place', async () => {
    const id = await register(described)
    const policy = { id: 'ask', effect: 'approve', match: { tools: [`${id}.Do`] }, approve: { by: 'user' } }
    expect(await world.call('POST', '/v1/admin/policies', policy)).toMatchObject({ status: 201 })
    const { output } = await call(id, {})
    const key = await world.gatepass.makeKey('approver')
    const question = await world.call('GET', `/v1/approvals/${output.requires_authorization.id}`, undefined, {
      key,
    })
    expect(JSON.stringify(question.body)).toContain('"arguments":{"visibility":"PUBLIC"}')
    await world.call('DELETE', '/v1/admin/policies/ask')
  })
})

describe('threat 46: half a secret, cut off before secrets were removed', () => {
  const half = () => token.slice(0, 12)
  test.each<[string, () => typeof reply, object?]>([
    [
      'in an error of plain text',
      () => ({ status: 400, type: 'text/plain', body: `x${' '.repeat(980)}${token}` }),
    ],
    ['in a media type', () => ({ type: `image/${'x'.repeat(80)}${token}`, body: 'x' })],
    [
      'in the type of a file, in lower case',
      () => ({ type: `image/${token}`, body: '\0' }),
      { answer: { file: {} } },
    ],
    [
      'in much HTML',
      () => ({ body: JSON.stringify({ text: `${'x '.repeat(99_990)}${token}` }) }),
      { answer: { convert: { text: 'html_text' } } },
    ],
  ])('%s', async (_, said, more = {}) => {
    reply = said()
    const { output } = await call(await register({ method: 'GET', answer: {}, ...more }))
    expect(JSON.stringify(output).toLowerCase()).not.toContain(half().toLowerCase())
  })
})

describe('threat 71: a tool of a pack does what another one asks about', () => {
  /** Registers a tool of a pack, which asks the API of this test in place of the service. */
  async function packTool(pack: string, name: string): Promise<string> {
    const { body } = await world.call('GET', `/v1/packs/${pack}?tools=${name}&provider_id=demo`)
    const [tool] = body.worker.openapi.requests
    const url = tool.url.replace(/^https:\/\/[^/]+/, api.url)
    const { alternatives: _, ...authorization } = tool.authorization
    return register({ ...tool, name: 'Do', url, authorization: { ...authorization, scopes: ['read'] } })
  }

  test.each<[string, string, object]>([
    ['gmail', 'ChangeMessageLabels', { message_id: 'm1', add_labels: ['TRASH'] }],
    ['gmail', 'ChangeManyMessageLabels', { message_ids: ['m1'], add_labels: ['STARRED', 'TRASH'] }],
    ['gmail', 'ChangeThreadLabels', { thread_id: 't1', add_labels: ['SPAM'] }],
    ['stripe', 'CreateInvoice', { customer: 'cus_1', auto_advance: true }],
    ['onedrive', 'GetItemByPath', { path: 'a.txt:/permissions' }],
    ['onedrive', 'UploadFile', { path: 'a.txt:/permissions', content: 'x' }],
    ['airtable', 'CreateRecords', { base_id: 'meta', table: 'bases', records: [{}] }],
    ['microsoft-teams', 'CreateChat', { type: 'oneOnOne', user_ids: ["a')/manager('"] }],
    [
      'outlook-calendar',
      'ListEvents',
      { from: '2026-01-01', to: '2026-01-02', time_zone: 'UTC", respond-async, x="' },
    ],
  ])('%s %s: %j', async (pack, name, input) => {
    const id = await packTool(pack, name)
    const { output } = await call(id, input)
    expect(output.error?.kind ?? output.error?.message).toMatch(/^Input/i)
    expect(calls).toHaveLength(0)
  })

  test('those ask that replace a file, or put it where others may read it', async () => {
    const asking = async (pack: string) =>
      (await world.call('GET', `/v1/packs/${pack}`)).body.policy.match.tools as string[]
    expect(await asking('dropbox')).toEqual(
      expect.arrayContaining(['Dropbox:UploadFile', 'Dropbox:Copy', 'Dropbox:Move']),
    )
    expect(await asking('google-drive')).toEqual(
      expect.arrayContaining([
        'GoogleDrive:UpdateFileContent',
        'GoogleDrive:MoveFile',
        'GoogleDrive:CopyFile',
      ]),
    )
    expect(await asking('onedrive')).toEqual(
      expect.arrayContaining(['OneDrive:UploadFile', 'OneDrive:MoveItem']),
    )
  })
})
