import { afterAll, beforeAll, expect, test } from 'vitest'
import type { SimulatedRequest } from '../../../src/dev-provider/simulator/definition.ts'
import { SimulatedService } from '../../../src/features/packs/simulated-service.ts'
import { shippedPack } from '../../../src/features/packs/wire-library.ts'
import { runHere } from '../../cli/gatepass.ts'
import { startGatepass } from '../../gatepass.ts'
import { defined } from '../../store/fixtures.ts'
import { type PacksWorld, startPacksWorld } from './simulated-world.ts'

let world: PacksWorld
beforeAll(async () => {
  world = await startPacksWorld(['gmail', 'notion', 'trello'])
})
afterAll(() => world[Symbol.asyncDispose]())

const gmail = await SimulatedService.of(defined(shippedPack('gmail')))
const messages = (more: Partial<SimulatedRequest> = {}): SimulatedRequest => ({
  method: 'GET',
  url: new URL('https://gmail.googleapis.com/gmail/v1/users/me/messages?q=hello&maxResults=10'),
  headers: { accept: 'application/json, text/*;q=0.8, */*;q=0.1' },
  body: '',
  ...more,
})
const READ = 'https://www.googleapis.com/auth/gmail.readonly'
const errorOf = (body: string | undefined) => JSON.parse(body ?? '{}').error

test('a request without a valid token is refused with 401, one whose token lacks the scope with 403', () => {
  const withoutToken = gmail.answer(messages(), () => undefined)
  expect([withoutToken?.status, errorOf(withoutToken?.body).message]).toEqual([
    401,
    'The access token is missing, unknown or expired.',
  ])
  const otherScope = gmail.answer(messages(), () => ['https://www.googleapis.com/auth/gmail.send'])
  expect([otherScope?.status, errorOf(otherScope?.body)]).toEqual([
    403,
    { errors: [{ reason: 'forbidden' }], message: `The access token lacks a scope: ${READ}.` },
  ])
  expect(gmail.answer(messages(), () => [READ])?.status).toBe(200)
})

test.each<[string, Partial<SimulatedRequest>]>([
  ['another method', { method: 'PUT' }],
  ['another path', { url: new URL('https://gmail.googleapis.com/gmail/v1/users/me/messagez') }],
  ['another host', { url: new URL('https://www.googleapis.com/gmail/v1/users/me/messages') }],
  ['an unknown parameter', { url: new URL('https://gmail.googleapis.com/gmail/v1/users/me/messages?x=1') }],
  ['a body', { body: '{}' }],
])('%s fits no tool', (_, more) => {
  expect(gmail.answer(messages(more), () => 'all')).toBeUndefined()
})

test('a member of the body, or a GraphQL document, that no tool sends fits none', async () => {
  const linear = await SimulatedService.of(defined(shippedPack('linear')))
  const url = new URL('https://api.linear.app/graphql')
  const { headers } = messages()
  const query = 'query { secrets { id } }'
  const sent = { method: 'POST', url, headers, body: JSON.stringify({ query, variables: {} }) }
  expect(linear.answer(sent, () => 'all')).toBeUndefined()
  const unknown = linear.unknown(sent)
  expect([unknown.status, unknown.body]).toEqual([404, expect.stringContaining('CreateIssue: POST /graphql')])
})

test('a list ends after its second page, and an answer has the id that was asked for', async () => {
  const call = async (tool: string, input: object) => {
    const run = () => world.call('POST', '/v1/tools/execute', { tool_name: tool, user_id: 'eve', input })
    const { body } = await run()
    const need = body.output.requires_authorization
    if (need === undefined) return body.output.value
    await world.consent(need.url)
    return (await run()).body.output.value
  }
  const first = await call('Gmail_SearchMessages', { query: 'from:ada@example.com', limit: 2 })
  expect(first.next_page).toMatch(/./)
  const second = await call('Gmail_SearchMessages', {
    query: 'from:ada@example.com',
    limit: 2,
    page: first.next_page,
  })
  expect(second.messages).toHaveLength(2)
  expect(second.next_page).toBeUndefined()
  expect((await call('Gmail_GetMessage', { message_id: '19ab90c2e1f45d33' })).id).toBe('19ab90c2e1f45d33')
})

test('a tool that names a version of the API is called with it, and not with that of the provider', async () => {
  const input = { query: 'launch' }
  const run = () =>
    world.call('POST', '/v1/tools/execute', { tool_name: 'Notion_Search', user_id: 'eve', input })
  await world.consent((await run()).body.output.requires_authorization.url)
  expect((await run()).body).toMatchObject({ success: true })
  expect(world.served.at(-1)?.request.headers['notion-version']).toBe('2025-09-03')
})

test('users of one provider have tokens of their own', async () => {
  const run = (user_id: string) =>
    world.call('POST', '/v1/tools/execute', { tool_name: 'Gmail_GetProfile', user_id, input: {} })
  for (const user of ['ada', 'bob']) {
    await world.consent((await run(user)).body.output.requires_authorization.url)
    expect((await run(user)).body.success).toBe(true)
  }
  expect((await run('ada')).body.success).toBe(true)
  const [one, other] = world.served.slice(-2).map(({ request }) => request.headers.authorization)
  expect(one).not.toBe(other)
})

test('a server that is not simulated has no page of a simulated provider', async () => {
  for (const mode of ['serve', 'development'] as const) {
    await using gatepass = await startGatepass({ mode })
    expect((await gatepass.call('GET', '/sandbox/simulated/google')).status).toBe(404)
  }
  const page = await fetch(new URL('/sandbox/simulated/google?scope=a', world.url))
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<code>a</code>')])
})

test('packs try shows each step, and the value that the tool returns', async () => {
  const tried = await runHere({}, 'packs', 'try', 'slack', '--tool', 'SendMessage')
  expect(tried).toMatchObject({ code: 0, stderr: '' })
  const steps = [...tried.stdout.matchAll(/^(\w[\w ]*?) {2,}(.*)$/gm)].map(([, step]) => step)
  expect(steps).toEqual([
    ...['call', 'consent', 'token', 'approval', 'approved', 'call again', 'request', 'response', 'answer'],
  ])
  expect(tried.stdout).toContain('POST https://slack.com/api/chat.postMessage')
  expect(tried.stdout).not.toMatch(/simulated-access|Bearer/)
  for (const line of tried.stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(100)
})

test('packs try takes a tool and an input, and prints JSON', async () => {
  const input = { card_id: 'abcdefgh' }
  const args = ['--tool', 'GetCard', '--input', JSON.stringify(input), '--json']
  const tried = await runHere({}, 'packs', 'try', 'trello', ...args)
  expect(tried).toMatchObject({ code: 0, stderr: '' })
  expect(JSON.parse(tried.stdout)).toMatchObject({
    pack: 'trello',
    tool: 'GetCard',
    input,
    value: { id: 'abcdefgh' },
  })
  const wrong = await runHere({}, 'packs', 'try', 'trello', '--tool', 'GetCards')
  expect([wrong.code, wrong.stderr]).toEqual([3, expect.stringContaining('"GetCard"')])
  const invalid = await runHere({}, 'packs', 'try', 'trello', '--input', '[1]')
  expect([invalid.code, invalid.stderr]).toEqual([
    2,
    expect.stringContaining('--input must be a JSON object'),
  ])
  const unknown = await runHere({}, 'packs', 'try', 'gmial')
  expect([unknown.code, unknown.stderr]).toEqual([3, expect.stringContaining('"gmail"')])
})
