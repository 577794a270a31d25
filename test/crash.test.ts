import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { systemClock } from '../src/domain/clock.ts'
import type { AnyJson } from './any-json.ts'
import { type FakeAuthorizationServer, startFakeAuthorizationServer } from './fake-authorization-server.ts'
import { toolMetadata } from './fixtures.ts'
import { type Gatepass, startGatepass } from './gatepass.ts'
import { freePort } from './ports.ts'
import { API_KEY, type Served, serveProcess } from './served.ts'
import { until } from './until.ts'
import { type Page, UserAgent } from './user-agent.ts'

// Real processes, killed with SIGKILL in the middle of a request; another server goes on with the same file and port.

/** Longer than any claim or lease of a dead process holds. */
const LAPSED_SECONDS = 40
const FOREVER_MS = 600_000
/** Sooner than a token request ends by its time limit (10 s), so that a process that was stopped goes on with it. */
const REQUEST_LIMIT_MS = 8_000

let as: FakeAuthorizationServer
let folder: string
let databasePath: string
let port: number
let url: string
let served: Served | undefined
let successor: Gatepass | undefined
/** What the processes that have ended had logged. */
let logged = ''

beforeEach(async () => {
  as = await startFakeAuthorizationServer()
  folder = await mkdtemp(join(tmpdir(), 'gatepass-crash-'))
  databasePath = join(folder, 'gatepass.db')
  port = await freePort()
  url = `http://127.0.0.1:${port}`
})

afterEach(async () => {
  await kill()
  await successor?.close()
  successor = undefined
  await expectNoSecretLeft()
  logged = ''
  await as.close()
  await rm(folder, { recursive: true, force: true })
})

/** `gatepass serve` in a process of its own, with a tool. */
async function startProcess(verifier = 'open'): Promise<void> {
  served = await serveProcess({
    port,
    database: `file:${databasePath}`,
    environment: { GATEPASS_USER_VERIFIER: verifier },
  })
  const { status } = await call('POST', '/v1/tools/import', toolMetadata(as))
  expect(status).toBe(200)
}

async function kill(): Promise<void> {
  await served?.kill()
  logged += served?.log() ?? ''
  served = undefined
}

/** Kills it, and starts the next one on the same file and port: in this process, since that one is not killed. */
async function restart({ now = systemClock, verifier = 'open' } = {}): Promise<void> {
  await kill()
  const environment = { GATEPASS_USER_VERIFIER: verifier }
  successor = await startGatepass({ databasePath, port, now, environment })
}

/** Restarts it when the claims and leases of the dead process have lapsed. */
async function restartLater(): Promise<void> {
  await restart({ now: () => systemClock() + LAPSED_SECONDS })
}

/** What is left behind by a process that was killed holds no more than what one leaves that ended well. */
async function expectNoSecretLeft(): Promise<void> {
  const names = await readdir(folder)
  const files = await Promise.all(
    names.map(async (name) => (await readFile(join(folder, name))).toString('latin1')),
  )
  const left = [logged, ...files].join('')
  expect([API_KEY, ...as.secrets()].filter((secret) => left.includes(secret))).toEqual([])
}

async function call(method: string, path: string, body?: object) {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  return { status: response.status, body: (await response.json()) as AnyJson }
}

interface Flow {
  readonly id: string
  readonly link: string
  readonly user: string
  readonly browser: UserAgent
}

const authorize = (user: string) =>
  call('POST', '/v1/auth/authorize', {
    auth_requirement: { id: 'demo', oauth2: { scopes: ['read'] } },
    user_id: user,
  })

async function begin(user = 'ada'): Promise<Flow> {
  const { body } = await authorize(user)
  expect(body).toMatchObject({ status: 'pending' })
  return { id: body.id, link: body.url, user, browser: new UserAgent() }
}

/** The user clicks and approves; the answer is the provider's redirect to the callback. */
async function approve({ browser, link }: Flow): Promise<string> {
  const page = await browser.submitForm(await browser.get(link), {}, { until: isCallback })
  return page.hops.at(-1)?.location ?? ''
}

const isCallback = ({ pathname }: URL) => pathname.startsWith('/callback/')

async function clickThrough({ browser, link }: Flow): Promise<Page> {
  return browser.submitForm(await browser.get(link))
}

const statusOf = async ({ id }: Flow): Promise<string> =>
  (await call('GET', `/v1/auth/status?id=${id}`)).body.status

async function expectCompleted(flow: Flow): Promise<void> {
  expect(await statusOf(flow)).toBe('completed')
  const { body } = await authorize(flow.user)
  expect(body).toMatchObject({ status: 'completed' })
  expect(as.isLive(body.context.token)).toBe(true)
}

function expectNoCodeSentTwice(): void {
  const codes = as.tokenRequests('authorization_code').map(({ params }) => params.code)
  expect(new Set(codes).size).toBe(codes.length)
  expect(as.familyRevoked).toBe(false)
}

test('killed while the code is redeemed: the code is not sent again, and the user may click once more', async () => {
  await startProcess()
  const flow = await begin()
  const callback = await approve(flow)
  as.behaviour.exchangeDelayMs = FOREVER_MS
  const broken = flow.browser.get(callback).catch((error: Error) => error)
  await until(() => as.tokenRequests('authorization_code').length === 1)
  await kill()
  expect(await broken).toBeInstanceOf(Error)
  as.behaviour.exchangeDelayMs = 0

  await restart()
  expect(await statusOf(flow)).toBe('pending')
  await flow.browser.follow(callback)
  expect(as.tokenRequests('authorization_code')).toHaveLength(1)
  await canClickAgain(flow)
  await flow.browser.follow(callback)
  expect(as.tokenRequests('authorization_code')).toHaveLength(1)
  expect((await clickThrough(flow)).status).toBe(200)
  await expectCompleted(flow)
  expectNoCodeSentTwice()
})

/** The page shows the button again when the next process knows that the process that redeemed the code is dead. */
async function canClickAgain({ browser, link }: Flow): Promise<void> {
  await until(async () => (await browser.get(link)).body.includes('<form'))
}

test('killed between the confirmation of the user and the redemption: the same address still finishes it', async () => {
  const verifier = 'https://app.example/verify'
  await startProcess(verifier)
  const flow = await begin()
  const atVerifier = await flow.browser.get(await approve(flow))
  const flow_id = new URL(atVerifier.response.headers.get('location') ?? '').searchParams.get('flow_id')
  const { body } = await call('POST', '/v1/auth/confirm_user', { flow_id, user_id: flow.user })
  await restart({ verifier })
  expect(await statusOf(flow)).toBe('pending')
  expect((await new UserAgent().get(body.next_uri)).status).toBe(403)
  expect((await flow.browser.follow(body.next_uri)).status).toBe(200)
  await expectCompleted(flow)
  expectNoCodeSentTwice()
})

test('stopped while the code is redeemed, and thought dead: what it brought is stored, and no code goes twice', async () => {
  await startProcess()
  // another process on the same file, whose clock is an ordinary one
  successor = await startGatepass({ databasePath, now: systemClock })
  const flow = await begin()
  const callback = await approve(flow)
  as.behaviour.exchangeDelayMs = 5_000
  const begunAt = performance.now()
  const returning = flow.browser.get(callback)
  await until(() => as.tokenRequests('authorization_code').length === 1)
  served?.child.kill('SIGSTOP')
  await canClickAgain({ ...flow, link: flow.link.replace(url, successor.url) })
  served?.child.kill('SIGCONT')
  const resumedMs = performance.now() - begunAt
  await returning
  // where the machine took longer, the request has ended by its time limit instead, and brought nothing
  if (resumedMs < REQUEST_LIMIT_MS) await expectCompleted(flow)
  expectNoCodeSentTwice()
})

test('killed right after it has completed: it stays completed and gives its token; links that were begun or clicked still work', async () => {
  await startProcess()
  const begun = await begin('who has not clicked')
  const clicked = await begin('who is at the provider')
  const answer = await approve(clicked)
  const flow = await begin()
  const callback = await approve(flow)
  await flow.browser.get(callback)
  await restart()
  await expectCompleted(flow)
  expect((await flow.browser.follow(callback)).status).toBe(200)
  expect(as.tokenRequests('authorization_code')).toHaveLength(1)

  for (const one of [begun, clicked]) expect(await statusOf(one)).toBe('pending')
  expect((await clickThrough(begun)).status).toBe(200)
  await expectCompleted(begun)
  expect((await clicked.browser.follow(answer)).status).toBe(200)
  await expectCompleted(clicked)
  expectNoCodeSentTwice()
})

test('killed with many on their way: each is pending or completed, and all can be finished', async () => {
  await startProcess()
  const flows = await Promise.all(Array.from({ length: 24 }, (_, i) => begin(`user ${i}`)))
  const callbacks = await Promise.all(flows.map(approve))
  const returning = flows.map(({ browser }, i) => browser.get(callbacks[i] ?? '').catch(() => undefined))
  await until(() => as.tokenRequests('authorization_code').length >= 12)
  await kill()
  await Promise.all(returning)

  await restartLater()
  const statuses = await Promise.all(flows.map(statusOf))
  expect(['pending', 'completed']).toEqual(expect.arrayContaining(statuses))
  for (const [i, flow] of flows.entries()) {
    if (statuses[i] === 'pending') expect((await clickThrough(flow)).status).toBe(200)
    await expectCompleted(flow)
  }
  expectNoCodeSentTwice()
})

test.each(['static', 'rotate-grace', 'rotate', 'rotate-strict'] as const)(
  'killed during a refresh at a server whose refresh tokens are %s',
  async (mode) => {
    await startProcess()
    as.behaviour.refresh = mode
    as.behaviour.accessTokenLifetime = 1
    const flow = await begin()
    await clickThrough(flow)
    const { body } = await call('GET', '/v1/connections?user_id=ada')
    const { id } = body.items[0]
    const token = () => call('POST', `/v1/connections/${id}/token`)

    as.behaviour.refreshDelayMs = FOREVER_MS
    const fetching = (async () => {
      for (;;) if (!(await token().catch(() => undefined))) return // until it dies
    })()
    await until(() => as.tokenRequests('refresh_token').length === 1)
    await kill()
    await fetching
    as.behaviour.refreshDelayMs = 0
    as.behaviour.accessTokenLifetime = 3600

    await restartLater()
    expect(await statusOf(flow)).toBe('completed')
    const [first, second] = [await token(), await token()]
    if (mode === 'static' || mode === 'rotate-grace') {
      expect(first.status).toBe(200)
      expect(as.isLive(first.body.access_token)).toBe(true)
      expect(second.body).toEqual(first.body)
    } else {
      // its answer, with the only valid refresh token, died with the process
      for (const one of [first, second])
        expect(one).toMatchObject({ status: 403, body: { name: 'authorization_required' } })
      const again = await begin()
      await clickThrough(again)
      expect(as.isLive((await token()).body.access_token)).toBe(true)
    }
    expect(as.tokenRequests('refresh_token')).toHaveLength(2)
  },
)
