import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { systemClock } from '../../../src/domain/clock.ts'
import { Gatepass } from '../../../src/sdk/client/gatepass.ts'
import { runHere } from '../../cli/gatepass.ts'
import { type Answer, testClock } from '../../gatepass.ts'
import { STAINLESS, startWorld, type World } from '../../http/world.ts'
import { UserAgent } from '../../user-agent.ts'
import { onBothDatabases, settleAll } from './both-databases.ts'

// Runs that wait for an approval: scheduled ones, and calls that run when they are approved; on both databases.

const TOOL = 'Demo.EchoWithToken'
const FREE = 'Demo.Echo'
const PATIENCE = { timeout: 300_000, interval: 50 }

describe.each(onBothDatabases)('on %s', (_, optionsOf) => {
  // approvals end by the clock of PostgreSQL, and runs are due by the one that the test moves
  const clock = testClock(systemClock())
  let world: World
  let approver: string
  let agent: string
  beforeAll(async () => {
    world = await startWorld({
      gatepass: { ...(await optionsOf()), now: clock, mode: 'development' },
      as: { now: () => clock() * 1000 },
    })
    approver = await world.gatepass.makeKey('approver')
    await world.connect('ada', ['read'])
  })
  afterAll(() => world[Symbol.asyncDispose]())
  beforeEach(async () => {
    agent = await world.gatepass.makeKey('caller')
    const body = { id: 'ask', effect: 'approve', match: { tools: [TOOL] } }
    expect(await world.call('POST', '/v1/admin/policies', body)).toMatchObject({ status: 201 })
  })
  afterEach(async () => {
    await settleAll(world, approver)
    await world.call('DELETE', '/v1/admin/policies/ask')
    await expect.poll(openRuns, PATIENCE).toBe(0)
    world.worker.invocations.length = 0
  })

  async function openRuns(): Promise<number> {
    const { body } = await world.call('GET', '/v1/scheduled_tools?limit=100')
    const open = body.items.filter(({ execution_status: status }: { execution_status: string }) =>
      /scheduled|waiting|running/.test(status),
    )
    return open.length
  }
  const inSeconds = (seconds: number) => new Date((clock() + seconds) * 1000).toISOString()
  const call = (path: string, body: object, headers?: Record<string, string>) =>
    world.call('POST', path, body, { key: agent, ...(headers && { headers }) })
  const schedule = (runAt: string, text = 'hello', headers?: Record<string, string>) =>
    call('/v1/tools/execute', { tool_name: TOOL, user_id: 'ada', input: { text }, run_at: runAt }, headers)
  const execute = (text = 'hello') =>
    call('/v1/tools/execute', { tool_name: TOOL, user_id: 'ada', input: { text }, when_approved: 'run' })
  const run = (text = 'hello') =>
    call('/v1/tools/run', { tool_id: TOOL, user_id: 'ada', args: { text }, when_approved: 'run' })
  const get = async (id: string) =>
    (await world.call('GET', `/v1/approvals/${id}`, undefined, { key: approver })).body
  async function decide(id: string, more: object = {}) {
    const { digest } = await get(id)
    const body = { decision: 'approve', digest, approver: 'ada', ...more }
    const decided = await world.call('POST', `/v1/approvals/${id}/decision`, body, { key: approver })
    expect(decided.status).toBe(200)
  }
  const look = async (id: string) => (await world.call('GET', `/v1/executions/${id}`)).body
  async function ended(id: string) {
    await expect
      .poll(async () => (await look(id)).execution_status, PATIENCE)
      .toMatch(/completed|failed|cancelled/)
    return look(id)
  }
  const runs = () => world.worker.invocations.length
  const questionOf = ({ body }: Answer): string =>
    (body.output?.requires_authorization ?? body.requires_authorization).id

  test('the client of applications has a call kept until it is approved', async () => {
    const gatepass = new Gatepass({ baseUrl: world.gatepass.url, apiKey: agent })
    const kept = { user: 'ada', whenApproved: 'run' } as const
    const asked = await gatepass.tools.execute(TOOL, { text: 'by the client' }, kept)
    if (asked.outcome !== 'requires_authorization') throw new Error(asked.outcome)
    expect(asked.authorization.kind).toBe('approval')
    await decide(asked.authorization.id)
    expect(await ended(asked.executionId)).toMatchObject({ execution_status: 'completed' })
    expect(runs()).toBe(1)
    expect((await gatepass.executions.get(asked.executionId)).status).toBe('completed')
    const options: object = kept // as JavaScript may pass it
    await expect(gatepass.tools.run(TOOL, {}, options)).rejects.toThrow('use execute with whenApproved')
  })

  describe('a scheduled run', () => {
    test('waits for its approval, and then runs once', async () => {
      const at = inSeconds(60)
      const asked = await schedule(at)
      expect(asked).toMatchObject({
        status: 200,
        body: {
          execution_id: expect.stringMatching(/^exec_/),
          success: false,
          output: { requires_authorization: { id: expect.stringMatching(/^appr_/), status: 'pending' } },
        },
      })
      expect(asked.headers.get('x-gatepass-execution-status')).toBe('waiting_for_approval')
      const id = questionOf(asked)
      expect(asked.headers.get('x-gatepass-approval')).toBe(id)
      const { execution_id: executionId } = asked.body
      expect(await look(executionId)).toMatchObject({
        execution_status: 'waiting_for_approval',
        approval_id: id,
        input: { text: 'hello' },
      })
      // its time passes before a decision
      clock.advance(60)
      const free = await call('/v1/tools/execute', { tool_name: FREE, user_id: 'ada', run_at: at })
      expect(await ended(free.body.execution_id)).toMatchObject({ execution_status: 'completed' })
      world.worker.invocations.length = 0
      const again = await schedule(at)
      expect([again.body.execution_id, questionOf(again)]).toEqual([executionId, id])
      expect(runs()).toBe(0)
      await decide(id)
      expect(await ended(executionId)).toMatchObject({ execution_status: 'completed', outcome: 'value' })
      expect(runs()).toBe(1)
      expect(await get(id)).toMatchObject({ status: 'used', execution_id: executionId })
    })

    test('that is approved early keeps its time, and counts until then', async () => {
      const at = inSeconds(3600)
      const asked = await schedule(at)
      await decide(questionOf(asked))
      const approved = await schedule(at)
      expect(approved.body).toMatchObject({ execution_id: asked.body.execution_id, success: true })
      expect(await look(asked.body.execution_id)).toMatchObject({ execution_status: 'scheduled' })
      expect(runs()).toBe(0)
      clock.advance(3600)
      expect(await ended(asked.body.execution_id)).toMatchObject({ execution_status: 'completed' })
      expect(runs()).toBe(1)
    })

    test('that is denied ends at once with the denial', async () => {
      const asked = await schedule(inSeconds(3600))
      await decide(questionOf(asked), { decision: 'deny', reason: 'Not at night.' })
      const { attempts, ...record } = await ended(asked.body.execution_id)
      expect(record).toMatchObject({ execution_status: 'failed', error_kind: 'CONTEXT_DENIED' })
      expect(attempts[0].output.error).toMatchObject({
        kind: 'CONTEXT_DENIED',
        can_retry: false,
        message: 'The call was denied. Not at night. (approval_denied)',
      })
      expect(runs()).toBe(0)
    })

    test('that is asked about again at another time, or with another input, is another question', async () => {
      const [first, second] = [inSeconds(3600), inSeconds(3601)]
      const all = [await schedule(first), await schedule(second), await schedule(first, 'other')]
      expect(new Set(all.map(questionOf)).size).toBe(3)
      for (const { body } of all) await world.call('DELETE', `/v1/scheduled_tools/${body.execution_id}`)
      expect(await get(questionOf(all[0] as Answer))).toMatchObject({ status: 'cancelled' })
    })

    test.each<[string, () => Promise<unknown>]>([
      ['rule', () => world.call('PATCH', '/v1/admin/policies/ask', { approve: { expires_seconds: 900 } })],
      ['rule that is gone', () => world.call('DELETE', '/v1/admin/policies/ask')],
    ])('whose approval is for another %s is superseded', async (_, change) => {
      const asked = await schedule(inSeconds(600))
      await decide(questionOf(asked))
      await change()
      clock.advance(600)
      const { attempts } = await ended(asked.body.execution_id)
      expect(attempts.at(-1).output.error.message).toContain('approval_superseded')
      expect(await get(questionOf(asked))).toMatchObject({ status: 'superseded' })
      expect(runs()).toBe(0)
    })

    test('whose connection is gone is superseded', async () => {
      await world.connect('bob', ['read'])
      const body = { tool_name: TOOL, user_id: 'bob', input: { text: 'x' }, run_at: inSeconds(600) }
      const asked = await call('/v1/tools/execute', body)
      await decide(questionOf(asked), { approver: 'bob' })
      const { items } = (await world.call('GET', '/v1/connections?user_id=bob')).body
      await world.call('DELETE', `/v1/connections/${items[0].id}`)
      clock.advance(600)
      const { attempts } = await ended(asked.body.execution_id)
      expect(attempts.at(-1).output.error.message).toContain('approval_superseded')
      expect(runs()).toBe(0)
    })

    test('tells who decides when it would run', async () => {
      const at = inSeconds(86_400)
      const asked = await schedule(at)
      const shown = await get(questionOf(asked))
      expect(Date.parse(shown.call.run_at)).toBe(Date.parse(at))
      const { stdout } = await runHere(
        { GATEPASS_URL: world.gatepass.url, GATEPASS_API_KEY: approver },
        'approvals',
        'show',
        shown.id,
      )
      expect(stdout).toContain(`will run    ${shown.call.run_at.slice(0, 19).replace('T', ' ')} UTC`)
      const browser = new UserAgent()
      const page = await browser.submitForm(
        await browser.follow(asked.body.output.requires_authorization.url),
        { user_id: 'ada' },
      )
      expect(page.body).toMatch(
        new RegExp(`<dt>Will run</dt><dd><time datetime="${shown.call.run_at.slice(0, 19)}`),
      )
      expect((await get(questionOf(await execute()))).call).not.toHaveProperty('run_at')
      await world.call('DELETE', `/v1/scheduled_tools/${asked.body.execution_id}`)
    })

    test('of Arcade’s SDKs says so in their words', async () => {
      const { status, body } = await schedule(inSeconds(3600), 'hello', STAINLESS)
      expect([status, body]).toMatchObject([
        200,
        {
          execution_type: 'scheduled',
          status: 'waiting_for_approval',
          output: { authorization: { id: expect.stringMatching(/^appr_/) } },
        },
      ])
      await world.call('DELETE', `/v1/scheduled_tools/${body.id}`)
    })
  })

  describe('a call that runs when it is approved', () => {
    test.each([
      ['execute', execute],
      ['run', run],
    ])('waits, and then runs once (%s)', async (name, send) => {
      const asked = await send()
      const executionId: string = asked.body.execution_id ?? asked.body.executionId
      const id = questionOf(asked)
      expect(asked.headers.get('x-gatepass-execution-status')).toBe('waiting_for_approval')
      if (name === 'run') expect(asked.body).toMatchObject({ status: 'waiting_for_approval' })
      expect(await look(executionId)).toMatchObject({
        execution_status: 'waiting_for_approval',
        entry_point: name,
        approval_id: id,
      })
      await decide(id)
      expect(await ended(executionId)).toMatchObject({ execution_status: 'completed', outcome: 'value' })
      expect(runs()).toBe(1)
      expect(await get(id)).toMatchObject({ status: 'used', execution_id: executionId })
    })

    test('of 50 repeats is one run', async () => {
      const all = await Promise.all(Array.from({ length: 50 }, () => execute()))
      const ids = new Set(all.map(({ body }) => body.execution_id))
      expect([ids.size, new Set(all.map(questionOf)).size]).toEqual([1, 1])
      await decide(questionOf(all[0] as Answer))
      await ended([...ids][0])
      expect(runs()).toBe(1)
    })

    test('runs once although the same call is made again after the approval', async () => {
      const asked = await execute()
      await decide(questionOf(asked))
      await Promise.all([execute(), execute(), run()])
      await ended(asked.body.execution_id)
      expect(runs()).toBe(1)
    })

    test('ends with a denial, and with a question that was withdrawn', async () => {
      const denied = await execute('denied')
      await decide(questionOf(denied), { decision: 'deny' })
      expect(await ended(denied.body.execution_id)).toMatchObject({ error_kind: 'CONTEXT_DENIED' })
      const cancelled = await execute('cancelled')
      await world.call('DELETE', `/v1/scheduled_tools/${cancelled.body.execution_id}`)
      expect(await look(cancelled.body.execution_id)).toMatchObject({ execution_status: 'cancelled' })
      expect(await get(questionOf(cancelled))).toMatchObject({ status: 'cancelled' })
      expect(runs()).toBe(0)
    })

    test('is not tried again for an agent that its user has blocked since', async () => {
      world.worker.behaviour.invoke = '503'
      const asked = await execute('again')
      await decide(questionOf(asked))
      const { execution_id: id } = asked.body
      await expect.poll(async () => (await look(id)).attempts?.length, PATIENCE).toBe(1)
      expect(await get(questionOf(asked))).toMatchObject({ status: 'used' })
      const browser = new UserAgent()
      const { requires_authorization: other } = (await execute('other')).body.output
      const page = await browser.submitForm(await browser.follow(other.url), { user_id: 'ada' })
      await browser.submitForm(page, {}, { button: 'block' })
      world.worker.behaviour.invoke = 'ok'
      world.worker.invocations.length = 0
      clock.advance(60)
      expect(await ended(id)).toMatchObject({ execution_status: 'failed', error_kind: 'CONTEXT_DENIED' })
      expect(runs()).toBe(0)
    })

    test('that needs no approval runs at once', async () => {
      await world.call('DELETE', '/v1/admin/policies/ask')
      expect((await execute()).body).toMatchObject({ success: true })
      expect((await run()).body).toMatchObject({ structured: expect.anything() })
      expect(runs()).toBe(2)
    })

    test('whose agent has ended is superseded', async () => {
      const { body: made } = await world.call('POST', '/v1/admin/keys', { name: 'short', role: 'caller' })
      agent = made.key
      const asked = await schedule(inSeconds(600))
      await decide(questionOf(asked))
      await world.call('DELETE', `/v1/admin/keys/${made.id}`)
      clock.advance(600)
      expect(await ended(asked.body.execution_id)).toMatchObject({ execution_status: 'failed' })
      expect(runs()).toBe(0)
    })
  })
})
