import { fileURLToPath } from 'node:url'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type FakeAuthorizationServer, startFakeAuthorizationServer } from '../fake-authorization-server.ts'
import { toolMetadata } from '../fixtures.ts'
import { addProvider, approve, authorize, oauth2For } from '../flows/fixtures.ts'
import { type Answer, type Gatepass, startGatepass } from '../gatepass.ts'
import { type FreshDatabase, freshDatabase, runSql } from '../postgres.ts'
import { until } from '../until.ts'
import { UserAgent } from '../user-agent.ts'
import { type DatabaseKind, report } from './installation.ts'

// R11, R13: a trigger fails one kind of write, and no other. The request that needed the write is answered 503 and
// has added and deleted no row; after the trigger is dropped, the same request succeeds.

const LIFE_SECONDS = 3600
const TOOLS = fileURLToPath(new URL('../fixtures/run-tools.ts', import.meta.url))

/** The writes that a trigger fails: of every row of the table, or of the rows for which `when` holds. */
interface Fault {
  readonly table: string
  readonly event: 'insert' | 'update' | 'delete'
  readonly when?: string
}

interface Case extends Fault {
  readonly name: string
  /** The status of the same request after the trigger is dropped. */
  readonly status: number
  readonly prepare?: () => Promise<unknown>
  readonly run: () => Promise<Pick<Answer, 'status' | 'body'>>
}

export function failingWrites(kind: DatabaseKind): void {
  describe(`on ${kind}`, () => {
    let as: FakeAuthorizationServer
    let gatepass: Gatepass
    let database: FreshDatabase | undefined
    const counts = { failed: 0, withStableCode: 0, leftSomething: 0, wellAfterwards: 0 }

    beforeAll(async () => {
      as = await startFakeAuthorizationServer({ refresh: 'rotate-strict', accessTokenLifetime: LIFE_SECONDS })
      if (kind === 'PostgreSQL') database = await freshDatabase()
      gatepass = await startGatepass({
        environment: {
          GATEPASS_AUTHORIZATION_TTL: '600',
          GATEPASS_TOOLS: TOOLS,
          ...(database && { GATEPASS_DATABASE_URL: database.url }),
        },
      })
      await addProvider(gatepass, as)
      if (database)
        await runSql(
          database.url,
          "create function fault() returns trigger language plpgsql as $$ begin raise exception 'a fault' using errcode = '53100'; end $$",
        )
    })

    afterAll(async () => {
      report(`one write fails, ${kind}`, {
        'writes that failed': counts.failed,
        'answered 503 store_unavailable': counts.withStableCode,
        'left something behind': counts.leftSomething,
        'went well afterwards': counts.wellAfterwards,
      })
      await gatepass?.close()
      await database?.[Symbol.asyncDispose]()
      await as?.close()
    })

    async function sql(text: string): Promise<readonly Record<string, unknown>[]> {
      if (database) return (await runSql(database.url, text)).rows
      const client = new Database(gatepass.databasePath)
      try {
        client.pragma('busy_timeout = 5000')
        if (/^select/i.test(text)) return client.prepare<[], Record<string, unknown>>(text).all()
        client.exec(text)
        return []
      } finally {
        client.close()
      }
    }

    let triggers = 0
    /** Creates the trigger; disposing of the result drops it. */
    async function failing({ table, event, when }: Fault): Promise<AsyncDisposable> {
      const name = `fault_${triggers++}`
      const condition = when === undefined ? '' : `when (${when})`
      await sql(
        kind === 'SQLite'
          ? `create trigger ${name} before ${event} on ${table} for each row ${condition} begin select raise(abort, 'a fault'); end`
          : `create trigger ${name} before ${event} on ${table} for each row ${condition} execute function fault()`,
      )
      return {
        async [Symbol.asyncDispose]() {
          await sql(kind === 'SQLite' ? `drop trigger ${name}` : `drop trigger ${name} on ${table}`)
        },
      }
    }

    const TABLES = [
      'projects',
      'api_keys',
      'providers',
      'authorizations',
      'connections',
      'tools',
      'tool_aliases',
      'workers',
      'secrets',
      'policies',
      'chains',
      'paused_code',
      'audit_blocks',
    ]

    async function rows(): Promise<Record<string, unknown>> {
      const counted = await sql(
        `select ${TABLES.map((table) => `(select count(*) from ${table}) as ${table}`).join(', ')}`,
      )
      return counted[0] ?? {}
    }

    const call = (...args: Parameters<Gatepass['call']>) => gatepass.call(...args)

    async function connect(user: string): Promise<string> {
      const { body } = await authorize(gatepass, { user_id: user })
      const browser = new UserAgent()
      await browser.submitForm(await browser.get(body.url))
      return (await call('GET', `/v1/connections?user_id=${user}`)).body.items[0].id
    }

    let connectionId = ''
    let users = 0
    const prepareConnection = async () => {
      connectionId = await connect(`user-${users++}`)
    }
    const fetchToken = () => call('POST', `/v1/connections/${connectionId}/token`)
    const key = (n: number) => `key_of_secret_${n}`
    const setSecret = () => call('POST', `/v1/admin/secrets/${key(1)}`, { value: 'a value' })
    const makeKey = () =>
      gatepass.makeKey('caller').then(
        () => ({ status: 200, body: {} }),
        (error) => ({ status: 503, body: { name: error.code } }),
      )
    const worker = {
      id: 'w1',
      http: { uri: 'http://127.0.0.1:9/', secret: 'a worker secret', timeout: 60, retry: 0 },
    }

    const policy = { id: 'rule', effect: 'deny', match: { users: ['unknown'] } }
    let scheduledId = ''
    const schedule = async () => {
      const run_at = new Date(Date.now() + 3_600_000).toISOString()
      const answer = await call('POST', '/v1/tools/execute', { tool_name: 'Run.Count', run_at })
      scheduledId = answer.body.execution_id ?? scheduledId
      return answer
    }
    let resume = ''
    const pauseChain = async (...finished: readonly string[]) => {
      const steps = [...finished, 'Run:Acts'].map((toolId) => ({ toolId }))
      const answer = await call('POST', '/v1/tools/run_chain', { user_id: 'chained', steps })
      resume = answer.body.resume ?? resume
      return answer
    }

    const CASES: readonly Case[] = [
      {
        name: 'a provider is added',
        table: 'providers',
        event: 'insert',
        status: 201,
        run: () => call('POST', '/v1/admin/auth_providers', { id: 'second', oauth2: oauth2For(as) }),
      },
      {
        name: 'a provider is changed',
        table: 'providers',
        event: 'update',
        status: 200,
        run: () => call('PATCH', '/v1/admin/auth_providers/second', { description: 'another' }),
      },
      {
        name: 'a provider is deleted',
        table: 'providers',
        event: 'delete',
        status: 200,
        run: () => call('DELETE', '/v1/admin/auth_providers/second'),
      },
      {
        name: 'a tool is imported',
        table: 'tools',
        event: 'insert',
        status: 200,
        run: () => call('POST', '/v1/tools/import', toolMetadata({ ...as, clientId: 'imported' })),
      },
      {
        name: 'a tool is imported, its aliases',
        table: 'tool_aliases',
        event: 'insert',
        status: 200,
        run: () =>
          call('POST', '/v1/tools/import', {
            ...toolMetadata({ ...as, clientId: 'third' }),
            name: 'Another',
          }),
      },
      {
        name: 'a worker is added',
        table: 'workers',
        event: 'insert',
        status: 201,
        run: () => call('POST', '/v1/workers', worker),
      },
      {
        name: 'a worker is changed',
        table: 'workers',
        event: 'update',
        status: 200,
        run: () => call('PATCH', '/v1/workers/w1', { http: { timeout: 6 } }),
      },
      {
        name: 'a worker is deleted',
        table: 'workers',
        event: 'delete',
        status: 204,
        run: () => call('DELETE', '/v1/workers/w1'),
      },
      {
        name: 'a policy is added',
        table: 'policies',
        event: 'insert',
        status: 201,
        run: () => call('POST', '/v1/admin/policies', policy),
      },
      {
        name: 'a policy is changed',
        table: 'policies',
        event: 'update',
        status: 200,
        run: () => call('PATCH', '/v1/admin/policies/rule', { enabled: false }),
      },
      {
        name: 'a policy is deleted',
        table: 'policies',
        event: 'delete',
        status: 204,
        run: () => call('DELETE', '/v1/admin/policies/rule'),
      },
      { name: 'a run is scheduled', table: 'executions', event: 'insert', status: 200, run: schedule },
      {
        name: 'a scheduled run is cancelled',
        table: 'executions',
        event: 'update',
        status: 200,
        run: () => call('DELETE', `/v1/scheduled_tools/${scheduledId}`),
      },
      {
        name: 'a chain is paused',
        table: 'chains',
        event: 'insert',
        status: 200,
        prepare: () => call('POST', '/v1/tools/authorize', { tool_name: 'Run.Acts', user_id: 'chained' }),
        run: () => pauseChain(),
      },
      {
        name: 'a chain is resumed',
        table: 'chains',
        event: 'delete',
        status: 200,
        run: () => call('POST', '/v1/tools/run_chain', { user_id: 'chained', resume }),
      },
      { name: 'a secret is set', table: 'secrets', event: 'insert', status: 200, run: setSecret },
      { name: 'a secret is changed', table: 'secrets', event: 'update', status: 200, run: setSecret },
      { name: 'an API key is made', table: 'api_keys', event: 'insert', status: 200, run: makeKey },
      {
        name: 'an authorization is begun',
        table: 'authorizations',
        event: 'insert',
        status: 200,
        run: () => authorize(gatepass, { user_id: 'begins' }),
      },
      {
        name: 'a token is released',
        table: 'audit_blocks',
        event: 'insert',
        status: 200,
        prepare: prepareConnection,
        run: fetchToken,
      },
      {
        name: 'a connection is deleted, its audit entry',
        table: 'audit_blocks',
        event: 'insert',
        status: 200,
        prepare: prepareConnection,
        run: () => call('DELETE', `/v1/connections/${connectionId}`),
      },
      {
        name: 'a connection is deleted',
        table: 'connections',
        event: 'delete',
        status: 200,
        prepare: prepareConnection,
        run: () => call('DELETE', `/v1/connections/${connectionId}`),
      },
      {
        name: 'a connection is made the default',
        table: 'connections',
        event: 'update',
        when: 'new.is_default',
        status: 200,
        prepare: prepareConnection,
        run: () => call('PATCH', `/v1/connections/${connectionId}`, { default: true }),
      },
      {
        name: 'a refresh begins: its intent cannot be written, so the refresh token is not sent',
        table: 'connections',
        event: 'update',
        when: 'new.unanswered_refreshes > old.unanswered_refreshes',
        status: 200,
        prepare: async () => {
          as.behaviour.accessTokenLifetime = 0.5
          as.behaviour.tokenMembers = { expires_in: 1 }
          await prepareConnection()
          await new Promise((resolve) => setTimeout(resolve, 1_100))
          as.behaviour.accessTokenLifetime = LIFE_SECONDS
          as.behaviour.tokenMembers = {}
        },
        run: fetchToken,
      },
      {
        name: 'an answer to an Idempotency-Key is claimed',
        table: 'answers',
        event: 'insert',
        status: 201,
        run: () =>
          call(
            'POST',
            '/v1/admin/auth_providers',
            { id: 'once', oauth2: oauth2For(as) },
            { headers: { 'idempotency-key': 'one' } },
          ),
      },
    ]

    test.each(CASES)('$name ($event of $table)', async ({ prepare, run, status, ...fault }) => {
      await prepare?.()
      const before = await rows()
      const sent = as.requests.length
      {
        await using _ = await failing(fault)
        counts.failed++
        const answer = await run()
        const after = await rows()
        if (JSON.stringify(after) !== JSON.stringify(before)) counts.leftSomething++
        expect(answer, JSON.stringify(answer.body)).toMatchObject({
          status: 503,
          body: { name: 'store_unavailable' },
        })
        counts.withStableCode++
        expect(after).toEqual(before)
        // the provider was sent no request for a change that could not be stored
        expect(as.requests.length).toBe(sent)
      }
      const well = await run()
      expect(well.status, JSON.stringify(well.body)).toBe(status)
      counts.wellAfterwards++
    })

    test('a chain is paused after a step that has run (insert of chains): the answer has its results, but no handle to resume', async () => {
      {
        await using _ = await failing({ table: 'chains', event: 'insert' })
        const { status, body } = await pauseChain('Run:Count')
        expect([status, body.status, body.resume]).toEqual([200, 'requires_authorization', undefined])
        expect(body.steps).toMatchObject([{ status: 'completed', structured: {} }, { status: 'skipped' }])
      }
      expect((await pauseChain('Run:Count')).body.resume).toMatch(/^chain_/)
    })

    test('readiness (insert of facts): 503 while the probe fails, and 200 again afterwards', async () => {
      const ready = async () => (await call('GET', '/ready')).status
      expect(await ready()).toBe(200)
      {
        await using _i = await failing({ table: 'facts', event: 'insert' })
        await expect.poll(ready).toBe(503)
      }
      await expect.poll(ready).toBe(200)
    })

    describe('a consent', () => {
      const codes = () => as.tokenRequests('authorization_code').length

      async function approved(user: string) {
        const { body } = await authorize(gatepass, { user_id: user })
        return { id: body.id as string, url: body.url as string, ...(await approve(body.url)) }
      }
      const statusOf = async (id: string) => (await call('GET', `/v1/auth/status?id=${id}`)).body.status
      const tokensOf = async (user: string) =>
        (await call('GET', `/v1/connections?user_id=${user}`)).body.total_count
      const lapse = () => sql('update authorizations set deadline = deadline - 60')

      test('whose click cannot be stored (update of authorizations) is answered 503, and works afterwards', async () => {
        const { body } = await authorize(gatepass, { user_id: 'clicks' })
        const browser = new UserAgent()
        const page = await browser.get(body.url)
        {
          await using _ = await failing({ table: 'authorizations', event: 'update' })
          counts.failed++
          const { status, body: shown } = await browser.submitForm(page)
          expect([status, shown]).toEqual([503, expect.stringContaining('Something went wrong')])
          counts.withStableCode++
        }
        await browser.submitForm(await browser.get(body.url))
        expect(await statusOf(body.id)).toBe('completed')
        counts.wellAfterwards++
      })

      test('whose claim cannot be stored does not send its code, and sends it on the next callback', async () => {
        const { id, browser, callback } = await approved('claims')
        const before = codes()
        {
          await using _ = await failing({
            table: 'authorizations',
            event: 'update',
            when: "new.status = 'exchanging'",
          })
          counts.failed++
          expect((await browser.follow(callback)).status).toBe(503)
          counts.withStableCode++
        }
        expect(codes()).toBe(before)
        expect(await statusOf(id)).toBe('pending')
        expect((await browser.follow(callback)).status).toBe(200)
        expect(await statusOf(id)).toBe('completed')
        counts.wellAfterwards++
      })

      test('whose connection cannot be stored leaves no row, revokes its tokens, and lets the user click again', async () => {
        const faults: Readonly<Record<string, Fault>> = {
          'no-connection': { table: 'connections', event: 'insert', when: "new.user_id = 'no-connection'" },
          'no-completion': {
            table: 'authorizations',
            event: 'update',
            when: "new.user_id = 'no-completion' and new.status = 'completed'",
          },
          'no-audit': {
            table: 'audit_blocks',
            event: 'insert',
            when: `new.text like '%"user_id":"no-audit"%'`,
          },
        }
        const users = Object.keys(faults)
        const flows = await Promise.all(users.map(approved))
        const revoked = as.requestsTo('/revoke').length
        const before = await rows()
        {
          await using triggers = new AsyncDisposableStack()
          for (const fault of Object.values(faults)) triggers.use(await failing(fault))
          counts.failed += users.length
          const pages = await Promise.all(flows.map(({ browser, callback }) => browser.follow(callback)))
          expect(pages.map(({ status }) => status)).toEqual([503, 503, 503])
          counts.withStableCode += users.length
        }
        expect(await rows()).toEqual(before)
        for (const user of users) expect(await tokensOf(user)).toBe(0)
        expect(as.requestsTo('/revoke').length).toBeGreaterThanOrEqual(revoked + users.length)
        await lapse()
        for (const { id, url, browser, callback } of flows) {
          expect(await statusOf(id)).toBe('pending')
          const sent = codes()
          await browser.follow(callback)
          expect(codes()).toBe(sent)
          await browser.submitForm(await browser.get(url))
          expect(await statusOf(id)).toBe('completed')
          counts.wellAfterwards++
        }
      })

      test('whose connection cannot be stored at first still completes', async () => {
        const { id, browser, callback } = await approved('waits')
        const sent = codes()
        const fault = await failing({ table: 'connections', event: 'insert' })
        counts.failed++
        let isAnswered = false
        const following = browser.follow(callback).finally(() => {
          isAnswered = true
        })
        const isWaiting = (line: string) =>
          line.includes('a consent waits for the database') && line.includes(id)
        await until(() => isAnswered || gatepass.logLines.some(isWaiting))
        await fault[Symbol.asyncDispose]()
        expect((await following).status).toBe(200)
        expect(await statusOf(id)).toBe('completed')
        expect(codes()).toBe(sent + 1)
        counts.wellAfterwards++
      })

      test('that the user denied, which cannot be stored, stays pending, and fails on the next callback', async () => {
        as.behaviour.consent = 'deny'
        const { id, browser, callback } = await approved('denies')
        as.behaviour.consent = 'approve'
        {
          await using _ = await failing({
            table: 'authorizations',
            event: 'update',
            when: "new.status = 'failed'",
          })
          counts.failed++
          expect((await browser.follow(callback)).status).toBe(503)
          counts.withStableCode++
        }
        expect(await statusOf(id)).toBe('pending')
        await browser.follow(callback)
        expect(await statusOf(id)).toBe('failed')
        counts.wellAfterwards++
      })
    })

    test('rotated tokens that cannot be stored at first are then stored by the same refresh', async () => {
      as.behaviour.accessTokenLifetime = 1
      const id = await connect('rotates')
      await new Promise((resolve) => setTimeout(resolve, 1_100))
      as.behaviour.accessTokenLifetime = LIFE_SECONDS
      const before = as.tokenRequests('refresh_token').length
      const fault = await failing({
        table: 'connections',
        event: 'update',
        when: 'new.generation > old.generation',
      })
      counts.failed++
      const fetching = () => call('POST', `/v1/connections/${id}/token`)
      const writes = vi.spyOn(gatepass.broker.store.connections, 'settleRefresh')
      const asked = fetching()
      await until(() => writes.mock.settledResults.some(({ type }) => type === 'rejected'))
      await fault[Symbol.asyncDispose]()
      let { status, body } = await asked
      // the answer is 503 if the machine stalls for three seconds before the next attempt
      while (status === 503) {
        expect(body.name).toBe('store_unavailable')
        ;({ status, body } = await fetching())
      }
      expect(status, JSON.stringify(body)).toBe(200)
      expect(writes.mock.settledResults.map(({ type }) => type).at(-1)).toBe('fulfilled')
      writes.mockRestore()
      expect(as.isLive(body.access_token)).toBe(true)
      expect(as.tokenRequests('refresh_token')).toHaveLength(before + 1)
      expect(as.refreshReuses).toEqual([])
      counts.wellAfterwards++
    })

    test('none of these failures is logged as an internal error', () => {
      const bugs = gatepass.logLines.filter((line) => line.includes('internal_error'))
      expect(bugs).toEqual([])
    })
  })
}
