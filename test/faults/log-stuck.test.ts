import { expect, test } from 'vitest'
import { connect, type RawConnection, rawRequest } from '../../bench/raw-client.ts'
import { startFakeAuthorizationServer } from '../fake-authorization-server.ts'
import { oauth2For } from '../flows/fixtures.ts'
import { API_KEY, serveProcess } from '../served.ts'
import { UserAgent } from '../user-agent.ts'
import { report } from './installation.ts'

// R24: a server that logs every request, and whose standard output and standard error are not read.

const REQUESTS_AT_ONCE = 2_000
const CONNECTIONS = 8
/** The limit for one answer. A server that waited for its log would never answer, so slow machines get much time. */
const MOST_MS = 300_000
/** Each request logs a line with its id: the longest possible id fills the pipe and the buffer soonest. */
const headers = { authorization: `Bearer ${API_KEY}`, 'x-request-id': 'x'.repeat(64) }

test('a server whose log is not read still answers, and counts the lines that it drops', async () => {
  await using as = await startFakeAuthorizationServer()
  await using served = await serveProcess({
    args: ['--json'],
    isUnread: true,
    environment: { GATEPASS_LOG_LEVEL: 'debug' },
  })
  const { port, call } = served
  const droppedLines = async () => {
    const { body } = await served.get('/metrics')
    return Number(/^gatepass_log_lines_dropped_total (\d+)/m.exec(body)?.[1] ?? 0)
  }
  const added = await call('POST', '/v1/admin/auth_providers', { id: 'demo', oauth2: oauth2For(as) })
  expect(added.status).toBe(201)

  const connections = await Promise.all(Array.from({ length: CONNECTIONS }, () => connect(port)))
  const before = await load(port, connections)
  let requests = 2 * REQUESTS_AT_ONCE
  for (; (await droppedLines()) === 0; requests += REQUESTS_AT_ONCE) await load(port, connections)
  const stuck = await load(port, connections)
  for (const connection of connections) connection.close()

  const need = { auth_requirement: { id: 'demo', oauth2: { scopes: ['read'] } }, user_id: 'ada' }
  const browser = new UserAgent()
  await browser.submitForm(await browser.get((await call('POST', '/v1/auth/authorize', need)).body.url))
  expect(as.isLive((await call('POST', '/v1/auth/authorize', need)).body.context.token)).toBe(true)
  const dropped = await droppedLines()

  const begun = performance.now()
  const code = await served.stop()
  report('log pipes that no program reads', {
    'requests logged at debug': requests,
    'answered otherwise than 200': before.wrong + stuck.wrong,
    'lines dropped': dropped,
    'ms p99 before': before.p99.toFixed(1),
    'ms p99 while stuck': stuck.p99.toFixed(1),
    'ms most while stuck': stuck.most.toFixed(0),
    'ms until it had ended': Math.round(performance.now() - begun),
    'exit code': String(code),
  })
  expect(before.wrong + stuck.wrong).toBe(0)
  expect(dropped).toBeGreaterThanOrEqual(REQUESTS_AT_ONCE)
  expect(stuck.most).toBeLessThan(MOST_MS)
  expect(code).toBe(0)
})

async function load(port: number, connections: readonly RawConnection[]) {
  const request = rawRequest(port, { method: 'GET', path: '/v1/tools', headers })
  const millis: number[] = []
  let wrong = 0
  await Promise.all(
    connections.map(async (connection) => {
      for (let i = 0; i < REQUESTS_AT_ONCE / connections.length; i++) {
        const begun = performance.now()
        const { status } = await connection.send(request)
        millis.push(performance.now() - begun)
        if (status !== 200) wrong++
      }
    }),
  )
  millis.sort((a, b) => a - b)
  return { wrong, p99: millis[Math.floor(millis.length * 0.99)] ?? 0, most: millis.at(-1) ?? 0 }
}
