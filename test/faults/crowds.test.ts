import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { connect, connectMany, type RawConnection, rawRequest } from '../../bench/raw-client.ts'
import { openSqliteStore } from '../../src/store/dialects/sqlite/open.ts'
import { startFakeAuthorizationServer } from '../fake-authorization-server.ts'
import { API_KEY } from '../served.ts'
import { until } from '../until.ts'
import { addProvider, approve, begin } from './clients.ts'
import { install, report } from './installation.ts'
import { repetitions } from './repetitions.ts'

// P8: many long polls, and many authorizations that are never finished, at one `gatepass serve` with one API key.

const WAITERS = repetitions({ few: 2_000, many: 5_000 })
/** The waiters are divided equally among these. */
const AUTHORIZATIONS = 10
/** It takes one second where nothing else runs (docs/evidence/reliability.md), and longer on a busy machine. */
const WOKEN_MS = 300_000
const FLOWS = repetitions({ few: 1_000, many: 10_000 })
const BEYOND = 50
const LANES = 32
const KEPT_SECONDS = 7 * 24 * 3600

const headers = { authorization: `Bearer ${API_KEY}` }

test(`${WAITERS} long polls at once are all answered when their authorizations complete`, async () => {
  const as = await startFakeAuthorizationServer()
  try {
    await using installation = await install('SQLite')
    const node = await installation.start()
    const port = Number(new URL(node.url).port)
    await addProvider(installation, as)
    const flows = await Promise.all(
      Array.from({ length: AUTHORIZATIONS }, (_, i) => begin(installation, `user-${i}`)),
    )
    const callbacks = await Promise.all(flows.map(approve))
    const before = rssBytes(node.pid)

    const connections = await connectMany(port, WAITERS)
    const waiting = connections.map(async (connection, i) => {
      const flow = i % AUTHORIZATIONS
      const path = `/v1/auth/status?id=${flows[flow]?.id}&wait=59`
      const { status, body } = await connection.send(rawRequest(port, { method: 'GET', path, headers }))
      return { flow, at: performance.now(), isWoken: status === 200 && body.includes('"completed"') }
    })
    await until(async () => (await gauge(node.url, 'gatepass_waiters')) === WAITERS)
    await sleep(500)
    const held = rssBytes(node.pid)

    const completedAt = await Promise.all(
      flows.map(async ({ browser }, i) => {
        const page = await browser.get(callbacks[i] ?? '')
        expect(page.status).toBe(303)
        return performance.now()
      }),
    )
    const woken = await Promise.all(waiting)
    for (const connection of connections) connection.close()
    const millis = woken
      .map(({ flow, at }) => Math.max(0, at - (completedAt[flow] ?? 0)))
      .sort((a, b) => a - b)
    await until(async () => (await gauge(node.url, 'gatepass_waiters')) === 0)
    report('long polls held at once', {
      held: WAITERS,
      'woken with the completion': woken.filter(({ isWoken }) => isWoken).length,
      'ms p50 after the callback was answered': (millis[WAITERS / 2] ?? 0).toFixed(0),
      'ms until the last': (millis.at(-1) ?? 0).toFixed(0),
      'kB of memory per waiter, its connection included': ((held - before) / WAITERS / 1024).toFixed(1),
      'MB of the process then': (held / 2 ** 20).toFixed(0),
    })
    expect(woken.every(({ isWoken }) => isWoken)).toBe(true)
    expect(millis.at(-1)).toBeLessThan(WOKEN_MS)
    // the connection, its request and its waiter
    expect((held - before) / WAITERS).toBeLessThan(64 * 1024)
  } finally {
    await as.close()
  }
})

test(`${FLOWS} pending authorizations: each has a status, more are refused with Retry-After, a sweep removes them`, async () => {
  const as = await startFakeAuthorizationServer()
  try {
    await using installation = await install('SQLite', { GATEPASS_MAX_PENDING: String(FLOWS) })
    const node = await installation.start()
    const port = Number(new URL(node.url).port)
    await addProvider(installation, as)
    const before = rssBytes(node.pid)
    const lanes = await connectMany(port, LANES)

    const begunAt = performance.now()
    const ids = await inLanes(lanes, FLOWS, async (lane, i) => {
      const { status, body } = await lane.send(beginRequest(port, `user-${i}`))
      expect(status).toBe(200)
      return JSON.parse(body.toString()).id as string
    })
    const beginSeconds = (performance.now() - begunAt) / 1000
    expect(new Set(ids).size).toBe(FLOWS)

    const beyond = await inLanes(lanes, BEYOND, (lane, i) => lane.send(beginRequest(port, `beyond-${i}`)))
    const refused = beyond.filter(({ status, head, body }) => {
      const refusal = JSON.parse(body.toString())
      return status === 429 && refusal.name === 'too_many_pending' && /\r\nretry-after: [1-9]/i.test(head)
    })
    // a user who has a pending authorization gets the same one
    const [lane] = lanes as [RawConnection]
    const again = await lane.send(beginRequest(port, 'user-7'))
    expect([again.status, JSON.parse(again.body.toString()).id]).toEqual([200, ids[7]])

    const askedAt = performance.now()
    const statuses = await inLanes(lanes, FLOWS, async (lane, i) => {
      const path = `/v1/auth/status?id=${ids[i]}`
      const { body } = await lane.send(rawRequest(port, { method: 'GET', path, headers }))
      return JSON.parse(body.toString()).status as string
    })
    const askSeconds = (performance.now() - askedAt) / 1000
    const after = rssBytes(node.pid)

    // eight days later
    await installation.sql(`update authorizations set expires_at = expires_at - ${KEPT_SECONDS + 86_400}`)
    const store = openSqliteStore(installation.database.slice('file:'.length))
    const sweptAt = performance.now()
    const swept = await store.authorizations.sweep(Math.floor(Date.now() / 1000) - KEPT_SECONDS)
    const sweepMs = performance.now() - sweptAt
    await store.close()
    await until(async () => (await lane.send(beginRequest(port, 'afterwards'))).status === 200)
    for (const one of lanes) one.close()

    report('pending flows of one API key', {
      begun: ids.length,
      'a second': Math.round(FLOWS / beginSeconds),
      'answered pending afterwards': statuses.filter((status) => status === 'pending').length,
      'statuses a second': Math.round(FLOWS / askSeconds),
      [`of ${BEYOND} beyond the limit refused with 429 and Retry-After`]: refused.length,
      'MB that the process grew by': ((after - before) / 2 ** 20).toFixed(0),
      'removed by a sweep': swept,
      'ms for that': Math.round(sweepMs),
    })
    expect(statuses.filter((status) => status !== 'pending')).toEqual([])
    expect(refused).toHaveLength(BEYOND)
    expect(swept).toBe(FLOWS)
  } finally {
    await as.close()
  }
})

test('a key that exceeds its rate limit gets 429 with Retry-After, and readiness is still answered', async () => {
  await using installation = await install('SQLite', { GATEPASS_RATE_LIMIT: '5' })
  const node = await installation.start()
  const port = Number(new URL(node.url).port)
  const one = await connect(port)
  const request = rawRequest(port, { method: 'GET', path: '/v1/tools', headers })
  const answers = []
  for (let i = 0; i < 200; i++) answers.push(await one.send(request))
  one.close()
  const limited = answers.filter(({ status }) => status === 429)
  report('requests of one key above its limit of 5 a second', {
    sent: answers.length,
    'answered 200': answers.filter(({ status }) => status === 200).length,
    'answered 429 with Retry-After': limited.length,
  })
  expect(limited.length).toBeGreaterThan(0)
  for (const { head } of limited) expect(head).toMatch(/\r\nretry-after: [1-9]/i)
  expect((await fetch(`${node.url}/ready`)).status).toBe(200)
})

function beginRequest(port: number, user: string): Buffer {
  const body = { auth_requirement: { id: 'demo', oauth2: { scopes: ['read'] } }, user_id: user }
  return rawRequest(port, { method: 'POST', path: '/v1/auth/authorize', headers, body })
}

async function inLanes<T>(
  lanes: readonly RawConnection[],
  count: number,
  run: (lane: RawConnection, i: number) => Promise<T>,
): Promise<T[]> {
  const results: T[] = []
  let next = 0
  await Promise.all(
    lanes.map(async (lane) => {
      while (next < count) {
        const i = next++
        results[i] = await run(lane, i)
      }
    }),
  )
  return results
}

async function gauge(url: string, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return Number(new RegExp(`^${name} (\\S+)`, 'm').exec(text)?.[1])
}

function rssBytes(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024
}
