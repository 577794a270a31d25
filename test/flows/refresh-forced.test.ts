import { describe, expect, test } from 'vitest'
import { startFakeWorker, type WorkerOutput, type WorkerTool } from '../fake-worker.ts'
import { gate } from '../gate.ts'
import { startGatepass } from '../gatepass.ts'
import { WORKER_SECRET } from '../http/world.ts'
import { click, type Scene, type SceneOptions, startScene } from './fixtures.ts'
import { asked, connection, LIFE, row, token } from './refresh-fixtures.ts'

/** `null`: no body. */
const forced = async (scene: Scene, body: object | null = { force_refresh: true }) =>
  scene.call('POST', `/v1/connections/${(await connection(scene)).id}/token`, body ?? undefined)

describe('R9: force_refresh', () => {
  test('refreshes a token that should still live, once in ten seconds', async () => {
    await using scene = await startScene({ as: { refresh: 'rotate-strict' } })
    const old = (await scene.connect()).body.context.token
    scene.clock.advance(60)
    const first = (await forced(scene)).body.access_token
    expect(first).not.toBe(old)
    for (let seconds = 0; seconds < 10; seconds++) {
      expect((await forced(scene)).body.access_token).toBe(first)
      scene.clock.advance(1)
    }
    expect(asked(scene)).toBe(1)
    expect((await forced(scene)).body.access_token).not.toBe(first)
    expect(asked(scene)).toBe(2)
  })

  test('by many at once is one request, and a token from just now is left alone', async () => {
    await using scene = await startScene({ as: { refresh: 'rotate-strict', refreshDelayMs: 30 } })
    const old = (await scene.connect()).body.context.token
    expect((await forced(scene)).body.access_token).toBe(old)
    scene.clock.advance(60)
    const answers = await Promise.all(Array.from({ length: 40 }, () => forced(scene)))
    expect(new Set(answers.map(({ body }) => body.access_token)).size).toBe(1)
    expect(asked(scene)).toBe(1)
    expect(scene.as.familyRevoked).toBe(false)
  })

  test('by two servers at once is one request too', async () => {
    await using scene = await startScene({ as: { refresh: 'rotate-strict', refreshDelayMs: 50 } })
    await using second = await startGatepass({ now: scene.clock, databasePath: scene.gatepass.databasePath })
    await scene.connect()
    scene.clock.advance(60)
    const path = `/v1/connections/${(await connection(scene)).id}/token`
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        (i % 2 === 0 ? scene.gatepass : second).call('POST', path, { force_refresh: true }),
      ),
    )
    expect(new Set(answers.map(({ body }) => body.access_token)).size).toBe(1)
    expect(asked(scene)).toBe(1)
  })

  test.each([null, {}, { force_refresh: false }])('is not meant by the body %j', async (body) => {
    await using scene = await startScene()
    const old = (await scene.connect()).body.context.token
    scene.clock.advance(60)
    expect((await forced(scene, body)).body.access_token).toBe(old)
    expect(asked(scene)).toBe(0)
  })

  test('of a body that is not as it should be is refused', async () => {
    await using scene = await startScene()
    await scene.connect()
    expect((await forced(scene, { force_refresh: 'yes' })).status).toBe(400)
    const { id } = await connection(scene)
    const text = await fetch(new URL(`/v1/connections/${id}/token`, scene.gatepass.url), {
      method: 'POST',
      headers: { authorization: `Bearer ${scene.gatepass.apiKey}` },
      body: 'force_refresh=true',
    })
    expect(text.status).toBe(415)
  })

  test('while the provider is down answers so, and does not ask again at once', async () => {
    await using scene = await startScene({ as: { refresh: 'html-500' } })
    const old = (await scene.connect()).body.context.token
    scene.clock.advance(60)
    const answer = await forced(scene)
    expect(answer).toMatchObject({ status: 503, body: { name: 'provider_unavailable' } })
    expect(Number(answer.headers.get('retry-after'))).toBe(10)
    scene.clock.advance(9)
    expect((await forced(scene)).status).toBe(503)
    expect(asked(scene)).toBe(1)
    expect(await token(scene)).toBe(old)
  })

  test('that fails leaves the token to a fetch that came during it, and whose token no API refused', async () => {
    await using scene = await startScene({ as: { refresh: 'html-500' } })
    const old = (await scene.connect()).body.context.token
    scene.clock.advance(LIFE - 50)
    const { opened, open } = gate()
    scene.as.behaviour.onRefresh = (moment) => (moment === 'arrived' ? opened : undefined)
    const refused = forced(scene)
    await expect.poll(() => asked(scene)).toBe(1)
    const fetched = token(scene)
    await new Promise((resolve) => setTimeout(resolve, 100))
    open()
    expect((await refused).status).toBe(503)
    expect(await fetched).toBe(old)
    expect(asked(scene)).toBe(1)
  })

  test('that is refused asks for a new consent', async () => {
    await using scene = await startScene({ as: { refresh: 'refuse' } })
    await scene.connect()
    scene.clock.advance(60)
    expect(await forced(scene)).toMatchObject({ status: 403, body: { name: 'authorization_required' } })
    expect(await connection(scene)).toMatchObject({ status_reason: 'refresh_refused' })
  })

  test('asks again what was refused while the token seemed to live', async () => {
    await using scene = await startScene({ as: { refresh: 'refuse' } })
    const old = (await scene.connect()).body.context.token
    scene.clock.advance(LIFE - 50)
    expect(await token(scene)).toBe(old)
    expect((await forced(scene)).status).toBe(403)
    expect(asked(scene)).toBe(2)
  })

  test('where there is nothing to refresh with answers the token there is', async () => {
    await using scene = await startScene({ as: { omitRefreshToken: true } })
    const old = (await scene.connect()).body.context.token
    scene.clock.advance(60)
    expect((await forced(scene)).body.access_token).toBe(old)
  })
})

const UNAUTHORIZED = {
  message: 'The API answered 401.',
  kind: 'UPSTREAM_RUNTIME_AUTH_ERROR',
  can_retry: false,
  status_code: 401,
}

describe('R9: a tool whose token is refused by the provider', () => {
  async function withTool(
    { behavior, error = UNAUTHORIZED }: { behavior?: Record<string, boolean>; error?: object } = {},
    options: SceneOptions = {},
  ) {
    const scene = await startScene(options)
    const given: string[] = []
    const accepts = { all: false }
    const tool: WorkerTool = {
      name: 'Post',
      description: 'Posts.',
      authorization: { id: 'demo', scopes: ['read'] },
      ...(behavior && { behavior }),
      async run(_, { authorization }): Promise<WorkerOutput> {
        const token = authorization?.token ?? ''
        given.push(token)
        if (accepts.all || scene.as.isLive(token)) return { value: { posted: true, token } }
        return { error: { ...error } }
      },
    }
    const worker = await startFakeWorker({ secret: WORKER_SECRET, tools: [tool] })
    const http = { uri: worker.url, secret: WORKER_SECRET, timeout: 60, retry: 0 }
    await scene.call('POST', '/v1/workers', { id: 'demo', http })
    if (options.oauth2 === false) {
      const { clientId: client_id, clientSecret: client_secret, url: issuer } = scene.as
      await scene.call('POST', '/v1/admin/auth_providers', {
        id: 'demo',
        oauth2: { client_id, client_secret, issuer },
      })
    }
    await click((await scene.authorize()).body.url)
    const execute = async () =>
      (
        await scene.call(
          'POST',
          '/v1/tools/execute',
          { tool_name: 'Demo.Post', user_id: 'u1' },
          { headers: { 'x-stainless-lang': 'js' } },
        )
      ).body
    return {
      scene,
      given,
      accepts,
      worker,
      execute,
      async [Symbol.asyncDispose]() {
        await worker.close()
        await scene[Symbol.asyncDispose]()
      },
    }
  }

  test.each([{ read_only: true }, { idempotent: true }])(
    'and that is declared %j runs again with a new one, and nobody notices',
    async (behavior) => {
      await using run = await withTool({ behavior }, { as: { refresh: 'rotate-strict' } })
      const { scene, given } = run
      scene.clock.advance(60)
      scene.as.expireAccessTokens()
      const { success, output } = await run.execute()
      expect({ success, output }).toMatchObject({ success: true, output: { value: { posted: true } } })
      expect(given).toHaveLength(2)
      expect(given[1]).not.toBe(given[0])
      expect(JSON.stringify(output)).not.toContain(given[1])
      expect(asked(scene)).toBe(1)
    },
  )

  test('runs again with a token of the endpoint that the issuer of an entry names now', async () => {
    await using run = await withTool({ behavior: { idempotent: true } }, { oauth2: false })
    const { scene, given } = run
    scene.as.behaviour.metadata = { token_endpoint: `${scene.as.url}/elsewhere` }
    scene.clock.advance(LIFE / 2)
    scene.as.expireAccessTokens()
    expect(await run.execute()).toMatchObject({ success: true })
    expect(given).toHaveLength(2)
    expect(scene.as.requestsTo('/elsewhere')).toHaveLength(1)
  })

  test('runs again when it says that nothing was done', async () => {
    await using run = await withTool({ error: { ...UNAUTHORIZED, can_retry: true } })
    run.scene.clock.advance(60)
    run.scene.as.expireAccessTokens()
    expect(await run.execute()).toMatchObject({ success: true })
    expect(run.given).toHaveLength(2)
  })

  test('and that may have done something is not run again: it answers that it may be called again', async () => {
    await using run = await withTool({ behavior: { read_only: false } })
    run.scene.clock.advance(60)
    run.scene.as.expireAccessTokens()
    expect(await run.execute()).toMatchObject({
      success: false,
      output: { error: { kind: 'UPSTREAM_RUNTIME_AUTH_ERROR', status_code: 401, can_retry: true } },
    })
    expect(run.given).toHaveLength(1)
    expect(asked(run.scene)).toBe(1)
    expect(await run.execute()).toMatchObject({ success: true })
  })

  test.each([
    ['a status alone', { message: 'No.', kind: 'UNKNOWN', can_retry: false, status_code: 401 }, 1],
    ['a kind alone', { message: 'No.', kind: 'UPSTREAM_RUNTIME_AUTH_ERROR', can_retry: false }, 1],
    ['403', { ...UNAUTHORIZED, status_code: 403 }, 0],
    ['another error', { ...UNAUTHORIZED, kind: 'TOOL_RUNTIME_FATAL', status_code: 500 }, 0],
  ])('is known by %s', async (_, error, refreshes) => {
    await using run = await withTool({ error })
    run.scene.clock.advance(60)
    run.scene.as.expireAccessTokens()
    await run.execute()
    expect(asked(run.scene)).toBe(refreshes)
  })

  test('and the refresh too: the user is asked', async () => {
    await using run = await withTool({ behavior: { read_only: true } })
    run.scene.clock.advance(60)
    run.scene.as.revokeGrants()
    expect(await run.execute()).toMatchObject({
      output: { authorization: { status: 'pending', url: expect.stringContaining('/connect/') } },
    })
    expect(await connection(run.scene)).toMatchObject({ status_reason: 'refresh_refused' })
    expect(run.given).toHaveLength(1)
  })

  test('whatever it is given makes no storm', async () => {
    await using run = await withTool({ behavior: { read_only: true } })
    run.scene.clock.advance(60)
    const { isLive } = run.scene.as
    Object.assign(run.scene.as, { isLive: () => false })
    for (let i = 0; i < 10; i++) {
      expect(await run.execute()).toMatchObject({ success: false })
      run.scene.clock.advance(1)
    }
    Object.assign(run.scene.as, { isLive })
    expect(asked(run.scene)).toBe(1)
    expect(run.given).toHaveLength(11)
    expect((await row(run.scene)).status).toBe('active')
  })

  test('while the provider is down gets its own error, and the connection stays', async () => {
    await using run = await withTool({ behavior: { read_only: true } })
    run.scene.clock.advance(60)
    run.scene.as.expireAccessTokens()
    run.scene.as.behaviour.refresh = 'html-500'
    expect(await run.execute()).toMatchObject({ output: { error: { ...UNAUTHORIZED } } })
    expect(run.given).toHaveLength(1)
    expect((await row(run.scene)).status).toBe('active')
  })

  test('is not one whose worker does not take the token of this broker', async () => {
    await using run = await withTool({ behavior: { read_only: true } })
    run.scene.clock.advance(60)
    run.worker.behaviour.rejectJwt = true
    expect(await run.execute()).toMatchObject({ output: { error: { kind: 'UPSTREAM_RUNTIME_AUTH_ERROR' } } })
    expect(asked(run.scene)).toBe(0)
  })

  test('which a refresh ends at once (Airtable), is run with the new one', async () => {
    await using run = await withTool(
      { behavior: { read_only: true } },
      { as: { refresh: 'rotate', refreshKillsAccessTokens: true } },
    )
    const { scene, given } = run
    await run.execute()
    scene.clock.advance(60)
    // another process's refresh has just ended the token that this run was given
    const tool = run.worker.tools[0] as WorkerTool
    const original = tool.run
    let isFirst = true
    Object.assign(tool, {
      run: async (...args: Parameters<WorkerTool['run']>) => {
        if (isFirst) await forced(scene)
        isFirst = false
        return original(...args)
      },
    })
    expect(await run.execute()).toMatchObject({ success: true })
    expect(given).toHaveLength(3)
    expect(asked(scene)).toBe(1)
  })
})
