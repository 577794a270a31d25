import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { toolsAt } from '../../../src/tools/catalogue/selected-tools.ts'
import { type Gatepass, startGatepass } from '../../gatepass.ts'
import { metadata } from '../../http/world.ts'

// Toolsets by the API: what they select, under which names, and what is refused.

const JIRA = {
  name: 'jira',
  version: '2.0',
  authorizationUrl: 'https://jira.example.test/authorize',
  tokenUrl: 'https://jira.example.test/token',
  clientId: 'client',
  clientSecret: 'secret',
  scopes: ['read'],
  responseType: 'code',
}

let gatepass: Gatepass
let call: Gatepass['call']

beforeAll(async () => {
  gatepass = await startGatepass()
  call = gatepass.call
  await add('github', 'search', { keywords: ['code', 'Read Only'], version: '1.0.0' })
  await add('github', 'search', { keywords: ['code', 'Read Only'], version: '1.2.0' })
  await add('github', 'create_issue', { keywords: ['code'] })
  await add('jira', 'search', { oauth: [JIRA] })
})
afterAll(() => gatepass.close())
afterEach(async () => {
  const { body } = await call('GET', '/v1/toolsets?limit=100')
  for (const { id } of body.items) await call('DELETE', `/v1/toolsets/${id}`)
})

async function add(tool_set: string, name: string, more: Record<string, unknown> = {}): Promise<string> {
  const { body } = await call('POST', '/v1/tools/import', metadata(name, { tool_set, oauth: [], ...more }))
  expect(body.items[0].result, JSON.stringify(body)).toBe('created')
  return body.items[0].tool_id
}

async function create(body: Record<string, unknown>) {
  const made = await call('POST', '/v1/toolsets', body)
  expect([made.status, made.body.message]).toEqual([201, undefined])
  return made.body
}

/** What MCP clients are shown: each name with its tool. */
async function shown(id: string): Promise<Record<string, string>> {
  const { status, body } = await call('GET', `/v1/toolsets/${id}/tools?limit=100`)
  expect(status).toBe(200)
  return Object.fromEntries(
    body.items.map((one: { name: string; tool_id: string }) => [one.name, one.tool_id]),
  )
}

describe('a toolset', () => {
  test('is made, read, listed, changed and deleted, with the address for MCP clients', async () => {
    const instructions = 'Search first.\nThen ask.'
    const made = await create({ id: 'code', namespaces: ['GitHub'], instructions, listing: 'search' })
    expect(made).toMatchObject({
      id: 'code',
      url: `${gatepass.url}/mcp/code`,
      namespaces: ['GitHub'],
      names: 'prefixed',
      instructions,
      listing: 'search',
      tool_count: 2,
      warnings: [],
    })
    expect((await call('GET', '/v1/toolsets/code')).body).toEqual(made)
    const { tool_count: _, warnings: __, ...listed } = made
    expect((await call('GET', '/v1/toolsets')).body).toMatchObject({ items: [listed], total_count: 1 })

    const changes = { namespaces: null, tags: ['read only'], names: 'bare', instructions: null }
    const { status, body } = await call('PATCH', '/v1/toolsets/code', changes)
    expect(status).toBe(200)
    expect(body).toMatchObject({ tags: ['read-only'], names: 'bare', listing: 'search', tool_count: 1 })
    for (const gone of ['namespaces', 'instructions']) expect(body).not.toHaveProperty(gone)

    expect((await call('DELETE', '/v1/toolsets/code')).status).toBe(204)
    for (const method of ['GET', 'PATCH', 'DELETE'])
      expect((await call(method, '/v1/toolsets/code', method === 'PATCH' ? {} : undefined)).status).toBe(404)
  })

  test.each([
    ['a name', { tools: ['GitHub_Search'] }, { github_search: 'github:search:1.2.0' }],
    ['a name with a version', { tools: ['Github.search@1.0.0'] }, { github_search: 'github:search:1.0.0' }],
    ['a range of versions', { tools: ['github:search:~1.0'] }, { github_search: 'github:search:1.0.0' }],
    [
      'a namespace in another case',
      { namespaces: ['GITHUB'] },
      { github_search: 'github:search:1.2.0', github_create_issue: 'github:create_issue:1.0.0' },
    ],
    ['a tag', { tags: ['Read Only'] }, { github_search: 'github:search:1.2.0' }],
    ['a provider', { providers: ['jira'] }, { jira_search: 'jira:search:1.0.0' }],
    [
      'several selectors, a tool by two of them once, with the version that one names',
      { tools: ['github:search:1.0.0'], tags: ['code'], namespaces: ['jira'] },
      {
        github_search: 'github:search:1.0.0',
        github_create_issue: 'github:create_issue:1.0.0',
        jira_search: 'jira:search:1.0.0',
      },
    ],
  ])('has the tools of %s', async (_, selectors, expected) => {
    await create({ id: 'some', ...selectors })
    expect(await shown('some')).toEqual(expected)
    const { body } = await call('GET', '/v1/tools?toolset=some&limit=100')
    expect(body.items.map((one: { tool_id: string }) => one.tool_id).sort()).toEqual(
      Object.values(expected).sort(),
    )
  })

  test('has every tool by an asterisk, and those that come later', async () => {
    const { tool_count } = await create({ id: 'all', tools: ['*'] })
    expect(Object.values(await shown('all'))).toEqual(
      expect.arrayContaining(['github:search:1.2.0', 'jira:search:1.0.0']),
    )
    const later = await add('later', 'tool')
    expect(await shown('all')).toMatchObject({ later_tool: later })
    expect((await call('GET', '/v1/toolsets/all')).body.tool_count).toBe(tool_count + 1)
  })

  test('keeps ids of the tools it names, which a later tool with that name does not take over', async () => {
    await create({ id: 'named', tools: ['create_issue'] })
    expect((await call('GET', '/v1/toolsets/named')).body.tools).toEqual(['github:create_issue'])
    await add('another', 'create_issue')
    expect(await shown('named')).toEqual({ github_create_issue: 'github:create_issue:1.0.0' })
    await call('DELETE', '/v1/tools/another:create_issue')
  })

  test('warns of what it does not find, and has it as soon as it is there', async () => {
    const unknown = { tools: ['soon:there'], namespaces: ['none'], tags: ['none'], providers: ['none'] }
    const { warnings, tool_count } = await create({ id: 'soon', ...unknown })
    expect(tool_count).toBe(0)
    expect(warnings).toEqual([
      { path: 'namespaces.0', message: 'No tool is in the namespace "none" now.' },
      { path: 'tags.0', message: 'No tool has the tag "none" now.' },
      { path: 'providers.0', message: 'No tool needs the provider "none" now.' },
      { path: 'tools.0', message: 'No tool is called "soon:there" now.' },
    ])
    const there = await add('soon', 'there')
    expect(await shown('soon')).toEqual({ soon_there: there })
    expect((await call('GET', '/v1/toolsets/soon')).body.warnings).toHaveLength(3)
  })

  test('filters lists with the other filters, under the names of the project', async () => {
    await create({ id: 'bare', tags: ['code'], names: 'bare' })
    expect(await shown('bare')).toEqual({
      search: 'github:search:1.2.0',
      create_issue: 'github:create_issue:1.0.0',
    })
    const formatted = await call('GET', '/v1/formatted_tools?toolset=bare&q=issue&format=anthropic')
    expect(formatted.body.items).toMatchObject([{ name: 'github_create_issue' }])
    const none = await call('GET', '/v1/tools?toolset=bares')
    expect([none.status, none.body.message]).toEqual([
      404,
      'There is no toolset "bares" in this project. Did you mean "bare"?',
    ])
  })
})

describe('a bare name', () => {
  test('stays with its tool when tools come, go and get versions, and is given to no other', async () => {
    await create({ id: 'mail', namespaces: ['b', 'a', 'c'], names: 'bare' })
    const first = await add('b', 'send')
    expect(await shown('mail')).toEqual({ send: first })
    const second = await add('a', 'send')
    expect(await shown('mail')).toEqual({ send: first, a_send: second })
    const newer = await add('b', 'send', { version: '2.0.0' })
    expect(await shown('mail')).toEqual({ send: newer, a_send: second })
    for (const id of [first, newer]) await call('DELETE', `/v1/tools/${id}`)
    const third = await add('c', 'send')
    expect(await shown('mail')).toEqual({ a_send: second, c_send: third })
    const again = await add('b', 'send', { version: '3.0.0' })
    expect(await shown('mail')).toEqual({ send: again, a_send: second, c_send: third })
    await call('PATCH', '/v1/toolsets/mail', { namespaces: ['a'] })
    expect(await shown('mail')).toEqual({ a_send: second })
  })
})

describe('shown names', () => {
  test('are distinct, of 48 characters at most, and found in any case, also by the name of the other lists', async () => {
    const long = 'x'.repeat(60)
    await add('long', `${long}1`)
    await add('long', `${long}2`)
    await add('left', 'right_tool')
    await add('left_right', 'tool')
    await add('gatepass', 'connections')
    const { tools, find, listing } = await toolsAt(gatepass.broker, await projectId())
    const names = tools.map(({ name }) => name)
    expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(names.length)
    for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{1,48}$/)
    expect(names).not.toContain('gatepass_connections')
    expect(listing).toBe('all')
    const { body } = await call('GET', '/v1/formatted_tools?format=mcp&limit=100')
    for (const name of [...names, ...body.items.map((one: { name: string }) => one.name)]) {
      expect(find(name.toUpperCase())?.tool, name).toBe(find(name)?.tool)
      const { tool_id } = (await call('GET', `/v1/tools/${name}`)).body
      expect(find(name)?.tool.uid, name).toBeDefined()
      expect([tool_id, name]).toEqual([idOf(find(name)?.tool), name])
    }
    expect(find('left_right')).toBeUndefined()
  })

  test('are worked out once, until a tool, a provider or the toolset changes', async () => {
    await create({ id: 'kept', namespaces: ['github'] })
    const project = await projectId()
    const read = () => toolsAt(gatepass.broker, project, 'kept')
    const before = await read()
    expect(await read()).toBe(before)
    await call('PATCH', '/v1/toolsets/kept', { listing: 'all' })
    const after = await read()
    expect(after).not.toBe(before)
    expect(await read()).toBe(after)
    await add('github', 'added_meanwhile')
    const more = await read()
    expect(more.tools).toHaveLength(after.tools.length + 1)
    await call('PATCH', '/v1/admin/auth_providers/jira', { status: 'inactive' })
    expect(await read()).not.toBe(more)
  })
})

async function projectId(): Promise<string> {
  return (await gatepass.broker.store.projects.findByName('default'))?.id ?? ''
}

function idOf(tool: { namespace: string; name: string; version?: string | undefined } | undefined): string {
  return [tool?.namespace, tool?.name, tool?.version].join(':')
}

test.each([
  ['no selector', { id: 'x' }, 'A toolset selects tools by at least one of tools, namespaces'],
  ['only empty selectors', { id: 'x', tools: [], tags: null }, 'A toolset selects tools by at least one of'],
  ['an id with capitals', { id: 'Mail', tags: ['a'] }, 'id must have 1 to 64 lower-case letters'],
  ['an id that is too long', { id: 'x'.repeat(65), tags: ['a'] }, 'id must have 1 to 64'],
  [
    'a selector that does not exist',
    { id: 'x', tag: ['a'] },
    'tag is not a known member: did you mean tags?',
  ],
  ['a text for a list', { id: 'x', tags: 'a' }, 'tags must be an array'],
  ['an empty name', { id: 'x', tools: [''] }, 'tools.0 must not be empty'],
  ['a tag without a letter', { id: 'x', tags: ['ok', '!!'] }, 'tags.1 has no letter or digit.'],
  ['another naming', { id: 'x', tags: ['a'], names: 'short' }, 'names must be one of "prefixed", "bare"'],
  ['another listing', { id: 'x', tags: ['a'], listing: 'none' }, 'listing must be one of "all", "search"'],
  ['an escape sequence', { id: 'x', tags: ['a'], instructions: 'a\u001b[2J' }, 'has control characters'],
  [
    'a name of several tools',
    { id: 'x', tools: ['search'] },
    /tools\.0 may be any of (github:search:1\.2\.0, jira:search:1\.0\.0|jira:search:1\.0\.0, github:search:1\.2\.0): use one of these ids/,
  ],
])('refuses %s', async (_, body, message) => {
  const refused = await call('POST', '/v1/toolsets', body)
  expect([refused.status, refused.body.name]).toEqual([400, 'invalid_request'])
  expect(refused.body.message).toMatch(message)
})

test('refuses a second toolset of an id, a change that leaves no selector, and keys that may only read', async () => {
  await create({ id: 'one', tags: ['code'] })
  const again = await call('POST', '/v1/toolsets', { id: 'one', tags: ['other'] })
  expect([again.status, again.body.name]).toEqual([409, 'already_exists'])
  const emptied = await call('PATCH', '/v1/toolsets/one', { tags: [] })
  expect([emptied.status, emptied.body.name]).toEqual([400, 'invalid_request'])
  const key = await gatepass.makeKey('readonly')
  expect((await call('GET', '/v1/toolsets/one', undefined, { key })).body.tags).toEqual(['code'])
  for (const [method, path] of [
    ['POST', '/v1/toolsets'],
    ['PATCH', '/v1/toolsets/one'],
    ['DELETE', '/v1/toolsets/one'],
  ] as const) {
    const body = method === 'DELETE' ? undefined : { id: 'two', tags: ['code'] }
    expect((await call(method, path, body, { key: await gatepass.makeKey('caller') })).status).toBe(403)
    expect((await call(method, path, body, { key })).status).toBe(403)
  }
})

test('is another project’s own, and each change is on record', async () => {
  await create({ id: 'mine', tags: ['code'] })
  const key = await gatepass.makeKey('admin', 'another')
  expect((await call('GET', '/v1/toolsets', undefined, { key })).body.items).toEqual([])
  expect((await call('GET', '/v1/toolsets/mine', undefined, { key })).status).toBe(404)
  expect((await call('DELETE', '/v1/toolsets/mine', undefined, { key })).status).toBe(404)
  await call('PATCH', '/v1/toolsets/mine', { listing: 'all' })
  await call('DELETE', '/v1/toolsets/mine')
  const { body } = await call('GET', '/v1/admin/audit?limit=100')
  const actions = body.items.flatMap((one: { subject?: string; action: string }) =>
    one.subject === 'mine' ? [one.action] : [],
  )
  expect(actions.sort()).toEqual(['toolset.deleted', 'toolset.set', 'toolset.set'])
})
