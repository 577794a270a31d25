import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type FakeAuthorizationServer, startFakeAuthorizationServer } from '../fake-authorization-server.ts'
import { approve, authorize, begin, connect, importTool } from '../faults/clients.ts'
import { gate } from '../gate.ts'
import { API_KEY, serveProcess } from '../served.ts'
import { until } from '../until.ts'
import { isAlive, keptConnection, workersOf } from './process.ts'

// Real processes that get a signal to end while something is under way.

let as: FakeAuthorizationServer
beforeEach(async () => {
  as = await startFakeAuthorizationServer()
})
afterEach(() => as.close())

const KINDS = [
  ['one process', []],
  ['two processes', ['--processes', '2']],
] as const

describe.each(KINDS)('SIGTERM to %s', (_, args) => {
  test('while a code is redeemed, a token is refreshed and 200 wait: each gets its answer, and what was brought is stored', async () => {
    await using served = await serveProcess({ args })
    await importTool(served, as)
    as.behaviour.refresh = 'rotate-strict'
    as.behaviour.accessTokenLifetime = 1
    const id = await connect(served)
    await sleep(1_100)
    as.behaviour.accessTokenLifetime = 3600
    const answers = gate()
    as.behaviour.onRefresh = (moment) => (moment === 'carried out' ? answers.opened : undefined)
    as.behaviour.onExchange = () => answers.opened
    const { id: pending } = await begin(served, 'somebody who waits')
    const waiting = Array.from({ length: 200 }, () =>
      keptConnection(served).get(`/v1/auth/status?id=${pending}&wait=59`),
    )
    await until(async () => (await served.get('/metrics')).body.includes('\ngatepass_waiters 200\n'))
    const flow = await begin(served, 'somebody who consents')
    const callback = await approve(flow)
    const redeemed = as.tokenRequests('authorization_code').length
    const page = flow.browser.get(callback)
    const token = served.call('POST', `/v1/connections/${id}/token`)
    await until(() => as.tokenRequests('authorization_code').length === redeemed + 1)
    await until(() => as.tokenRequests('refresh_token').length === 1)
    served.child.kill('SIGTERM')

    // all who wait are answered at once with the current status, and the next request needs another connection
    for (const { status, connection, body } of await Promise.all(waiting)) {
      expect([status, connection]).toEqual([200, 'close'])
      expect(JSON.parse(body)).toMatchObject({ id: pending, status: 'pending' })
    }
    answers.open()
    const answer = await token
    expect(answer.status).toBe(200)
    expect(as.isLive(answer.body.access_token)).toBe(true)
    expect((await page).status).toBe(303)
    expect(await served.ended).toEqual({ code: 0, signal: null })

    const database = new Database(served.databasePath, { readonly: true })
    const one = (sql: string, ...values: string[]) => database.prepare(sql).get(...values)
    expect(one('select status from authorizations where id = ?', flow.id)).toEqual({ status: 'completed' })
    expect(one('select count(*) as count from connections')).toEqual({ count: 2 })
    // the rotated refresh token is stored
    expect(
      one('select generation, unanswered_refreshes as unanswered from connections where id = ?', id),
    ).toEqual({ generation: 2, unanswered: 0 })
    database.close()
    expect(as.tokenRequests('authorization_code')).toHaveLength(redeemed + 1)
  })

  test('a second time ends it at once', async () => {
    await using served = await serveProcess({ args })
    await importTool(served, as)
    const flow = await begin(served)
    const callback = await approve(flow)
    as.behaviour.onExchange = () => new Promise(() => {}) // without a second signal it would wait, and exit with 0
    const page = flow.browser.get(callback).catch(() => undefined)
    await until(() => as.tokenRequests('authorization_code').length === 1)
    served.child.kill('SIGTERM')
    await until(() => served.log().includes('"ending"'))
    served.child.kill('SIGTERM')
    expect(await served.ended).toEqual({ code: 1, signal: null })
    await page
    await until(() => [...workersOf(served).values()].every((pid) => !isAlive(pid)))
  })
})

describe('SIGTERM', () => {
  test('while a code is redeemed and its browser has gone: the connection is stored all the same', async () => {
    await using served = await serveProcess()
    await importTool(served, as)
    const flow = await begin(served)
    const callback = await approve(flow)
    const answers = gate()
    as.behaviour.onExchange = () => answers.opened
    const gone = new AbortController()
    const asked = fetch(callback, {
      signal: gone.signal,
      redirect: 'manual',
      headers: {
        cookie: Object.entries(flow.browser.cookies(callback))
          .map(([name, value]) => `${name}=${value}`)
          .join('; '),
      },
    }).catch(() => undefined)
    await until(() => as.tokenRequests('authorization_code').length === 1)
    gone.abort()
    await asked
    served.child.kill('SIGTERM')
    await until(() => served.log().includes('"ending"'))
    answers.open()

    expect(await served.ended).toEqual({ code: 0, signal: null })
    const database = new Database(served.databasePath, { readonly: true })
    expect(database.prepare('select count(*) from connections').pluck().get()).toBe(1)
    database.close()
  })

  test('while somebody reads events: the stream ends', async () => {
    await using served = await serveProcess()
    await importTool(served, as)
    const { id } = await begin(served)
    const response = await fetch(`${served.url}/v1/auth/${id}/events`, {
      headers: { authorization: `Bearer ${API_KEY}` },
    })
    const text = response.text()
    await until(async () => (await served.get('/metrics')).body.includes('\ngatepass_waiters 1\n'))
    served.child.kill('SIGTERM')
    expect(await text).toContain('"pending"')
    expect(await served.ended).toEqual({ code: 0, signal: null })
  })

  test('closes the connections that are kept, and nobody new comes in', async () => {
    await using served = await serveProcess()
    await importTool(served, as)
    const flow = await begin(served)
    const callback = await approve(flow)
    const { opened, open } = gate()
    as.behaviour.onExchange = () => opened
    const page = flow.browser.get(callback) // keeps it from ending
    await until(() => as.tokenRequests('authorization_code').length === 1)
    const kept = keptConnection(served)
    expect(await kept.get('/ready')).toMatchObject({ status: 200 })
    const last = kept.get(`/v1/auth/status?id=${flow.id}&wait=59`)
    await until(async () => (await served.get('/metrics')).body.includes('\ngatepass_waiters 1\n'))
    served.child.kill('SIGTERM')
    expect((await last).connection).toBe('close')
    await until(async () => (await authorize(served, 'eve').catch(() => undefined)) === undefined)
    open()
    expect((await page).status).toBe(303)
    expect(await served.ended).toEqual({ code: 0, signal: null })
  })
})
