import Database from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import type { WorkerTool } from '../fake-worker.ts'
import { providerBody, startWorld, type World } from '../http/world.ts'
import { answerJson, listen } from '../loopback.ts'
import { startPostgres } from '../postgres.ts'

// Tools and policies while the database cannot be reached, or refuses audit entries.

const PATIENCE = { timeout: 300_000, interval: 100 }

test('runs that end while the database is stopped: their callers are answered, and the results are stored later', async () => {
  await using cluster = await startPostgres()
  const ending = Promise.withResolvers<void>()
  const held: WorkerTool = {
    name: 'Held',
    description: 'Ends when the test says so.',
    async run() {
      await ending.promise
      return { value: 'done' }
    },
  }
  await using world = await startWorld({
    gatepass: { environment: { GATEPASS_DATABASE_URL: cluster.url } },
    worker: { tools: [held] },
    timeoutSeconds: 60,
  })
  const { call, worker } = world
  const run = call('POST', '/v1/tools/run', { toolId: 'Demo:Held', keep_content: true })
  const { body } = await call('POST', '/v1/tools/execute', {
    tool_name: 'Demo.Held',
    run_at: '2020-01-01T00:00:00',
  })
  await expect.poll(() => worker.invocations.length, PATIENCE).toBe(2)

  await cluster.stop()
  ending.resolve()
  const ran = await run
  expect([ran.status, ran.body.structured]).toEqual([200, 'done'])
  // the writes at the end of both runs have failed by then
  const failures = () => world.gatepass.logLines.filter((line) => line.includes('a background job failed'))
  await expect.poll(() => failures().length, PATIENCE).toBeGreaterThanOrEqual(4)
  await cluster.start()

  const look = async (path: string) => (await call('GET', path)).body
  await expect
    .poll(async () => (await look(`/v1/scheduled_tools/${body.execution_id}`)).execution_status, PATIENCE)
    .toBe('completed')
  expect((await look(`/v1/scheduled_tools/${body.execution_id}`)).attempts).toMatchObject([
    { success: true, output: { value: 'done' } },
  ])
  await expect
    .poll(async () => (await look(`/v1/executions/${ran.body.executionId}`)).outcome, PATIENCE)
    .toBe('value')
  expect(worker.invocations).toHaveLength(2)
  expect(world.gatepass.logLines.join('\n')).not.toContain('internal_error')
})

describe('while the audit trail takes no entries, no token is released and no tool is run', () => {
  /** Makes every audit entry fail until it is disposed of. */
  function withoutAudit({ gatepass }: World): Disposable {
    const client = new Database(gatepass.databasePath)
    client.exec("create trigger away before insert on audit_blocks begin select raise(abort, 'away'); end")
    return {
      [Symbol.dispose]() {
        client.exec('drop trigger away')
        client.close()
      },
    }
  }

  const RULES = [
    ['a rule refuses', { effect: 'deny' }, 'denied_by_policy', 'CONTEXT_DENIED'],
    ['a hook refuses', { effect: 'hook', says: 'NO' }, 'denied_by_policy', 'CONTEXT_DENIED'],
    ['a hook gives no answer', { effect: 'hook' }, 'policy_check_failed', 'CONTEXT_CHECK_FAILED'],
    ['a hook agrees', { effect: 'hook', says: 'OK' }, undefined, undefined],
    ['there is no rule', {}, undefined, undefined],
  ] as const

  test.each<(typeof RULES)[number]>(RULES)('when %s', async (_, rule, code, kind) => {
    await using world = await startWorld()
    const { call, worker, as } = world
    const reached: string[] = []
    const api = await listen((req, res) => {
      reached.push(req.url ?? '')
      answerJson(res, 200, 'the API')
    })
    const hook = await listen((_, res) => {
      answerJson(res, 200, 'says' in rule ? { code: rule.says } : {})
    })
    try {
      const { oauth2, ...entry } = providerBody('demo', as)
      const known = { base_url: api.url, hosts: [new URL(api.url).host] }
      await call('PATCH', '/v1/admin/auth_providers/demo', { ...entry, oauth2: { ...oauth2, api: known } })
      const token = await world.connect('ada')
      const [connection] = (await call('GET', '/v1/connections?user_id=ada')).body.items
      if ('effect' in rule) {
        const { effect } = rule
        const ask = effect === 'hook' && { hook: { url: hook.url, on_failure: 'deny' } }
        const made = await call('POST', '/v1/admin/policies', { id: 'rule', effect, match: {}, ...ask })
        expect(made.status, JSON.stringify(made.body)).toBe(201)
      }
      const headers = { 'x-gatepass-user': 'ada' }
      const ways = {
        token: () => call('POST', `/v1/connections/${connection.id}/token`),
        tool: () => call('POST', '/v1/tools/run', { toolId: 'Demo:WhoAmI', user_id: 'ada' }),
        proxy: () => call('GET', '/proxy/demo/me', undefined, { headers }),
        execute: () => world.execute('Demo.WhoAmI', { user_id: 'ada' }),
      }
      {
        using _ = withoutAudit(world)
        for (const [way, ask] of Object.entries(ways)) {
          const refused = await ask()
          expect([refused.status, refused.body.name], way).toEqual([503, 'store_unavailable'])
          expect(JSON.stringify(refused.body)).not.toContain(token)
        }
      }
      expect([worker.invocations.length, reached]).toEqual([0, []])

      const after = await ways.token()
      const tool = await ways.tool()
      if (code === undefined) {
        expect([after.body.access_token, tool.body.error]).toEqual([token, undefined])
        expect((await ways.proxy()).body).toBe('the API')
        return
      }
      expect(after.body.name).toBe(code)
      expect(tool.body.error).toMatchObject({ kind })
      const { body } = await call('GET', '/v1/admin/audit?action=policy.refused&limit=100')
      expect(body.items).toHaveLength(2)
    } finally {
      await Promise.all([api.close(), hook.close()])
    }
  })
})
