import { readFile } from 'node:fs/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { createDevicePolling, pollDevices } from '../../src/flows/device/poll-devices.ts'
import { eraseUser } from '../../src/flows/erase-user.ts'
import { forgetResponses } from '../../src/flows/held-grant.ts'
import {
  type DeviceServerState,
  type FakeDeviceServer,
  startFakeDeviceServer,
} from '../fake-device-server.ts'
import { type Gatepass, type GatepassOptions, startGatepass, testClock } from '../gatepass.ts'
import { startOidcProvider } from '../oidc-provider.ts'
import { startPostgres } from '../postgres.ts'
import { until } from '../until.ts'
import { formIn, type Page, UserAgent } from '../user-agent.ts'
import { withoutJobs } from '../without-jobs.ts'

// RFC 8628: the user enters a code at the provider, which is asked for tokens meanwhile.

interface World extends AsyncDisposable {
  readonly server: FakeDeviceServer
  readonly gatepass: Gatepass
  readonly call: Gatepass['call']
  readonly clock: ReturnType<typeof testClock>
  begin(more?: object): Promise<{ readonly id: string; readonly url: string }>
  status(id: string): Promise<{ readonly status: string; readonly reason?: string }>
  /** Lets time pass, and waits until the provider was asked `times` more. */
  asked(seconds: number, times?: number): Promise<void>
}

interface WorldOptions {
  readonly server?: Partial<DeviceServerState>
  readonly oauth2?: Readonly<Record<string, unknown>>
  readonly gatepass?: GatepassOptions
}

async function startWorld(options: WorldOptions = {}): Promise<World> {
  const server = await startFakeDeviceServer(options.server)
  const clock = testClock()
  const gatepass = await withoutJobs(() => startGatepass({ now: clock, ...options.gatepass }))
  const { call } = gatepass
  const oauth2 = server.oauth2(options.oauth2)
  const added = await call('POST', '/v1/admin/auth_providers', { id: 'tv', oauth2 })
  expect(added.status, JSON.stringify(added.body)).toBe(201)
  return {
    server,
    gatepass,
    call,
    clock,
    async begin(more = {}) {
      const { body } = await call('POST', '/v1/auth/authorize', {
        auth_requirement: { id: 'tv', oauth2: { scopes: ['read'] } },
        user_id: 'u1',
        ...more,
      })
      expect(body.status, JSON.stringify(body)).toBe('pending')
      return body
    },
    status: async (id) => (await call('GET', `/v1/auth/status?id=${id}`)).body,
    async asked(seconds, times = 1) {
      const before = server.polls.length
      clock.advance(seconds)
      await until(async () => {
        await pollDevices(gatepass.broker)
        return server.polls.length >= before + times
      })
      await idle(gatepass)
    },
    async [Symbol.asyncDispose]() {
      await gatepass.close()
      await server.close()
    },
  }
}

/** Waits until no poll is under way and none is due. */
async function idle({ broker }: Gatepass): Promise<void> {
  await until(async () => {
    await pollDevices(broker)
    const rows = await broker.store.authorizations.ofUser(await projectOf(broker), 'u1', { limit: 50 })
    const now = broker.now()
    return rows.every((row) => {
      const at = 'attempt' in row ? row.attempt?.pollAt : undefined
      return at === undefined || at > now || row.expiresAt <= now
    })
  })
}

async function projectOf({ store }: Gatepass['broker']): Promise<string> {
  const [first] = await store.projects.list()
  return first?.id ?? ''
}

/** Opens the link and clicks: the page has the code then. */
async function click(url: string, browser: UserAgent): Promise<Page> {
  return browser.submitForm(await browser.get(url))
}

const connectionsOf = async (call: Gatepass['call']) =>
  (await call('GET', '/v1/connections?user_id=u1')).body.items as readonly {
    readonly account: { readonly name: string }
  }[]

describe('a user who enters a code', () => {
  test('sees code and host, is asked about the account, and is connected by the answer', async () => {
    await using world = await startWorld()
    const { server, call } = world
    const browser = new UserAgent()
    const { id, url } = await world.begin()
    const before = await browser.get(url)
    expect(server.codeRequests).toHaveLength(0) // codes are short-lived: not before the click
    const page = await browser.submitForm(before)
    expect(server.codeRequests).toEqual([{ client_id: 'tv', scope: 'read' }])
    const [code] = server.codes
    expect(page.status).toBe(200)
    expect(page.body).toContain(code?.userCode)
    expect(page.body).toContain(`href="${server.url}/enter"`)
    expect(page.body).toContain(new URL(server.url).host)
    expect(page.body).toContain('Only enter this code because you started here')
    expect(page.body).not.toContain('user_code=')
    expect(page.body).not.toContain(code?.deviceCode)

    await world.asked(5)
    expect(server.polls.at(-1)).toMatchObject({
      grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
      device_code: code?.deviceCode,
      client_id: 'tv',
    })
    expect((await browser.get(url)).body).toContain(code?.userCode)
    server.settings.answers = ['approved']
    await world.asked(5)
    expect(await connectionsOf(call)).toEqual([])
    expect((await world.status(id)).status).toBe('pending')
    const question = await browser.get(url)
    expect(question.body).toContain('Connected as <strong><bdi>ada@p.example</bdi></strong>.')
    expect(question.body).toContain('Is this your account?')
    await browser.submitForm(question)
    expect((await world.status(id)).status).toBe('completed')
    expect(await connectionsOf(call)).toMatchObject([
      { account: { name: 'ada@p.example' }, scopes: ['read'] },
    ])
    expect(server.revoked).toEqual([])
    // the provider is not asked again
    world.clock.advance(60)
    const asked = server.polls.length
    await pollDevices(world.gatepass.broker)
    expect(server.polls).toHaveLength(asked)
  })

  test('says that the account is not theirs: nothing is stored, and the tokens are revoked', async () => {
    await using world = await startWorld({ server: { answers: ['approved'] } })
    const { server, call } = world
    const browser = new UserAgent()
    const { id, url } = await world.begin()
    await click(url, browser)
    await world.asked(5)
    const question = await browser.get(url)
    const grant = /name="grant" value="([^"]+)"/.exec(question.body)?.[1] ?? ''
    const end = await browser.post(`${url}/account/not-mine`, { grant }, { from: url })
    expect(end.status).toBe(303)
    expect(question.body).toContain('/account/not-mine')
    expect(await world.status(id)).toMatchObject({ status: 'failed', reason: 'account_mismatch' })
    expect(await connectionsOf(call)).toEqual([])
    expect(server.revoked).toHaveLength(2)
    expect(server.live.size).toBe(0)
  })

  describe('ends the link without an answer about the account, and the tokens are revoked', () => {
    const held = async (more: WorldOptions = {}) => {
      const world = await startWorld({ server: { answers: ['approved'] }, ...more })
      const browser = new UserAgent()
      const { id, url } = await world.begin()
      const connectPage = await browser.get(url)
      await browser.submitForm(connectPage)
      await world.asked(5)
      expect(world.server.live.size).toBe(2)
      return Object.assign(world, { browser, id, url, connectPage })
    }
    const overdue = { gatepass: { environment: { GATEPASS_USER_VERIFIER: 'http://127.0.0.1:1/verify' } } }

    test.each(['forgotten', 'begun again', 'reported as expired'] as const)(
      'by its end: it is %s',
      async (how) => {
        await using world = await held()
        const { broker } = world.gatepass
        const hook = { url: `${world.server.url}/hook` }
        expect((await world.call('POST', '/v1/webhooks', hook)).status).toBe(201)
        world.clock.advance(3600)
        if (how === 'begun again') await world.begin()
        if (how === 'reported as expired') {
          const { events } = broker.store
          expect(await events.expireAuthorizations(broker.now(), 10)).toEqual([world.id])
        }
        expect(world.server.live.size).toBe(2)
        await forgetResponses(broker)
        expect(world.server.live.size).toBe(0)
        expect(await world.status(world.id)).toMatchObject({ status: 'failed', reason: 'expired' })
        expect(await connectionsOf(world.call)).toEqual([])
        await forgetResponses(broker)
        expect(world.server.revoked).toHaveLength(2)
      },
    )

    test('while the caller’s page has not confirmed the user', async () => {
      await using world = await held(overdue)
      const question = await world.browser.get(world.url)
      await world.browser.submitForm(question, {}, { until: (to) => to.pathname === '/verify' })
      world.clock.advance(3600)
      await forgetResponses(world.gatepass.broker)
      expect(world.server.live.size).toBe(0)
    })

    test('by another user of the caller’s page', async () => {
      await using world = await held(overdue)
      const sent = await world.browser.submitForm(
        await world.browser.get(world.url),
        {},
        { until: (to) => to.pathname === '/verify' },
      )
      const flow_id = new URL(sent.hops.at(-1)?.location ?? '').searchParams.get('flow_id')
      await world.call('POST', '/v1/auth/confirm_user', { flow_id, user_id: 'u2' })
      expect(world.server.live.size).toBe(0)
    })

    test('by a new click, which gets another code', async () => {
      await using world = await held()
      await world.browser.submitForm(world.connectPage)
      expect(world.server.live.size).toBe(0)
      await world.asked(5)
      expect(world.server.live.size).toBe(2)
    })

    test.each(['user', 'entry'] as const)('by the deletion of the %s', async (what) => {
      await using world = await held()
      const { broker } = world.gatepass
      const owner = { projectId: await projectOf(broker), userId: 'u1' }
      if (what === 'user') await eraseUser(broker, owner)
      else expect((await world.call('DELETE', '/v1/admin/auth_providers/tv')).status).toBe(200)
      expect(world.server.live.size).toBe(0)
    })

    test('but not at another server than the one that gave them', async () => {
      await using world = await held()
      const changed = { oauth2: { device_authorization_request: { endpoint: `${world.server.url}/other` } } }
      await world.call('PATCH', '/v1/admin/auth_providers/tv', changed)
      world.clock.advance(3600)
      await forgetResponses(world.gatepass.broker)
      expect(world.server.revoked).toEqual([])
    })
  })

  test('sees the page go on: it waits until there is something else to show', async () => {
    await using world = await startWorld()
    const browser = new UserAgent()
    const { url } = await world.begin()
    const page = await click(url, browser)
    const waitsAt = new URL(/data-wait="([^"]+)"/.exec(page.body)?.[1] ?? '', url)
    const waiting = browser.get(waitsAt)
    world.server.settings.answers = ['approved']
    await world.asked(5)
    expect(JSON.parse((await waiting).body)).toEqual({ waiting: false })
    expect(JSON.parse((await new UserAgent().get(waitsAt)).body)).toEqual({ waiting: false })
  })

  test('cancels: the provider is asked no more', async () => {
    await using world = await startWorld()
    const browser = new UserAgent()
    const { id, url } = await world.begin()
    await click(url, browser)
    await world.asked(5)
    await browser.post(`${url}/cancel`, {}, { from: url })
    expect(await world.status(id)).toMatchObject({ status: 'failed', reason: 'access_denied' })
    world.clock.advance(30)
    await pollDevices(world.gatepass.broker)
    expect(world.server.polls).toHaveLength(1)
  })

  test('is asked for at the click, although the connect page is passed', async () => {
    await using world = await startWorld({ gatepass: { environment: { GATEPASS_CONNECT_PAGE: 'pass' } } })
    const browser = new UserAgent()
    const { url } = await world.begin()
    const page = await browser.follow(url)
    expect(world.server.codes).toHaveLength(0)
    expect((await browser.submitForm(page)).body).toContain(world.server.codes[0]?.userCode)
  })

  test('says that an account is theirs which is not the requested one: nothing is stored', async () => {
    await using world = await startWorld({ server: { answers: ['approved'] } })
    const browser = new UserAgent()
    const { id, url } = await world.begin({ account: 'bob@p.example' })
    await click(url, browser)
    await world.asked(5)
    await browser.submitForm(await browser.get(url))
    expect(await world.status(id)).toMatchObject({ status: 'failed', reason: 'account_mismatch' })
    expect(await connectionsOf(world.call)).toEqual([])
    expect(world.server.live.size).toBe(0)
  })

  test('clicks again: the new code takes the place of the old one', async () => {
    await using world = await startWorld()
    const { server } = world
    const { url } = await world.begin()
    const browser = new UserAgent()
    const connectPage = await browser.get(url)
    await browser.submitForm(connectPage)
    const again = await browser.submitForm(connectPage)
    expect(again.body).toContain(server.codes[1]?.userCode)
    server.settings.answers = ['approved']
    await world.asked(5)
    expect(server.polls.map(({ device_code }) => device_code)).toEqual([server.codes[1]?.deviceCode])
  })
})

test('an idle process reads no rows: only when a request is due, or after a change', async () => {
  await using world = await startWorld()
  const { broker } = world.gatepass
  const { store } = broker
  let reads = 0
  const duePolls: typeof store.authorizations.duePolls = (...of) => {
    reads += 1
    return store.authorizations.duePolls(...of)
  }
  const counted = { ...broker, store: { ...store, authorizations: { ...store.authorizations, duePolls } } }
  const run = createDevicePolling(counted)
  const passing = async (seconds: number) => {
    const before = reads
    for (let second = 0; second < seconds; second++) {
      world.clock.advance(1)
      await run()
    }
    return reads - before
  }
  await run()
  expect(await passing(50)).toBe(0)
  await click((await world.begin()).url, new UserAgent())
  expect(await passing(1)).toBe(1) // after the change
  expect(world.server.polls).toEqual([])
  expect(await passing(3)).toBe(0)
  await passing(2)
  expect(world.server.polls).toHaveLength(1)
})

test('explain says whether the code was entered, and nothing of a redirect URI', async () => {
  await using world = await startWorld()
  const { call, server, clock } = world
  const causeOf = async (id: string) => (await call('GET', `/v1/auth/${id}/explain`)).body.cause
  const first = await world.begin()
  await click(first.url, new UserAgent())
  expect(await causeOf(first.id)).toMatchObject({ code: 'code_not_entered', who: 'user' })
  server.settings.answers = [{ error: 'expired_token' }]
  await world.asked(5)
  const expired = await causeOf(first.id)
  expect(expired.code).toBe('code_not_entered')
  expect(JSON.stringify(expired)).not.toMatch(/redirect|come back/)
  server.settings.answers = ['approved']
  const second = await world.begin()
  await click(second.url, new UserAgent())
  await world.asked(5)
  expect((await causeOf(second.id)).code).toBe('account_not_confirmed')
  clock.advance(3600)
  expect((await causeOf(second.id)).code).toBe('account_not_confirmed')
  const { providers } = (await call('GET', `/v1/auth/${second.id}/explain`)).body
  expect(JSON.stringify(providers)).not.toContain('redirect')
})

test('doctor names no redirect URI for the entry, which needs none', async () => {
  await using world = await startWorld()
  const { call } = world
  const checkOf = async (id: string) => {
    const { body } = await call('GET', '/v1/admin/diagnosis')
    return JSON.stringify(body.checks.filter(({ name }: { name: string }) => name === `provider ${id}`))
  }
  expect(await checkOf('tv')).toContain('tokens by the grant device_code')
  const oauth2 = world.server.oauth2({
    token_request: { endpoint: `${world.server.url}/token`, auth_method: 'client_secret_basic' },
  })
  const added = await call('POST', '/v1/admin/auth_providers', { id: 'bare', oauth2 })
  expect(added.status, JSON.stringify(added.body)).toBe(201)
  const incomplete = await checkOf('bare')
  expect(incomplete).toContain('Register a client at')
  expect(incomplete).not.toContain('redirect')
})

test('the answer of a page about an earlier account stores no other account', async () => {
  await using world = await startWorld({ server: { answers: ['approved'] } })
  const { server, call } = world
  const browser = new UserAgent()
  const { id, url } = await world.begin()
  const connectPage = await browser.get(url)
  await browser.submitForm(connectPage)
  await world.asked(5)
  const earlier = await browser.get(url)
  expect(earlier.body).toContain('ada@p.example')
  await browser.submitForm(connectPage) // in another tab; a stranger sees this code and approves
  server.settings.account = { sub: 'd-2', email: 'stranger@p.example' }
  await world.asked(5)
  const shown = await browser.submitForm(earlier)
  expect(shown.body).toContain('stranger@p.example')
  expect((await world.status(id)).status).toBe('pending')
  expect(await connectionsOf(call)).toEqual([])
})

/** Logs in on the page of a provider at which users may begin, as a browser keeps the session for all pages. */
async function logInAs({ call }: Gatepass, browser: UserAgent, userId: string): Promise<void> {
  const endpoint = 'https://p.example/oauth'
  const { body } = await call('POST', '/v1/admin/auth_providers', {
    id: 'store',
    oauth2: {
      client_id: 'c',
      client_secret: 's',
      authorize_request: { endpoint },
      token_request: { endpoint },
      installation: {},
    },
  })
  const login = await browser.submitForm(await browser.follow(body.oauth2.installation_url))
  const named = await browser.submitForm(login, { user_id: userId })
  expect(named.body).toContain(`<bdi>${userId}</bdi>`)
}

test('another user who has logged in since, at the browser that clicked, answers nothing', async () => {
  await using world = await startWorld({
    server: { answers: ['approved'] },
    gatepass: { mode: 'development' },
  })
  const { server, call, gatepass } = world
  const browser = new UserAgent()
  const { id, url } = await world.begin()
  await click(url, browser)
  await world.asked(5)
  const question = await browser.get(url)
  expect(question.body).toContain('Is this your account?')
  await logInAs(gatepass, browser, 'eve')
  await browser.submitForm(question)
  expect(await world.status(id)).toMatchObject({ status: 'failed', reason: 'user_mismatch' })
  expect(await connectionsOf(call)).toEqual([])
  expect(server.live.size).toBe(0)
})

describe('another browser', () => {
  test('is shown no code and no account, and cannot answer', async () => {
    await using world = await startWorld()
    const { server } = world
    const { id, url } = await world.begin()
    const browser = new UserAgent()
    await click(url, browser)
    const other = new UserAgent()
    const theirs = await other.get(url)
    expect(theirs.status).toBe(200)
    expect(theirs.body).not.toContain(server.codes[0]?.userCode)
    expect(theirs.body).not.toContain('/enter')
    server.settings.answers = ['approved']
    await world.asked(5)
    expect((await other.get(url)).body).not.toContain('ada@p.example')
    for (const path of ['mine', 'not-mine']) {
      const refused = await other.post(`${url}/account/${path}`, {}, { from: url })
      expect(refused.status).toBe(403)
    }
    expect((await world.status(id)).status).toBe('pending')
    expect(server.revoked).toEqual([])
    await browser.submitForm(await browser.get(url))
    expect((await world.status(id)).status).toBe('completed')
  })

  test('cannot have the answer sent from another site', async () => {
    await using world = await startWorld({ server: { answers: ['approved'] } })
    const { id, url } = await world.begin()
    const browser = new UserAgent()
    await click(url, browser)
    await world.asked(5)
    const forged = await browser.post(`${url}/account/mine`, {}, { from: 'https://evil.example/' })
    expect(forged.status).toBe(403)
    expect((await world.status(id)).status).toBe('pending')
  })
})

describe('the provider', () => {
  const gapsOf = async (world: World) => {
    const [row] = await world.gatepass.broker.store.authorizations.ofUser(
      await projectOf(world.gatepass.broker),
      'u1',
      { limit: 1 },
    )
    return row && 'attempt' in row ? row.attempt?.pollSeconds : undefined
  }

  test('is asked every 5 seconds where it names no interval, and 5 seconds less often after each slow_down', async () => {
    const pending = { error: 'authorization_pending' }
    const slow = { error: 'slow_down' }
    await using world = await startWorld({ server: { answers: [pending, slow, pending, slow, pending] } })
    await click((await world.begin()).url, new UserAgent())
    const gaps: (number | undefined)[] = [await gapsOf(world)]
    for (let i = 0; i < 5; i++) {
      const gap = gaps.at(-1) ?? 0
      world.clock.advance(gap - 1)
      const before = world.server.polls.length
      await pollDevices(world.gatepass.broker)
      expect(world.server.polls).toHaveLength(before) // not a second too early
      await world.asked(1)
      gaps.push(await gapsOf(world))
    }
    expect(gaps).toEqual([5, 5, 10, 10, 15, 15])
  })

  test.each([
    ['a lost connection', 'hang up' as const],
    ['an error of its own', { error: 'server_error', status: 503 }],
  ])('is asked half as often after %s', async (_, failing) => {
    await using world = await startWorld({
      server: { code: { interval: 3 }, answers: [failing, failing, 'approved'] },
    })
    const { url } = await world.begin()
    const browser = new UserAgent()
    await click(url, browser)
    await world.asked(3)
    expect(await gapsOf(world)).toBe(6)
    await world.asked(6)
    expect(await gapsOf(world)).toBe(12)
    await world.asked(12)
    expect((await browser.get(url)).body).toContain('Is this your account?')
  })

  test.each([
    ['denies', { error: 'access_denied' }, 'access_denied'],
    ['denies in the words of Microsoft', { error: 'authorization_declined' }, 'access_denied'],
    ['says that the code has expired', { error: 'expired_token' }, 'expired'],
    ['does not know the code', { error: 'invalid_grant' }, 'invalid_grant'],
    ['refuses the client', { error: 'invalid_client', status: 401 }, 'invalid_client'],
    ['answers errors with 200 (GitHub)', { error: 'access_denied', status: 200 }, 'access_denied'],
    ['answers nonsense', { error: '' }, 'provider_bad_response'],
  ] as const)('%s: the authorization ends', async (_, answer, reason) => {
    await using world = await startWorld({ server: { answers: [answer] } })
    const { id, url } = await world.begin()
    await click(url, new UserAgent())
    await world.asked(5)
    expect(await world.status(id)).toMatchObject({ status: 'failed', reason })
    expect(await connectionsOf(world.call)).toEqual([])
    const { cause } = (await world.call('GET', `/v1/auth/${id}/explain`)).body
    if (reason === 'access_denied') expect(cause.code).toBe('access_denied')
  })

  test.each([
    ['GitHub', { error: 'authorization_pending', status: 200 }],
    ['Google', { error: 'authorization_pending', status: 428 }],
  ])('may say in its own way that the user has not approved yet (%s)', async (_, pending) => {
    await using world = await startWorld({ server: { answers: [pending, 'approved'] } })
    const { url } = await world.begin()
    const browser = new UserAgent()
    await click(url, browser)
    await world.asked(5)
    expect(await gapsOf(world)).toBe(5)
    await world.asked(5)
    expect((await browser.get(url)).body).toContain('Is this your account?')
  })

  test('is not asked after the end of the code, nor after that of the link', async () => {
    await using world = await startWorld({ server: { code: { expires_in: 60 } } })
    const first = await world.begin()
    await click(first.url, new UserAgent())
    world.clock.advance(60)
    await idle(world.gatepass)
    expect(await world.status(first.id)).toMatchObject({ status: 'failed', reason: 'expired' })
    world.server.settings.code = { expires_in: 80_000 }
    const second = await world.begin()
    await click(second.url, new UserAgent())
    world.clock.advance(40_000)
    await idle(world.gatepass)
    expect(await world.status(second.id)).toMatchObject({ status: 'failed', reason: 'expired' })
    expect(world.server.polls).toEqual([])
  })

  test('may name the page of the code in another member, by the response map', async () => {
    await using world = await startWorld()
    const { call, server } = world
    const changed = await call('PATCH', '/v1/admin/auth_providers/tv', {
      oauth2: {
        verification_hosts: ['www.google.com'],
        device_authorization_request: { response_map: { verification_uri: '$.verification_url' } },
      },
    })
    expect(changed.status, JSON.stringify(changed.body)).toBe(200)
    server.settings.code = { verification_url: 'https://www.google.com/device', verification_uri: undefined }
    const page = await click((await world.begin()).url, new UserAgent())
    expect(page.body).toContain('href="https://www.google.com/device"')
  })

  test.each([
    ['a page by plain http', { verification_uri: 'http://p.example/device' }, ['p.example']],
    [
      'a page on a host that is not named',
      { verification_uri: 'https://evil.example/device' },
      ['p.example'],
    ],
    ['a page on another site', { verification_uri: 'https://evil.example/device' }],
    ['a script', { verification_uri: 'javascript:alert(1)' }],
    ['a page with a password in its URL', { verification_uri: 'https://127.0.0.1:x@evil.example/' }],
    ['no device code', { device_code: undefined }],
    ['no user code', { user_code: undefined }],
    ['an empty user code', { user_code: '' }],
    ['a user code that nobody can enter', { user_code: 'x'.repeat(65) }],
    ['no page', { verification_uri: undefined }],
    ['no end', { expires_in: undefined }],
    ['an end that has come', { expires_in: 0 }],
  ])('gives %s: the authorization fails, and nothing is shown', async (_, code, hosts?: string[]) => {
    await using world = await startWorld({
      server: { code },
      ...(hosts && { oauth2: { verification_hosts: hosts } }),
    })
    const { id, url } = await world.begin()
    const page = await click(url, new UserAgent())
    expect(await world.status(id)).toMatchObject({ status: 'failed', reason: 'provider_bad_response' })
    for (const { userCode } of world.server.codes) expect(page.body).not.toContain(userCode)
    expect(page.body).not.toContain('evil.example')
    expect(world.server.polls).toEqual([])
  })

  test('does not name the account: nothing is stored, unless the entry says that it need not', async () => {
    await using world = await startWorld({ server: { answers: ['approved'], account: undefined } })
    const { call, server } = world
    const first = await world.begin()
    await click(first.url, new UserAgent())
    await world.asked(5)
    expect(await world.status(first.id)).toMatchObject({ status: 'failed', reason: 'provider_bad_response' })
    expect(server.live.size).toBe(0)
    await call('PATCH', '/v1/admin/auth_providers/tv', { oauth2: { unnamed_accounts: true } })
    const second = await world.begin()
    const browser = new UserAgent()
    await click(second.url, browser)
    await world.asked(5)
    const question = await browser.get(second.url)
    expect(question.body).toContain('does not say which account approved')
    await browser.submitForm(question)
    expect((await world.status(second.id)).status).toBe('completed')
  })
})

describe('an entry with the grant', () => {
  test.each([
    [
      'authorize_request',
      { authorize_request: { endpoint: 'https://p.example/a' } },
      'oauth2.authorize_request',
    ],
    [
      'no device_authorization_request',
      { device_authorization_request: null },
      'oauth2.device_authorization_request',
    ],
    ['no source of the account', { user_info_request: null }, 'oauth2.unnamed_accounts'],
    ['a host that is none', { verification_hosts: ['https://p.example'] }, 'oauth2.verification_hosts.0'],
    [
      'the members of the grant with another one',
      { grant: { type: 'client_credentials' }, client_secret: 's', refresh_request: undefined },
      'oauth2.device_authorization_request',
    ],
  ])('is refused: %s', async (_, oauth2, path) => {
    await using world = await startWorld()
    const { status, body } = await world.call('POST', '/v1/admin/auth_providers', {
      id: 'other',
      oauth2: world.server.oauth2(oauth2),
    })
    expect(status).toBe(400)
    expect(body.errors.map((fault: { path: string }) => fault.path)).toContain(path)
  })

  test('needs new consents after a change of the device endpoint', async () => {
    await using world = await startWorld({ server: { answers: ['approved'] } })
    const { call } = world
    const { url } = await world.begin()
    const browser = new UserAgent()
    await click(url, browser)
    await world.asked(5)
    await browser.submitForm(await browser.get(url))
    const changed = await call('PATCH', '/v1/admin/auth_providers/tv', {
      oauth2: { device_authorization_request: { endpoint: `${world.server.url}/other` } },
    })
    expect(changed.status).toBe(200)
    await world.begin() // the token is no longer used
  })
})

test('neither code nor page of the code is in a log line, answer, audit entry, trail, page of others or database', async () => {
  await using world = await startWorld({ server: { code: { interval: 7 } } })
  const { call, server, gatepass } = world
  const { id, url } = await world.begin()
  await click(url, new UserAgent())
  await world.asked(7)
  server.settings.answers = [{ error: 'access_denied' }]
  const shown = [
    JSON.stringify((await call('GET', `/v1/auth/status?id=${id}`)).body),
    JSON.stringify((await call('GET', `/v1/auth/${id}/explain`)).body),
  ]
  await world.asked(7)
  shown.push(
    JSON.stringify((await call('GET', '/v1/admin/audit?limit=100')).body),
    JSON.stringify((await call('GET', `/v1/admin/authorizations/${id}/explain`)).body),
    JSON.stringify((await call('GET', `/v1/auth/status?id=${id}`)).body),
    ...gatepass.logLines,
    (await readFile(gatepass.databasePath)).toString('latin1'),
    (await readFile(`${gatepass.databasePath}-wal`).catch(() => Buffer.alloc(0))).toString('latin1'),
  )
  const [code] = server.codes
  for (const secret of [code?.deviceCode, code?.userCode, `${server.url}/enter`])
    expect(shown.join('\n')).not.toContain(secret)
})

describe('where the caller’s page confirms users', () => {
  test('the account is stored after both answers', async () => {
    const verifier = 'http://127.0.0.1:1/verify'
    await using world = await startWorld({
      server: { answers: ['approved'] },
      gatepass: { environment: { GATEPASS_USER_VERIFIER: verifier } },
    })
    const { id, url } = await world.begin()
    const browser = new UserAgent()
    await click(url, browser)
    await world.asked(5)
    const sent = await browser.submitForm(
      await browser.get(url),
      {},
      { until: (to) => to.href.startsWith(verifier) },
    )
    const flowId = new URL(sent.hops.at(-1)?.location ?? '').searchParams.get('flow_id')
    expect(await connectionsOf(world.call)).toEqual([])
    const confirmed = await world.call('POST', '/v1/auth/confirm_user', { flow_id: flowId, user_id: 'u1' })
    await browser.get(confirmed.body.next_uri)
    expect((await world.status(id)).status).toBe('completed')
  })
})

describe('two processes on one database', () => {
  const closing: (() => Promise<unknown>)[] = []
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close()
  })

  test.each(['SQLite', 'PostgreSQL'] as const)(
    'on %s ask once at a time, and one goes on after the other was killed',
    async (kind) => {
      const server = await startFakeDeviceServer()
      closing.push(() => server.close())
      const clock = testClock()
      const environment: Record<string, string> = {}
      if (kind === 'PostgreSQL') {
        const postgres = await startPostgres()
        closing.push(() => postgres.close())
        environment.GATEPASS_DATABASE_URL = postgres.url
      }
      const first = await withoutJobs(() => startGatepass({ now: clock, environment }))
      const place = kind === 'SQLite' && { databasePath: first.databasePath }
      const second = await withoutJobs(() => startGatepass({ now: clock, environment, ...place }))
      closing.push(() => second.close())
      await first.call('POST', '/v1/admin/auth_providers', { id: 'tv', oauth2: server.oauth2() })
      const { id, url } = (
        await first.call('POST', '/v1/auth/authorize', {
          auth_requirement: { id: 'tv', oauth2: { scopes: ['read'] } },
          user_id: 'u1',
        })
      ).body
      const browser = new UserAgent()
      await click(url, browser)
      clock.advance(5)
      await Promise.all([first, second, first, second].map(({ broker }) => pollDevices(broker)))
      await until(() => server.polls.length > 0)
      await idle(second)
      expect(server.polls).toHaveLength(1)
      await first.close()

      server.settings.answers = ['approved']
      clock.advance(5)
      await idle(second)
      expect(server.polls).toHaveLength(2)
      const elsewhere = url.replace(first.url, second.url)
      expect((await second.call('GET', `/v1/auth/status?id=${id}`)).body.status).toBe('pending')
      // cookies of a test's browser belong to a port
      const [cookie] = Object.entries(browser.cookies(url))
      const headers = { cookie: `${cookie?.[0]}=${cookie?.[1]}` }
      const question = await new UserAgent().get(elsewhere, { headers })
      expect(question.body).toContain('Is this your account?')
      const form = formIn(question) ?? expect.fail('no form')
      await new UserAgent().post(form.action.replace(first.url, second.url), form.fields, { headers })
      expect((await second.call('GET', `/v1/auth/status?id=${id}`)).body.status).toBe('completed')
    },
  )
})

test('the certified oidc-provider gives tokens by a code, by its metadata alone', async () => {
  const oidc = await startOidcProvider({
    redirectUris: [],
    deviceFlow: true,
    clientAuth: 'client_secret_basic',
  })
  const clock = testClock(Math.floor(Date.now() / 1000))
  const gatepass = await withoutJobs(() => startGatepass({ now: clock }))
  try {
    const { call, broker } = gatepass
    const added = await call('POST', '/v1/admin/auth_providers', {
      id: 'oidc',
      oauth2: {
        client_id: oidc.clientId,
        client_secret: oidc.clientSecret,
        issuer: oidc.issuer,
        grant: { type: 'device_code' },
      },
    })
    expect(added.status, JSON.stringify(added.body)).toBe(201)
    expect(added.body.oauth2.device_authorization_request.endpoint).toBe(`${oidc.issuer}/device/auth`)
    const { id, url } = (
      await call('POST', '/v1/auth/authorize', {
        auth_requirement: { id: 'oidc', oauth2: { scopes: ['openid', 'email', 'offline_access'] } },
        user_id: 'u1',
      })
    ).body
    const browser = new UserAgent()
    const page = await click(url, browser)
    const code = /device-code"><code dir="ltr">([^<]+)</.exec(page.body)?.[1] ?? ''
    const enter = /href="([^"]+\/device)"/.exec(page.body)?.[1] ?? ''
    clock.advance(5)
    await idle(gatepass)
    const atProvider = new UserAgent()
    const confirm = await atProvider.submitForm(await atProvider.get(enter), { user_code: code })
    const approved = await atProvider.submitForm(confirm)
    expect(approved.body).toBe('Approved')
    clock.advance(5)
    await pollDevices(broker)
    await idle(gatepass)
    const question = await browser.get(url)
    expect(question.body).toContain('grace@example.test')
    await browser.submitForm(question)
    expect((await call('GET', `/v1/auth/status?id=${id}`)).body.status).toBe('completed')
    expect(oidc.failures).toEqual([])
  } finally {
    await gatepass.close()
    await oidc.close()
  }
})
