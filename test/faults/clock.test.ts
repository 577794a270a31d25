import { expect, test } from 'vitest'
import { refreshDue } from '../../src/flows/refresh/refresh-due.ts'
import { startFakeAuthorizationServer } from '../fake-authorization-server.ts'
import { startFakeWorker } from '../fake-worker.ts'
import { addProvider, approve, authorize, click } from '../flows/fixtures.ts'
import { gate } from '../gate.ts'
import { type Gatepass, startGatepass, testClock } from '../gatepass.ts'
import { freshDatabase } from '../postgres.ts'
import { report } from './installation.ts'
import { repetitions } from './repetitions.ts'

// R10, R21: nodes whose clocks are twenty minutes apart on one PostgreSQL, and clocks that jump. The authorization
// server's clock is the true one.

const APART_SECONDS = 600

/** Two nodes, one ten minutes behind and one ten minutes ahead of the true time. */
async function startApart(life: number) {
  const database = await freshDatabase()
  const clock = testClock()
  const as = await startFakeAuthorizationServer({
    refresh: 'rotate-strict',
    accessTokenLifetime: life,
    now: () => clock() * 1000,
  })
  const environment = { GATEPASS_DATABASE_URL: database.url }
  const behind = await startGatepass({ environment, now: () => clock() - APART_SECONDS })
  const ahead = await startGatepass({ environment, now: () => clock() + APART_SECONDS })
  await addProvider(behind, as)
  return {
    clock,
    as,
    behind,
    ahead,
    async [Symbol.asyncDispose]() {
      await Promise.all([behind.close(), ahead.close()])
      await as.close()
      await database[Symbol.asyncDispose]()
    },
  }
}

async function connect(gatepass: Gatepass, user: string): Promise<void> {
  await click((await authorize(gatepass, { user_id: user })).body.url)
}

async function tokenOf(gatepass: Gatepass, user: string): Promise<string> {
  const { status, body } = await authorize(gatepass, { user_id: user })
  expect(status, JSON.stringify(body)).toBe(200)
  expect(body.context?.token, JSON.stringify(body)).toBeDefined()
  return body.context.token
}

test.each(['behind', 'ahead'] as const)(
  'the lease on a refresh that the node %s has begun is timed by the clock of the database',
  async (first) => {
    await using world = await startApart(3600)
    const { clock, as } = world
    await connect(world[first], 'ada')
    clock.advance(3600 + 2 * APART_SECONDS)
    as.behaviour.refreshDelayMs = 1_500
    const second = first === 'behind' ? 'ahead' : 'behind'
    const begun = tokenOf(world[first], 'ada')
    await expect.poll(() => as.tokenRequests('refresh_token').length).toBe(1)
    const others = await Promise.all(Array.from({ length: 10 }, () => tokenOf(world[second], 'ada')))
    as.behaviour.refreshDelayMs = 0
    expect(new Set([await begun, ...others]).size).toBeLessThanOrEqual(2) // the second node may have refreshed it again
    expect(as.refreshReuses).toEqual([])
    expect(as.familyRevoked).toBe(false)
  },
)

test.each([30, 300, 3600])(
  'nodes twenty minutes apart, tokens of %i s: no refresh token is used twice, and no expired token is given',
  async (life) => {
    await using world = await startApart(life)
    const { clock, as, behind, ahead } = world
    for (const [i, node] of [behind, ahead].entries()) await connect(node, `user-${i}`)
    let given = 0
    let dead = 0
    const steps = repetitions({ few: 10, many: 24 })
    for (let step = 0; step < steps; step++) {
      clock.advance(Math.ceil(life / 5))
      for (const user of ['user-0', 'user-1']) {
        const nodes = step % 2 === 0 ? [behind, ahead] : [ahead, behind]
        for (const node of nodes) {
          const token = await tokenOf(node, user)
          given++
          if (!as.isLive(token)) dead++
        }
        const together = await Promise.all([behind, ahead, behind, ahead].map((node) => tokenOf(node, user)))
        given += together.length
        dead += together.filter((token) => !as.isLive(token)).length
      }
    }
    const refreshes = as.tokenRequests('refresh_token').length
    report(`clocks 20 minutes apart, tokens of ${life} s`, {
      'tokens given': given,
      'of them run out': dead,
      refreshes,
      'lives that have passed': (2 * steps) / 5,
      'used refresh tokens sent again': as.refreshReuses.length,
    })
    expect(dead).toBe(0)
    expect(as.refreshReuses).toEqual([])
    expect(as.familyRevoked).toBe(false)
    // tokens that live shorter than the clocks differ have expired for one of the nodes: at most one refresh a request
    expect(refreshes).toBeLessThanOrEqual(life > 2 * APART_SECONDS ? steps * 2 : given)
  },
)

test('a clock that jumps back and forth: each jump causes at most one refresh', async () => {
  const truth = testClock()
  let off = 0
  const as = await startFakeAuthorizationServer({
    refresh: 'rotate-strict',
    accessTokenLifetime: 3600,
    now: () => truth() * 1000,
  })
  const gatepass = await startGatepass({ now: () => truth() + off })
  try {
    await addProvider(gatepass, as)
    await connect(gatepass, 'ada')
    const jumps = repetitions({ few: 20, many: 60 })
    let given = 0
    let deadAtOnce = 0
    let longestRun = 0
    for (let jump = 0; jump < jumps; jump++) {
      truth.advance(120)
      off = Math.round((Math.random() * 2 - 1) * APART_SECONDS)
      const before = as.tokenRequests('refresh_token').length
      for (let i = 0; i < 10; i++) {
        await refreshDue(gatepass.broker)
        const token = await tokenOf(gatepass, 'ada')
        given++
        if (!as.isLive(token)) deadAtOnce++
      }
      longestRun = Math.max(longestRun, as.tokenRequests('refresh_token').length - before)
    }
    off = 0
    const before = as.tokenRequests('refresh_token').length
    for (let i = 0; i < 20; i++) await tokenOf(gatepass, 'ada')
    const afterwards = as.tokenRequests('refresh_token').length - before
    report('a clock that jumps by up to 10 minutes', {
      jumps,
      'tokens given': given,
      'run out at the server': deadAtOnce,
      refreshes: as.tokenRequests('refresh_token').length,
      'most refreshes after one jump, of 10 questions': longestRun,
      'refreshes once it is right again, of 20 questions': afterwards,
    })
    expect(longestRun).toBeLessThanOrEqual(1)
    expect(afterwards).toBeLessThanOrEqual(1)
    expect(as.refreshReuses).toEqual([])
    expect(as.familyRevoked).toBe(false)
  } finally {
    await gatepass.close()
    await as.close()
  }
})

test('a clock that is set back during the life of a token: the token is not given for longer than that past its expiry', async () => {
  const truth = testClock()
  let off = 0
  const as = await startFakeAuthorizationServer({
    refresh: 'rotate-strict',
    accessTokenLifetime: 3600,
    now: () => truth() * 1000,
  })
  const gatepass = await startGatepass({ now: () => truth() + off })
  try {
    await addProvider(gatepass, as)
    await connect(gatepass, 'ada')
    truth.advance(3000) // in the middle of the token's life
    off = -APART_SECONDS
    const ranOutAt = truth() + 600
    let latest = 0
    const questions = repetitions({ few: 50, many: 150 })
    for (let i = 0; i < questions; i++) {
      const token = await tokenOf(gatepass, 'ada')
      if (!as.isLive(token)) latest = truth() - ranOutAt
      truth.advance(1500 / questions)
    }
    report('a clock set back by 10 minutes under a token of an hour', {
      'seconds for which the token was given after its end': latest,
      refreshes: as.tokenRequests('refresh_token').length,
    })
    expect(latest).toBeLessThanOrEqual(APART_SECONDS - 60)
    expect(as.tokenRequests('refresh_token')).toHaveLength(1)
  } finally {
    await gatepass.close()
    await as.close()
  }
})

test('a request with an Idempotency-Key runs its tool once, also when another node gets the repeat', async () => {
  await using world = await startApart(3600)
  const worker = await startFakeWorker({
    secret: 'the secret of the worker',
    tools: [{ name: 'Once', description: 'Does something.', run: async () => ({ value: 'done' }) }],
  })
  try {
    const { behind, ahead } = world
    const http = { uri: worker.url, secret: 'the secret of the worker', timeout: 60, retry: 0 }
    const added = await behind.call('POST', '/v1/workers', { id: 'counts', http })
    expect([added.status, added.body.sync_error]).toEqual([201, undefined])
    for (const [i, nodes] of [
      [behind, ahead],
      [ahead, behind],
    ].entries()) {
      const headers = { 'idempotency-key': `job ${i}` }
      const ask = (node?: Gatepass) =>
        node?.call('POST', '/v1/tools/execute', { tool_name: 'Demo.Once' }, { headers })
      const first = await ask(nodes[0])
      expect(first?.status).toBe(200)
      await ahead.broker.store.idempotencyKeys.sweep(ahead.broker.now())
      expect((await ask(nodes[1]))?.body).toEqual(first?.body)
      expect(worker.invocations).toHaveLength(i + 1)
    }
  } finally {
    await worker.close()
  }
})

test('of two consents the later counts, also when they began on different nodes', async () => {
  await using world = await startApart(3600)
  const { ahead, behind, as } = world
  const consent = async (node: Gatepass, scopes: readonly string[]) => {
    const { body } = await authorize(node, { user_id: 'ada', scopes })
    await click(body.url)
  }
  await consent(ahead, ['read'])
  await consent(behind, ['read', 'write'])
  const { body } = await behind.call('GET', '/v1/connections?user_id=ada')
  expect([...body.items[0].scopes].sort()).toEqual(['read', 'write'])
  expect(as.isLive(await tokenOf(behind, 'ada'))).toBe(true)
})

test('a pending authorization expires on each node at the latest by its own clock, and that node then redeems no code', async () => {
  await using world = await startApart(3600)
  const { clock, as, behind, ahead } = world
  const { body } = await authorize(ahead, { user_id: 'ada' })
  const { browser, callback } = await approve(body.url)
  const statusAt = async (node: Gatepass) => (await node.call('GET', `/v1/auth/status?id=${body.id}`)).body
  clock.advance(599)
  expect((await statusAt(ahead)).status).toBe('pending')
  clock.advance(1)
  expect(await statusAt(ahead)).toMatchObject({ status: 'failed', reason: 'expired' })
  expect((await statusAt(behind)).status).toBe('pending')
  const before = as.tokenRequests('authorization_code').length
  await browser.follow(callback)
  expect(as.tokenRequests('authorization_code')).toHaveLength(before)
  clock.advance(2 * APART_SECONDS)
  for (const node of [behind, ahead])
    expect(await statusAt(node)).toMatchObject({ status: 'failed', reason: 'expired' })
  expect(await behind.broker.store.authorizations.sweep(behind.broker.now() + 1)).toBe(1)
})

test('a click at a node whose clock is ahead ends the exchange of another: each code is sent once, and the later click counts', async () => {
  await using world = await startApart(3600)
  const { as, behind, ahead } = world
  const { body } = await authorize(ahead, { user_id: 'ada' })
  const { opened, open } = gate()
  as.behaviour.onExchange = () => opened
  const first = click(body.url.replace(ahead.url, behind.url))
  await expect.poll(() => as.tokenRequests('authorization_code').length).toBe(1)
  as.behaviour.onExchange = undefined
  await click(body.url)
  open()
  await first
  const sent = as.tokenRequests('authorization_code').map(({ params }) => params.code)
  expect(new Set(sent).size).toBe(2)
  expect(sent).toHaveLength(2)
  expect((await ahead.call('GET', `/v1/auth/status?id=${body.id}`)).body.status).toBe('completed')
  expect((await behind.call('GET', '/v1/connections?user_id=ada')).body.items).toHaveLength(1)
  expect(as.isLive(await tokenOf(ahead, 'ada'))).toBe(true)
})
