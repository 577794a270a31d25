import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { propertyRuns } from '../property-runs.ts'
import { createGenerator, randomFrom } from './hot-fetch/generate.ts'
import type { RawExchange } from './hot-fetch/raw-exchange.ts'
import { startTwins, type Twins } from './hot-fetch/twins.ts'

// The hot fetch (src/http/hot-fetch/) answers as the usual route: each request goes to a server that has it and to one
// that has not, on copies of one database. TEST_SEED chooses other requests.

const SEED = Number(process.env.TEST_SEED ?? 1)
const REQUESTS = propertyRuns({ rare: 30 })

let twins: Twins
beforeAll(async () => {
  twins = await startTwins()
})
afterAll(async () => {
  await twins[Symbol.asyncDispose]()
})

/** Changes of the state that come between the requests. */
const CHANGES: readonly ((twins: Twins) => Promise<void> | void)[] = [
  ({ advance }) => advance(30),
  ({ advance }) => advance(3_600), // tokens expire
  ({ advance }) => advance(60),
  ({ change }) =>
    change('POST', '/v1/admin/policies', { id: 'no-bob', effect: 'deny', match: { users: ['bob'] } }),
  ({ change }) => change('DELETE', '/v1/admin/policies/no-bob'),
  ({ change }) => change('PATCH', '/v1/admin/auth_providers/demo', { status: 'inactive' }),
  ({ change }) => change('PATCH', '/v1/admin/auth_providers/demo', { status: 'active' }),
]

test('refuses a key that sends too many requests, and counts it once', async () => {
  const { limitedKey: key, connections } = twins.known
  const head = `POST /v1/connections/${connections[0]}/token HTTP/1.1\r\nhost: a\r\nauthorization: ${key}\r\n\r\n`
  const time = vi.spyOn(performance, 'now').mockReturnValue(performance.now())
  const statuses: string[] = []
  for (let i = 0; i < 4; i++) {
    const request = { pieces: [Buffer.from(head)], answers: 1 }
    for (const { status } of await twins.compare(request, `request ${i}`)) statuses.push(status)
  }
  time.mockRestore()
  expect(statuses.map((status) => status.split(' ')[1])).toEqual(['200', '200', '429', '429'])
  await twins.compareTraces()
})

test('answers requests that arrive in one packet in their order', async () => {
  const key = twins.known.keys[0] ?? ''
  const ask = (user: string, more = '') => {
    const body = JSON.stringify({ auth_requirement: { id: 'demo' }, user_id: user })
    return `POST /v1/auth/authorize HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${key}\r\n${more}content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  }
  const users = ['ada', 'dan', 'ada', 'rob', 'bob', 'duo']
  const bytes = Buffer.from(
    users.map((user, i) => ask(user, i % 2 === 0 ? '' : 'x-stainless-lang: js\r\n')).join(''),
  )
  const request: RawExchange = { pieces: [bytes], answers: users.length }
  const answers = await twins.compare(request, 'pipelined')
  expect(answers.map(({ body }) => /"user_id":"(\w+)"|policy/.exec(body)?.[1] ?? 'refused')).toEqual(
    users.map((user) => (user === 'rob' ? 'refused' : user)),
  )
  // the first and the last byte of a body, and the border of head and body, are borders of packets
  const one = Buffer.from(ask('ada'))
  const border = one.indexOf('\r\n\r\n') + 4
  for (const at of [1, border - 2, border, border + 1, one.length - 1])
    await twins.compare({ pieces: [one.subarray(0, at), one.subarray(at)], answers: 1 }, `cut at ${at}`)
})

test(`answers as the usual route does, and leaves the same traces (seed ${SEED})`, async () => {
  const random = randomFrom(SEED)
  const next = createGenerator(random, twins.known)
  const answered = new Map<string, number>()
  for (let i = 0; i < REQUESTS; i++) {
    if (i % 100 === 99) await twins.runJobs()
    if (i % 100 === 99) await CHANGES[Math.floor(i / 100) % CHANGES.length]?.(twins)
    const request = next()
    const bytes = Buffer.concat(request.pieces).toString('latin1')
    const what = `seed ${SEED}, request ${i}, in ${request.pieces.length} pieces: ${bytes}`
    for (const { status } of await twins.compare(request, what))
      answered.set(status, (answered.get(status) ?? 0) + 1)
  }
  await twins.compareTraces()
  // the requests are of all kinds
  const kinds = ['200 OK', '400 Bad Request', '401 Unauthorized', '403 Forbidden', '404 Not Found']
  for (const kind of kinds) expect([...answered.keys()].join(), kind).toContain(kind)
  expect(answered.get('HTTP/1.1 200 OK')).toBeGreaterThan(REQUESTS / 10)
})
