import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { connect, type RawConnection, rawRequest } from '../../bench/raw-client.ts'
import { startFakeAuthorizationServer } from '../fake-authorization-server.ts'
import { oauth2For } from '../flows/fixtures.ts'
import { freePort } from '../gatepass.ts'
import { UserAgent } from '../user-agent.ts'
import { API_KEY, report, until } from './installation.ts'

// R24: nobody reads standard output and standard error of a server that logs every request.

const REQUESTS = 24_000
const CONNECTIONS = 8
const BINARY = fileURLToPath(new URL('../../bin/gatepass.js', import.meta.url))
const headers = { authorization: `Bearer ${API_KEY}` }

test('a log that nobody reads: the server goes on answering, and counts the lines that it drops', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'gatepass-log-stuck-'))
  const as = await startFakeAuthorizationServer()
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const child = spawn(process.execPath, [BINARY, 'serve', '--json'], {
    stdio: ['ignore', 'pipe', 'pipe'], // pipes that are never read
    env: {
      PATH: process.env.PATH,
      GATEPASS_PORT: String(port),
      GATEPASS_PUBLIC_URL: url,
      GATEPASS_DATABASE_URL: `file:${join(folder, 'gatepass.db')}`,
      GATEPASS_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
      GATEPASS_API_KEY: API_KEY,
      GATEPASS_USER_VERIFIER: 'open',
      GATEPASS_METRICS: 'open',
      GATEPASS_ALLOWED_HOSTS: '127.0.0.1',
      GATEPASS_LOG_LEVEL: 'debug',
    },
  })
  const exited = once(child, 'exit')
  try {
    await until(() =>
      fetch(`${url}/health`).then(
        ({ ok }) => ok,
        () => false,
      ),
    )
    const call = async (method: string, path: string, body?: object) => {
      const response = await fetch(`${url}${path}`, {
        method,
        headers: { ...headers, 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      })
      // biome-ignore lint/suspicious/noExplicitAny: a test looks into answers of every shape
      return { status: response.status, body: (await response.json()) as any }
    }
    const added = await call('POST', '/v1/admin/auth_providers', { id: 'demo', oauth2: oauth2For(as) })
    expect(added.status).toBe(201)

    const connections = await Promise.all(Array.from({ length: CONNECTIONS }, () => connect(port)))
    const before = await load(port, connections, 2_000)
    await load(port, connections, REQUESTS)
    const stuck = await load(port, connections, 2_000)
    for (const connection of connections) connection.close()

    const need = { auth_requirement: { id: 'demo', oauth2: { scopes: ['read'] } }, user_id: 'ada' }
    const browser = new UserAgent()
    await browser.submitForm(await browser.get((await call('POST', '/v1/auth/authorize', need)).body.url))
    expect(as.isLive((await call('POST', '/v1/auth/authorize', need)).body.context.token)).toBe(true)
    const metrics = await (await fetch(`${url}/metrics`)).text()
    const dropped = Number(/^gatepass_log_lines_dropped_total (\d+)/m.exec(metrics)?.[1])

    const begun = performance.now()
    child.kill('SIGTERM')
    const [code] = await exited
    report('log pipes that nobody reads', {
      'requests logged at debug': REQUESTS + 4_000,
      'answered otherwise than 200': before.wrong + stuck.wrong,
      'lines dropped': dropped,
      'ms p99 before': before.p99.toFixed(1),
      'ms p99 while stuck': stuck.p99.toFixed(1),
      'ms most while stuck': stuck.most.toFixed(0),
      'ms until it had ended': Math.round(performance.now() - begun),
      'exit code': String(code),
    })
    expect(before.wrong + stuck.wrong).toBe(0)
    expect(dropped).toBeGreaterThan(0)
    expect(stuck.most).toBeLessThan(2_000)
    expect(code).toBe(0)
  } finally {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
    await exited
    await as.close()
    await rm(folder, { recursive: true, force: true })
  }
}, 60_000)

async function load(port: number, connections: readonly RawConnection[], count: number) {
  const request = rawRequest(port, { method: 'GET', path: '/v1/tools', headers })
  const millis: number[] = []
  let wrong = 0
  await Promise.all(
    connections.map(async (connection) => {
      for (let i = 0; i < count / connections.length; i++) {
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
