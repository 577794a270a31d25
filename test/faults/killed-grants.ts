import { generateKeyPairSync } from 'node:crypto'
import { calculateJwkThumbprint, decodeJwt, decodeProtectedHeader, type JWK } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { AnyJson } from '../any-json.ts'
import { startFakeAuthorizationServer } from '../fake-authorization-server.ts'
import { startFakeDeviceServer } from '../fake-device-server.ts'
import { startFakeKeyService } from '../fake-key-service.ts'
import { oauth2For } from '../flows/fixtures.ts'
import { startGitHubApp } from '../github-app-server.ts'
import { answerJson, listen, type RecordedRequest, record } from '../loopback.ts'
import { startOAuth1Server } from '../oauth1-server.ts'
import { API_KEY } from '../served.ts'
import { until } from '../until.ts'
import { UserAgent } from '../user-agent.ts'
import { approve, type Flow, statusOf } from './clients.ts'
import { type DatabaseKind, type Installation, install } from './installation.ts'
import type { KillPoint } from './kill-at.ts'

// `gatepass serve` is killed with SIGKILL in the middle of the grants that are no plain code, and started again.

const NEW_CONNECTION = 'insert into "connections"'
const REFRESHED = 'update "connections" set [^]*"access" ='
const POLLED = '^update "authorizations" set "lease_owner" ='
/** Sets the response and no state: the grant of a device code. */
const GRANT_HELD = '^update "authorizations" set (?:(?!"state_hash" =|"status" =|where)[^])*"response" ='
const SHORT_SECONDS = 1
const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
const DEVICE_CODE = 'urn:ietf:params:oauth:grant-type:device_code'

export function killedGrants(kind: DatabaseKind): void {
  describe(`on ${kind}`, () => {
    let installation: Installation
    beforeAll(async () => {
      installation = await install(kind)
      await installation.start()
    })
    afterAll(async () => {
      if (installation === undefined) return
      const { faults } = await installation.trail()
      await installation[Symbol.asyncDispose]()
      expect(faults).toEqual([])
    })

    async function add(body: object): Promise<AnyJson> {
      const { status, body: answer } = await installation.call('POST', '/v1/admin/auth_providers', body)
      expect(status, JSON.stringify(answer)).toBe(201)
      return answer
    }

    /** Calls `run` while the process kills itself at the point, then starts it again. */
    async function killAt(point: KillPoint, run: () => Promise<unknown>): Promise<void> {
      const armed = await installation.nodes[0]?.armed(point)
      const running = run().catch((error: Error) => error)
      await armed?.killed
      expect(await running).toBeInstanceOf(Error)
      await startAgain()
    }

    async function startAgain(): Promise<void> {
      await until(() => installation.nodes.length === 0)
      await installation.start()
      await installation.lapse()
      await installation.sql('update authorizations set lease_until = lease_until - 60')
    }

    async function begin(entry: string, user: string, scopes: readonly string[] = []): Promise<Flow> {
      const need = { auth_requirement: { id: entry, oauth2: { scopes } }, user_id: user }
      const { status, body } = await installation.call('POST', '/v1/auth/authorize', need)
      expect([status, body.status], JSON.stringify(body)).toEqual([200, 'pending'])
      return { id: body.id, url: body.url, user, browser: new UserAgent() }
    }

    const click = ({ browser, url }: Flow) => browser.get(url).then((page) => browser.submitForm(page))

    async function proxy(entry: string, user: string, scopes = ''): Promise<number> {
      const response = await fetch(`${installation.url}/proxy/${entry}/me`, {
        headers: {
          authorization: `Bearer ${API_KEY}`,
          'x-gatepass-user': user,
          ...(scopes !== '' && { 'x-gatepass-scopes': scopes }),
          connection: 'close',
        },
      })
      await response.text()
      return response.status
    }

    /** Calls the API until the process is killed, which happens at the first call after the token has expired. */
    const callUntilKilled = (entry: string, user: string) =>
      until(async () => (await proxy(entry, user)) !== 200)

    async function connectionsOf(entry: string, user: string): Promise<{ status: string }[]> {
      const { body } = await installation.call('GET', `/v1/connections?user_id=${encodeURIComponent(user)}`)
      return body.items.filter((item: { provider_id: string }) => item.provider_id === entry)
    }

    async function startMachine() {
      const asked: RecordedRequest[] = []
      const lifetime = { seconds: 3600 }
      const server = await listen(async (req, res) => {
        const request = await record(req)
        if (request.path !== '/token') return answerJson(res, 200, { ok: true })
        asked.push(request)
        const access_token = `t-${asked.length}-0123456789abcdef`
        return answerJson(res, 200, { access_token, token_type: 'Bearer', expires_in: lifetime.seconds })
      })
      const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
      const key = String(privateKey.export({ type: 'pkcs8', format: 'pem' }))
      const basic = { client_secret: 's3cret' }
      const signed = { client_secret: key, assertion: { algorithm: 'RS256' } }
      const oauth2: Readonly<Record<string, { token_request?: object; [member: string]: unknown }>> = {
        client_credentials: basic,
        account_credentials: { ...basic, token_request: { params: { account_id: 'acc-1' } } },
        jwt_bearer: signed,
      }
      return {
        server,
        asked,
        lifetime,
        entry: (id: string, type: string, more: object = {}) => {
          const { token_request, ...rest } = oauth2[type] ?? {}
          return {
            id,
            oauth2: {
              grant: { type },
              client_id: 'machine',
              token_request: { endpoint: `${server.url}/token`, ...token_request },
              api: { base_url: server.url },
              ...rest,
              ...more,
            },
          }
        },
      }
    }

    describe.each(['client_credentials', 'account_credentials', 'jwt_bearer'])('%s', (type) => {
      let machine: Awaited<ReturnType<typeof startMachine>>
      beforeAll(async () => {
        machine = await startMachine()
      })
      afterAll(() => machine?.server.close())

      const share = (entry: string) =>
        installation.call('POST', '/v1/admin/connections', {
          provider_id: entry,
          owner: 'project',
          name: 'CRM',
          shared_with: { users: ['*'] },
        })
      const expectOwnRequests = (count: number) => {
        expect(machine.asked).toHaveLength(count)
        if (type !== 'jwt_bearer') return
        const ids = machine.asked.map(({ params }) => decodeJwt(params.assertion ?? '').jti)
        expect(new Set(ids).size).toBe(count)
        expect(machine.asked.map(({ params }) => params.grant_type)).toEqual(Array(count).fill(JWT_BEARER))
      }

      test('whose first token was not stored: nothing is stored, and it can be added again', async () => {
        const entry = `first-${type.replace('_', '-')}`
        await add(machine.entry(entry, type))
        machine.asked.length = 0
        await killAt({ when: 'before', statement: REFRESHED }, () => share(entry))
        expectOwnRequests(1)
        const { body } = await installation.call('GET', '/v1/admin/connections')
        expect(JSON.stringify(body)).not.toContain(entry)
        expect(await share(entry)).toMatchObject({ status: 201 })
        expect(await proxy(entry, 'ada')).toBe(200)
        expectOwnRequests(2)
      })

      test.each([
        ['before', 1],
        ['after', 0],
      ] as const)(
        'killed %s a renewed token is stored: the token is asked for %i times more, without anyone',
        async (when, more) => {
          const entry = `${when}-${type.replace('_', '-')}`
          await add(machine.entry(entry, type))
          machine.lifetime.seconds = SHORT_SECONDS
          expect(await share(entry)).toMatchObject({ status: 201 })
          machine.lifetime.seconds = 3600
          machine.asked.length = 0
          await killAt({ when, statement: REFRESHED }, () => callUntilKilled(entry, 'ada'))
          expectOwnRequests(1)
          expect(await proxy(entry, 'ada')).toBe(200)
          expect(await proxy(entry, 'bob')).toBe(200)
          expectOwnRequests(1 + more)
        },
      )
    })

    test('an impersonated user, whose first token was not stored, has one connection after the next call', async () => {
      const machine = await startMachine()
      await add(
        machine.entry('google', 'jwt_bearer', {
          assertion: { algorithm: 'RS256', subject: '{{user_id}}' },
          impersonation: { pattern: '[a-z]+@acme\\.com' },
        }),
      )
      const user = 'ada@acme.com'
      await killAt({ when: 'before', statement: REFRESHED }, () => proxy('google', user))
      expect(await proxy('google', user)).toBe(200)
      expect(await proxy('google', user)).toBe(200)
      const claims = machine.asked.map(({ params }) => decodeJwt(params.assertion ?? ''))
      expect(claims.map(({ sub }) => sub)).toEqual([user, user])
      expect(claims[0]?.jti).not.toBe(claims[1]?.jti)
      expect(await connectionsOf('google', user)).toHaveLength(1)
      await machine.server.close()
    })

    test('an exchanged token, which was not stored: the same subject token is exchanged again', async () => {
      const as = await startFakeAuthorizationServer({ refresh: 'rotate-strict' })
      const asked: RecordedRequest[] = []
      const sts = await listen(async (req, res) => {
        const request = await record(req)
        if (request.path !== '/token') return answerJson(res, 200, { ok: true })
        asked.push(request)
        const type = 'urn:ietf:params:oauth:token-type:access_token'
        const token = { access_token: `x-${asked.length}-0123456789abcdef`, issued_token_type: type }
        return answerJson(res, 200, { ...token, token_type: 'Bearer', expires_in: 3600 })
      })
      await add({ id: 'okta', oauth2: oauth2For(as) })
      await add({
        id: 'orders',
        oauth2: {
          grant: { type: 'token_exchange', subject: { connection: 'okta' } },
          client_id: 'orders',
          client_secret: 's3cret',
          token_request: { endpoint: `${sts.url}/token` },
          api: { base_url: sts.url },
        },
      })
      await click(await begin('okta', 'ada'))
      await killAt({ when: 'before', statement: REFRESHED }, () => proxy('orders', 'ada'))
      expect(asked).toHaveLength(1)
      expect(await proxy('orders', 'ada')).toBe(200)
      expect(await proxy('orders', 'ada')).toBe(200)
      expect(asked).toHaveLength(2)
      expect(asked[1]?.params.subject_token).toBe(asked[0]?.params.subject_token)
      expect(as.tokenRequests('refresh_token')).toEqual([])
      expect(await connectionsOf('okta', 'ada')).toMatchObject([{ status: 'active' }])
      await sts.close()
      await as.close()
    })

    test('a token of an installation, which was not stored: the client asks again, and the user is not asked', async () => {
      const github = await startGitHubApp(() => Math.floor(Date.now() / 1000))
      github.installations.push({
        id: 42,
        account: 'acme',
        permissions: { contents: 'write' },
        users: ['ada'],
      })
      const body = await add({ id: 'app', oauth2: github.entry() })
      github.callbackUrl.value = body.oauth2.redirect_uri
      const flow = await begin('app', 'ada', ['contents:read'])
      await killAt({ when: 'before', statement: NEW_CONNECTION }, () => click(flow))
      expect(await connectionsOf('app', 'ada')).toEqual([])
      await click(flow)
      // the first use asks for a token
      await killAt({ when: 'before', statement: REFRESHED }, () => proxy('app', 'ada', 'contents:read'))
      expect(await proxy('app', 'ada', 'contents:read')).toBe(200)
      const ids = github.asked.map(({ assertion }) => decodeJwt(assertion).jti)
      expect(ids).toHaveLength(2)
      expect(new Set(ids).size).toBe(2)
      expect(await statusOf(installation, flow.id)).toBe('completed')
      expect(await connectionsOf('app', 'ada')).toMatchObject([{ status: 'active' }])
      await github.server.close()
    })

    describe('DPoP, at the one repeat after use_dpop_nonce', () => {
      let bound: Awaited<ReturnType<typeof startNonceServer>>
      beforeAll(async () => {
        bound = await startNonceServer()
        await add({
          id: 'bound',
          oauth2: oauth2For(bound.as, {
            token_request: { endpoint: `${bound.url}/token`, auth_method: 'client_secret_basic' },
            refresh_request: { endpoint: `${bound.url}/token`, auth_method: 'client_secret_basic' },
            user_info_request: null,
            dpop: { algorithm: 'ES256' },
            api: { base_url: bound.url },
          }),
        })
      })
      afterAll(() => bound?.close())

      /** Kills the process while the server holds the repeat, and starts it again. */
      async function killedAtRepeat(moment: Moment, run: () => Promise<unknown>) {
        bound.received.length = 0
        const held = bound.hold(moment)
        const running = run().catch((error: Error) => error)
        await held.reached
        await installation.nodes[0]?.kill()
        expect(await running).toBeInstanceOf(Error)
        held.release()
        await startAgain()
        expect(bound.received.map(({ isTaken }) => isTaken)).toEqual([false, true])
        expect(new Set(bound.received.map(({ jti }) => jti)).size).toBe(2)
        bound.received.length = 0
      }

      async function connect(user: string, seconds: number): Promise<void> {
        bound.as.behaviour.accessTokenLifetime = seconds
        const flow = await begin('bound', user)
        await click(flow)
        expect(await statusOf(installation, flow.id)).toBe('completed')
        bound.as.behaviour.accessTokenLifetime = 3600
      }

      test.each(['arrived', 'carried out'] as const)(
        'of a code that has %s: it is not sent again, and a new click connects',
        async (moment) => {
          const flow = await begin('bound', `code ${moment}`)
          const callback = await approve(flow)
          await killedAtRepeat(moment, () => flow.browser.get(callback))
          expect(await statusOf(installation, flow.id)).toBe('pending')
          await flow.browser.follow(callback)
          expect(bound.received).toEqual([])
          expect(await connectionsOf('bound', flow.user)).toEqual([])
          await click(flow)
          expect(await statusOf(installation, flow.id)).toBe('completed')
          expect(await proxy('bound', flow.user)).toBe(200)
        },
      )

      test('of a refresh token that has only arrived: it is sent again, with the same key', async () => {
        await connect('refresh arrived', SHORT_SECONDS)
        await killedAtRepeat('arrived', () => callUntilKilled('bound', 'refresh arrived'))
        expect(await proxy('bound', 'refresh arrived')).toBe(200)
        expect(bound.as.tokenRequests('refresh_token').length).toBeGreaterThan(0)
      })

      test('of a refresh token that was carried out, without a grace period: the connection says that it is lost', async () => {
        await connect('refresh carried out', SHORT_SECONDS)
        await killedAtRepeat('carried out', () => callUntilKilled('bound', 'refresh carried out'))
        expect(await proxy('bound', 'refresh carried out')).toBe(403)
        expect(await connectionsOf('bound', 'refresh carried out')).toMatchObject([
          { status: 'needs_authorization', status_reason: 'refresh_outcome_lost' },
        ])
      })
    })

    test('OAuth 1.0a, whose token was not stored: the verifier is not sent again, and a new click connects', async () => {
      await using server = await startOAuth1Server()
      await add({
        id: 'photos',
        type: 'oauth1',
        oauth1: {
          client_id: server.clientId,
          client_secret: server.clientSecret,
          temporary_request: { endpoint: `${server.url}/temporary` },
          authorize_request: { endpoint: `${server.url}/authorize` },
          token_request: { endpoint: `${server.url}/token` },
          account: { id: ['$.user_id'], name: ['$.screen_name'] },
          api: { base_url: server.url },
        },
      })
      const flow = await begin('photos', 'ada')
      const callback = await approve(flow)
      await killAt({ when: 'before', statement: NEW_CONNECTION }, () => flow.browser.get(callback))
      expect(server.issued).toHaveLength(1)
      expect(await statusOf(installation, flow.id)).toBe('pending')
      await flow.browser.follow(callback)
      expect(server.issued).toHaveLength(1)
      expect(server.refused).toEqual([])
      expect(await connectionsOf('photos', 'ada')).toEqual([])
      await click(flow)
      expect(await statusOf(installation, flow.id)).toBe('completed')
      expect(await proxy('photos', 'ada')).toBe(200)
    })

    describe('credentials', () => {
      const KEY = 'key-0123456789abcdef'
      const type = async ({ browser, url }: Flow, values: Readonly<Record<string, string>>) => {
        const typed = Object.entries(values).map(([name, value]) => [`value.${name}`, value])
        return browser.submitForm(await browser.get(url), Object.fromEntries(typed))
      }

      test('that were checked and not stored: the link asks for them again', async () => {
        await using service = await startFakeKeyService(KEY)
        await add({
          id: 'desk',
          type: 'credentials',
          credentials: {
            fields: { api_key: { label: 'API key', secret: true } },
            place: { bearer: '{{api_key}}' },
            test_request: { endpoint: `${service.url}/bearer/me` },
            account: { id: ['$.id'] },
            api: { base_url: `${service.url}/bearer` },
          },
        })
        const flow = await begin('desk', 'ada')
        await killAt({ when: 'before', statement: NEW_CONNECTION }, () => type(flow, { api_key: KEY }))
        expect(service.requests).toHaveLength(1)
        expect(await statusOf(installation, flow.id)).toBe('pending')
        expect(await connectionsOf('desk', 'ada')).toEqual([])
        await type(flow, { api_key: KEY })
        expect(await statusOf(installation, flow.id)).toBe('completed')
        expect(await proxy('desk', 'ada')).toBe(200)
      })

      test('of a login whose new token was not stored: the login is sent again', async () => {
        await using service = await startFakeKeyService(KEY)
        service.tokenLife = SHORT_SECONDS
        await add({
          id: 'session',
          type: 'credentials',
          credentials: {
            fields: {
              user: { label: 'User' },
              password: { label: 'Password', secret: true },
            },
            place: { bearer: '{{access_token}}' },
            token_request: {
              endpoint: `${service.url}/login`,
              request_content_type: 'application/json',
              params: { user: '{{user}}', password: '{{password}}' },
              response_map: { access_token: '$.token', expires_in: '$.expires_in' },
            },
            test_request: { endpoint: `${service.url}/session/me` },
            account: { id: ['$.id'] },
            api: { base_url: `${service.url}/session` },
          },
        })
        const flow = await begin('session', 'ada')
        await type(flow, { user: 'ada', password: KEY })
        expect(await statusOf(installation, flow.id)).toBe('completed')
        service.tokenLife = 3600
        const logins = () => service.requests.filter(({ path }) => path === '/login').length
        await killAt({ when: 'before', statement: REFRESHED }, () => callUntilKilled('session', 'ada'))
        expect(logins()).toBe(2)
        expect(await proxy('session', 'ada')).toBe(200)
        expect(logins()).toBe(3)
        expect(await connectionsOf('session', 'ada')).toMatchObject([{ status: 'active' }])
      })
    })

    describe('a device code', () => {
      const polls = (server: Awaited<ReturnType<typeof startFakeDeviceServer>>) =>
        server.polls.filter(({ grant_type: type }) => type === DEVICE_CODE).length

      async function startDevice(id: string) {
        const server = await startFakeDeviceServer({ code: { interval: 1 } })
        await add({ id, oauth2: server.oauth2() })
        return server
      }

      async function confirm({ browser, url, id }: Flow): Promise<void> {
        await until(async () => (await browser.get(url)).body.includes('Is this your account?'))
        await browser.submitForm(await browser.get(url))
        expect(await statusOf(installation, id)).toBe('completed')
      }

      test('whose poll was claimed and not sent: another process goes on', async () => {
        const server = await startDevice('tv')
        const flow = await begin('tv', 'ada')
        const armed = await installation.nodes[0]?.armed({ when: 'after', statement: POLLED })
        await click(flow).catch(() => {})
        await armed?.killed
        expect(polls(server)).toBe(0)
        await startAgain()
        await until(() => polls(server) > 0)
        server.settings.answers = ['approved']
        await confirm(flow)
        expect(await connectionsOf('tv', 'ada')).toMatchObject([{ status: 'active' }])
        await server.close()
      })

      test('whose tokens were not stored: nothing is stored, and the link starts again', async () => {
        const server = await startDevice('box')
        const flow = await begin('box', 'ada')
        const armed = await installation.nodes[0]?.armed({ when: 'before', statement: GRANT_HELD })
        server.settings.answers = ['approved', { error: 'invalid_grant' }]
        await click(flow)
        await armed?.killed
        await startAgain()
        await until(async () => (await statusOf(installation, flow.id)) === 'failed')
        expect(await connectionsOf('box', 'ada')).toEqual([])
        server.settings.answers = ['approved']
        const again = await begin('box', 'ada')
        await click(again)
        await confirm(again)
        await server.close()
      })
    })
  })
}

type Moment = 'arrived' | 'carried out'

/**
 * In front of an authorization server with rotating refresh tokens: a token endpoint that demands a new nonce in each
 * proof (RFC 9449 section 8), and an API that takes a token with a proof by the key to which it was given.
 */
async function startNonceServer() {
  const as = await startFakeAuthorizationServer({
    refresh: 'rotate-strict',
    tokenMembers: { token_type: 'DPoP' },
  })
  const nonces = new Set<string>()
  const keys = new Map<string, string>()
  const received: { readonly isTaken: boolean; readonly jti: unknown }[] = []
  let made = 0
  let pause: { readonly at: Moment; reached(): void; readonly released: Promise<void> } | undefined

  /** Returns whether the request was held. */
  async function reach(moment: Moment): Promise<boolean> {
    if (pause?.at !== moment) return false
    const { reached, released } = pause
    pause = undefined
    reached()
    await released
    return true
  }

  const server = await listen(async (req, res) => {
    const request = await record(req)
    const proof = String(request.headers.dpop)
    const key = await calculateJwkThumbprint(decodeProtectedHeader(proof).jwk as JWK)
    if (request.path !== '/token') {
      const token = request.headers.authorization?.replace('DPoP ', '') ?? ''
      const isTaken = as.isLive(token) && keys.get(token) === key
      return answerJson(res, isTaken ? 200 : 401, {})
    }
    const { nonce, jti } = decodeJwt(proof)
    const isTaken = nonces.delete(String(nonce))
    received.push({ isTaken, jti })
    if (!isTaken) {
      const next = `n-${++made}`
      nonces.add(next)
      return answerJson(res, 400, { error: 'use_dpop_nonce' }, { 'dpop-nonce': next })
    }
    if (await reach('arrived')) return // its client was killed before the request was carried out
    const answer = await fetch(as.tokenUrl, {
      method: 'POST',
      headers: {
        authorization: request.headers.authorization ?? '',
        'content-type': request.headers['content-type'] ?? '',
      },
      body: request.body,
    })
    const body = (await answer.json()) as { access_token?: string }
    if (body.access_token !== undefined) keys.set(body.access_token, key)
    await reach('carried out')
    return answerJson(res, answer.status, body)
  })
  return {
    url: server.url,
    as,
    received,
    /** Holds the next request with a right nonce at this moment, until it is released. */
    hold(at: Moment) {
      const reached = Promise.withResolvers<void>()
      const released = Promise.withResolvers<void>()
      pause = { at, reached: reached.resolve, released: released.promise }
      return { reached: reached.promise, release: released.resolve }
    },
    async close() {
      await server.close()
      await as.close()
    },
  }
}
