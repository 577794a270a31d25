import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type FakeAuthorizationServer, startFakeAuthorizationServer } from '../fake-authorization-server.ts'
import { API_KEY } from '../served.ts'
import { until } from '../until.ts'
import { addProvider, approve, begin, codesSentTwice, connect, connectionOf, statusOf } from './clients.ts'
import { type DatabaseKind, type Installation, install, isStopped, type Node } from './installation.ts'
import type { KillPoint } from './kill-at.ts'

// R2, R4, P5: a process is suspended (SIGSTOP) after it has taken the lease on a refresh and before it sends the
// request, until another process has refreshed the same connection; likewise after it has claimed a code and before it
// sends the code. The provider revokes a grant whose refresh token is sent twice.

const CLAIMED: KillPoint = {
  when: 'after',
  statement: 'update "connections" set "lease_owner"',
  signal: 'SIGSTOP',
}
const LOOKED: KillPoint = {
  when: 'after',
  statement: '^select [^]*"lease_until"[^]*where[^]*"lease_owner" =',
  signal: 'SIGSTOP',
}
const CODE_CLAIMED: KillPoint = {
  when: 'after',
  statement: 'update "authorizations"[^]*exchanging',
  signal: 'SIGSTOP',
}
const DELETED: KillPoint = { when: 'after', statement: 'delete from "connections"', signal: 'SIGSTOP' }
/** Longer than a lease may be held before the request is sent. */
const TOO_LONG_MS = 13_000
const USERS = ['claimed', 'looked', 'own clock'] as const

export function standStill(kind: DatabaseKind): void {
  describe(`a suspended process, on ${kind}`, () => {
    let as: FakeAuthorizationServer
    let installation: Installation
    const ids = new Map<(typeof USERS)[number], string>()

    beforeAll(async () => {
      as = await startFakeAuthorizationServer({ refresh: 'rotate-strict', accessTokenLifetime: 1 })
      installation = await install(kind)
      for (let i = 0; i < 3; i++) await installation.start()
      await addProvider(installation, as)
      for (const user of USERS) ids.set(user, await connect(installation, user))
      await sleep(1_100)
      as.behaviour.accessTokenLifetime = 3600
    })

    afterAll(async () => {
      for (const { pid } of installation?.nodes ?? []) process.kill(pid, 'SIGCONT')
      await installation?.[Symbol.asyncDispose]()
      await as?.close()
    })

    const node = (i: number) => installation.nodes[i] as Node

    async function tokenAt({ url }: Node, user: (typeof USERS)[number]) {
      const response = await fetch(`${url}/v1/connections/${ids.get(user)}/token`, {
        method: 'POST',
        headers: { authorization: `Bearer ${API_KEY}`, connection: 'close' },
      })
      return { status: response.status, body: (await response.json()) as { access_token?: string } }
    }

    async function stoppedAt(point: KillPoint, stopped: Node, user: (typeof USERS)[number]) {
      await stopped.ask(point)
      const answer = tokenAt(stopped, user)
      answer.catch(() => {})
      await until(() => isStopped(stopped))
      return {
        async resume() {
          process.kill(stopped.pid, 'SIGCONT')
          return answer
        },
      }
    }

    /** Another process takes over and refreshes; the stopped one then sends nothing and returns the stored token. */
    async function expectOneRefresh(
      user: (typeof USERS)[number],
      resume: () => ReturnType<typeof tokenAt>,
    ): Promise<void> {
      const taken = await tokenAt(node(1), user)
      expect(taken.status, JSON.stringify(taken.body)).toBe(200)
      const late = await resume()
      expect(late).toMatchObject({ status: 200, body: { access_token: taken.body.access_token } })
      expect(as.refreshReuses).toEqual([])
      expect(as.isLive(taken.body.access_token ?? '')).toBe(true)
      const { body } = await installation.call('GET', `/v1/connections/${ids.get(user)}`)
      expect(body).toMatchObject({ status: 'active' })
    }

    test('after it has taken the lease, until another holds it: it sends nothing', async () => {
      const { resume } = await stoppedAt(CLAIMED, node(0), 'claimed')
      await installation.lapse()
      await expectOneRefresh('claimed', resume)
    })

    test('after it has read that it holds the lease: its own clock keeps it from sending', async () => {
      const { resume } = await stoppedAt(LOOKED, node(0), 'looked')
      await installation.lapse()
      await sleep(TOO_LONG_MS)
      await expectOneRefresh('looked', resume)
    })

    test('after its claim on a code, until its user has clicked again: it sends nothing, and the later grant stays valid', async () => {
      const flow = await begin(installation, 'clicks twice')
      const callback = new URL(await approve(flow))
      const codes = () => as.tokenRequests('authorization_code').length
      const before = codes()
      const stopped = node(0)
      await stopped.ask(CODE_CLAIMED)
      const cookies = Object.entries(flow.browser.cookies(callback)).map(
        ([name, value]) => `${name}=${value}`,
      )
      const late = flow.browser.get(`${stopped.url}${callback.pathname}${callback.search}`, {
        headers: { cookie: cookies.join('; ') },
      })
      late.catch(() => {})
      await until(() => isStopped(stopped))
      const readmit = installation.withdraw(stopped)
      await installation.lapse()
      await until(async () => (await statusOf(installation, flow.id)) === 'pending')
      await flow.browser.submitForm(await flow.browser.get(flow.url))
      expect(await statusOf(installation, flow.id)).toBe('completed')
      process.kill(stopped.pid, 'SIGCONT')
      await late.catch(() => {})
      readmit()
      expect(codes()).toBe(before + 1)
      expect(codesSentTwice(as)).toBe(0)
      const id = await connectionOf(installation, 'clicks twice')
      const { status, body } = await installation.call('POST', `/v1/connections/${id}/token`)
      expect(status, JSON.stringify(body)).toBe(200)
      expect(as.isLive(body.access_token)).toBe(true)
    })

    test('after a deletion, until its user has approved again: it revokes nothing', async () => {
      const id = await connect(installation, 'comes back')
      const stopped = node(0)
      await stopped.ask(DELETED)
      const late = fetch(`${stopped.url}/v1/connections/${id}`, {
        method: 'DELETE',
        headers: { authorization: `Bearer ${API_KEY}`, connection: 'close' },
      })
      late.catch(() => {})
      await until(() => isStopped(stopped))
      const readmit = installation.withdraw(stopped)
      const again = await connect(installation, 'comes back')
      expect(again).not.toBe(id)
      process.kill(stopped.pid, 'SIGCONT')
      expect(await (await late).json()).toEqual({ id, revocation: 'failed' })
      readmit()
      expect(as.requestsTo('/revoke')).toEqual([])
    })

    test('for too long, while the row still has its lease: it takes the lease again before it sends', async () => {
      const { resume } = await stoppedAt(CLAIMED, node(2), 'own clock')
      await installation.sql(
        `update connections set lease_until = lease_until + 600 where id = '${ids.get('own clock')}'`,
      )
      await sleep(TOO_LONG_MS)
      const before = as.tokenRequests('refresh_token').length
      expect(await resume()).toMatchObject({ status: 200 })
      expect(as.tokenRequests('refresh_token')).toHaveLength(before + 1)
      await expect.poll(() => node(2).log()).toContain('too late to be sent under its lease')
      expect(as.refreshReuses).toEqual([])
    })
  })
}
