import { readFile } from 'node:fs/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { eraseUser } from '../../../src/flows/erase-user.ts'
import type { AnyJson } from '../../any-json.ts'
import { gate } from '../../gate.ts'
import type { Gatepass } from '../../gatepass.ts'
import type { World } from '../../http/world.ts'
import { runSql } from '../../postgres.ts'
import { DATABASES, startTwoNodes, type TwoNodes } from '../approvals/two-nodes.ts'

const DAY = 24 * 3600
const TOOL = 'Demo.Echo'

describe.each(DATABASES)('code that waits for approvals, on %s', (kind) => {
  let nodes: TwoNodes
  let world: World
  let other: Gatepass
  let clock: TwoNodes['clock']
  let decide: TwoNodes['decide']
  let ran: TwoNodes['ran']
  let users = 0
  let user: string

  beforeAll(async () => {
    nodes = await startTwoNodes(kind)
    ;({ world, other, clock, decide, ran } = nodes)
  })
  afterAll(() => nodes[Symbol.asyncDispose]())
  beforeEach(async () => {
    user = `user-${++users}`
    await nodes.ask()
  })
  afterEach(() => nodes.clear())

  const execute = (code: string, more: object = {}, options = {}, node: Pick<Gatepass, 'call'> = world) =>
    node.call('POST', '/v1/code/execute', { code, user_id: user, ...more }, options)

  /** Demo.Slow answers only when Demo.Array is called, which the code does once it has another answer. */
  function holdSlow(): void {
    const { opened, open } = gate()
    world.worker.behaviour.onInvoke = ({ tool }) => {
      if (tool?.name === 'Array') open()
      return tool?.name === 'Slow' ? opened : undefined
    }
  }

  const TWO = `
    const of = async (text) => (await tools.call('${TOOL}', { text })).inputs.text
    const drawn = [Math.random(), Date.now(), new Date().toISOString(), performance.now()]
    console.log(JSON.stringify(drawn))
    const first = await of('free ' + Math.random())
    const second = await of('ask ' + Math.random())
    const third = await of('ask twice')
    return { drawn, all: [first, second, third, Math.random()] }`

  test('goes on with two approvals, and makes no call twice', async () => {
    const begun = await execute(TWO)
    expect(begun.body).toMatchObject({ value: null, resume: expect.stringMatching(/^code_/) })
    const { resume } = begun.body
    expect(ran()).toHaveLength(1)

    clock.advance(100)
    const early = await execute(TWO, { resume })
    expect(early.body.requires_authorization.id).toBe(begun.body.requires_authorization.id)
    expect(early.body.resume).toBe(resume)
    await decide(begun.body)
    const half = await execute(TWO, { resume })
    expect(half.body).toMatchObject({ resume, stdout: begun.body.stdout })
    expect(half.body.requires_authorization.id).not.toBe(begun.body.requires_authorization.id)
    expect(half.body.toolCalls).toMatchObject([
      { ...begun.body.toolCalls[0], replayed: true },
      { args: begun.body.toolCalls[1].args },
      { error: { kind: 'requires_authorization' } },
    ])
    expect(half.body.toolCalls[1]).not.toHaveProperty('replayed')
    await decide(half.body)
    const { body } = await execute(TWO, { resume })
    expect(body.value.drawn).toEqual(JSON.parse(begun.body.stdout))
    expect(body.value.all.slice(0, 3)).toEqual(ran())
    expect(ran()).toHaveLength(3)
    expect(body).not.toHaveProperty('resume')
    expect((await execute(TWO, { resume })).status).toBe(404)
  })

  const MANY = `
    const order = []
    const of = async (text) => {
      try { await tools.call('${TOOL}', { text }); order.push(text) } catch (e) { order.push(text + e.kind) }
    }
    const slow = async (ms) => { await tools.call('Demo.Slow', { ms }); order.push(ms); await of('after ' + ms) }
    await Promise.all([
      slow(300), of('ask one'), of('1'), slow(50), tools.chain([
        { toolId: '${TOOL}', args: { text: 'step' } }, { toolId: '${TOOL}', args: { text: 'ask step' } },
      ]).then((all) => order.push(all.inputs.text)),
      tools.list().then((all) => order.push(all.length)), of('2'),
    ])
    await tools.call('Demo.Fail', {}).catch((e) => order.push(e.kind))
    return order`

  test('keeps calls that were under way at the same time, in their order', async () => {
    let { body } = await execute(MANY)
    const { resume } = body
    for (let i = 0; body.requires_authorization !== undefined; i++) {
      expect([i < 3, body.resume]).toEqual([true, resume])
      await decide(body)
      body = (await execute(MANY, { resume })).body
    }
    expect(body.error).toBeUndefined()
    expect(body.value).toEqual(
      expect.arrayContaining([300, 50, 'ask one', '1', '2', 'after 300', 'after 50', 'ask step']),
    )
    expect(body.value.at(-1)).toBe('TOOL_RUNTIME_FATAL')
    for (const text of ['1', '2', 'step', 'after 300', 'after 50', 'ask one', 'ask step'])
      expect([text, ran().filter((one) => one === text)]).toEqual([text, [text]])
    expect(world.worker.invocations.filter(({ call }) => call.inputs?.ms !== undefined)).toHaveLength(2)
  })

  test('answers in the order in which the answers came', async () => {
    holdSlow()
    const code = `
      const call = (id, args, name) => tools.call(id, args).then(() => name)
      const slow = call('Demo.Slow', { ms: 0 }, 'slow')
      const fast = call('Demo.Null', {}, 'fast')
      const first = await Promise.race([slow, fast])
      await Promise.all([slow, tools.call('Demo.Array', {})])
      return (await tools.call('${TOOL}', { text: 'ask ' + first })).inputs.text`
    const { body } = await execute(code)
    await decide(body)
    expect((await execute(code, { resume: body.resume })).body).toMatchObject({ value: 'ask fast' })
  })

  test('is resumed by one of two requests at once, on any node', async () => {
    const code = `
      await tools.call('${TOOL}', { text: 'ask' })
      await tools.call('Demo.Slow', { ms: 0 }); return 'ended'`
    const { body } = await execute(code)
    await decide(body)
    const { resume } = body
    // the run goes on when the three others have been answered, or also run
    const { opened, open } = gate()
    let [refused, running] = [0, 0]
    world.worker.behaviour.onInvoke = ({ tool }) => {
      if (tool?.name !== 'Slow') return undefined
      if (++running > 1) open()
      return opened
    }
    const answers = await Promise.all(
      [world, other, world, other].map(async (node) => {
        const answer = await execute(code, { resume }, {}, node)
        if (answer.status !== 200 && ++refused === 3) open()
        return answer
      }),
    )
    const statuses = answers.map(({ status }) => status).sort()
    expect(statuses).toEqual([200, 409, 409, 409])
    expect(answers.find(({ status }) => status === 409)?.body).toMatchObject({ name: 'outcome_unknown' })
    expect(answers.find(({ status }) => status === 200)?.body.value).toBe('ended')
    expect(ran().filter((text) => text === 'ask')).toHaveLength(1)
  })

  test('is not resumed by others, nor with other code, and a refused request does not use it up', async () => {
    const code = `return (await tools.call('${TOOL}', { text: 'ask' })).inputs`
    const { body } = await execute(code)
    const { resume } = body
    await decide(body)
    const key = await world.gatepass.makeKey('caller')
    const elsewhere = await world.gatepass.makeKey('caller', 'elsewhere')
    for (const refused of [
      await execute(code, { resume: 'code_unknown' }),
      await execute(code, { resume, user_id: 'eve' }),
      await execute(code, { resume, user_id: null }),
      await execute(code, { resume }, { key }),
      await execute(code, { resume }, { key: elsewhere }),
    ])
      expect(refused).toMatchObject({ status: 404, body: { name: 'not_found' } })
    for (const changed of [{ code: `${code} ` }, { language: 'typescript' }])
      expect(await execute(code, { resume, ...changed })).toMatchObject({
        status: 400,
        body: { name: 'invalid_request', errors: [{ path: 'code', code: 'conflict' }] },
      })
    expect(ran()).toEqual([])
    expect((await execute(code, { resume })).body.value).toEqual({ text: 'ask' })
  })

  test('is deleted after a day, and with its user', async () => {
    const code = `return tools.call('${TOOL}', { text: 'ask' })`
    const { body } = await execute(code)
    clock.advance(DAY - 1)
    expect((await execute(code, { resume: body.resume })).status).toBe(200)
    clock.advance(DAY)
    expect((await execute(code, { resume: body.resume })).status).toBe(404)
    const again = await execute(code)
    const { broker } = world.gatepass
    const [project] = await broker.store.projects.list()
    await eraseUser(broker, { projectId: project?.id ?? '', userId: user })
    expect((await execute(code, { resume: again.body.resume })).status).toBe(404)
  })

  test('lies sealed in the database', async () => {
    const { gatepass } = world
    await execute(
      `await tools.call('${TOOL}', { text: 'never read' }); await tools.call('${TOOL}', { text: 'ask' })`,
    )
    const rows =
      kind === 'PostgreSQL'
        ? (await runSql(nodes.databaseUrl ?? '', 'select * from paused_code')).rows
        : await Promise.all(
            ['', '-wal'].map((suffix) =>
              readFile(`${gatepass.databasePath}${suffix}`, 'latin1').catch(() => ''),
            ),
          )
    expect(JSON.stringify(rows)).toContain('code_')
    expect(JSON.stringify(rows)).not.toContain('never read')
  })

  test('is not resumed after a process that resumed it was lost', async () => {
    const code = `return tools.call('${TOOL}', { text: 'ask' })`
    const { body } = await execute(code)
    await decide(body)
    const { store } = world.gatepass.broker
    const [project] = await store.projects.list()
    expect(await store.pausedCode.claim(project?.id ?? '', body.resume, clock(), clock() + 60)).toBe(true)
    const refusal = async () => (await execute(code, { resume: body.resume })).body
    expect(await refusal()).toMatchObject({
      name: 'outcome_unknown',
      message: expect.stringContaining('Wait'),
    })
    clock.advance(60)
    expect(await refusal()).toMatchObject({
      name: 'outcome_unknown',
      message: expect.stringContaining('stopped'),
    })
    expect(ran()).toEqual([])
  })

  test('is not resumed by the state of another run', async () => {
    const code = `return tools.call('${TOOL}', { text: 'ask' })`
    const { store } = world.gatepass.broker
    const [project] = await store.projects.list()
    const [one, two] = [(await execute(code)).body.resume, (await execute(code)).body.resume]
    const moved = await store.pausedCode.find(project?.id ?? '', two, 0)
    if (moved === undefined) throw new Error('nothing was kept')
    await store.pausedCode.pauseAgain({ ...moved, id: one })
    expect(await execute(code, { resume: one })).toMatchObject({
      status: 503,
      body: { name: 'store_unavailable', message: expect.stringContaining('altered') },
    })
    expect((await execute(code, { resume: two })).status).toBe(200)
  })

  test('runs nothing more when the code takes another path', async () => {
    const code = `
      let room = true
      try { new Uint8Array(30e6) } catch { room = false }
      await tools.call('${TOOL}', { text: room ? 'wide' : 'narrow' })
      return tools.call('${TOOL}', { text: 'ask' })`
    const { body } = await execute(code)
    await decide(body)
    const resumed = await execute(code, { resume: body.resume, limits: { memory_mb: 16 } })
    expect(resumed).toMatchObject({ status: 200, body: { value: null, error: { kind: 'replay_diverged' } } })
    expect(ran()).toEqual(['wide'])
  })

  test.each([
    ['makes none', 'if (!room) return "nothing"'],
    ['makes fewer', `if (!room) { await tools.call('${TOOL}', { text: '1' }); return "fewer" }`],
    ['makes others', `if (!room) return await tools.call('${TOOL}', { text: 'ask' })`],
  ])('runs nothing more when the code %s of the calls', async (_, instead) => {
    const code = `
      let room = true
      try { new Uint8Array(30e6) } catch { room = false }
      ${instead}
      await Promise.all(['1', 'ask', '2'].map((text) => tools.call('${TOOL}', { text })))`
    const { body } = await execute(code)
    const before = ran()
    await decide(body)
    const resumed = await execute(code, { resume: body.resume, limits: { memory_mb: 16 } })
    expect(resumed.body).toMatchObject({ value: null, error: { kind: 'replay_diverged' } })
    expect(ran()).toEqual(before)
  })

  test('runs nothing more when the code waits for an answer that comes after one to another call', async () => {
    holdSlow()
    const code = `
      let room = true
      try { new Uint8Array(30e6) } catch { room = false }
      const slow = tools.call('Demo.Slow', { ms: 0 })
      if (!room) return slow
      await tools.call('Demo.Null', {})
      await Promise.all([tools.call('Demo.Array', {}), slow])
      return tools.call('${TOOL}', { text: 'ask' })`
    const { body } = await execute(code)
    await decide(body)
    const resumed = await execute(code, { resume: body.resume, limits: { memory_mb: 16 } })
    expect(resumed.body).toMatchObject({ value: null, error: { kind: 'replay_diverged' } })
    expect(world.worker.invocations).toHaveLength(3)
  })

  test('checks the calls that are still to come as always', async () => {
    const code = `
      await tools.call('${TOOL}', { text: 'before' })
      try { await tools.call('${TOOL}', { text: 'ask' }) } catch (e) { return e.kind }`
    const { body } = await execute(code)
    await decide(body)
    await world.call('POST', '/v1/admin/policies', { id: 'stop', effect: 'deny', match: { tools: [TOOL] } })
    expect((await execute(code, { resume: body.resume })).body).toMatchObject({ value: 'CONTEXT_DENIED' })
    expect(ran()).toEqual(['before'])
  })

  test('waits for a consent too', async () => {
    const code = `
      await tools.call('${TOOL}', { text: 'before' })
      return (await tools.call('Demo.EchoWithToken', { text: 'x' })).inputs`
    const { body } = await execute(code)
    expect(body.requires_authorization.id).toMatch(/^auth_/)
    await world.connect(user)
    expect((await execute(code, { resume: body.resume })).body.value).toEqual({ text: 'x' })
    expect(ran()).toEqual(['before', 'x'])
  })

  test('is not kept if its results are too large', async () => {
    const code = `
      for (let i = 0; i < 3; i++) await tools.call('Demo.Huge', { bytes: 2e6 })
      return tools.call('${TOOL}', { text: 'ask' })`
    const { body } = await execute(code)
    expect(body.requires_authorization.id).toMatch(/^appr_/)
    expect(body).not.toHaveProperty('resume')
  })

  test('ends without a value to resume if calls beside the question take too long', async () => {
    const code = `await Promise.all([tools.call('Demo.Slow', { ms: 0 }), tools.call('${TOOL}', { text: 'ask' })])`
    world.worker.behaviour.onInvoke = () => new Promise(() => {})
    let body: AnyJson
    // on a busy machine the code has not asked yet when a short time is over
    for (let timeout_ms = 1_000; timeout_ms < 120_000; timeout_ms *= 4) {
      ;({ body } = await execute(code, { limits: { timeout_ms } }))
      if (body.requires_authorization !== undefined) break
    }
    expect(body).toMatchObject({ value: null, requires_authorization: { status: 'pending' } })
    expect(body).not.toHaveProperty('resume')
  })

  test('a large result and the list of tools are the same again', async () => {
    const code = `
      const all = (await tools.list()).map(({ id }) => id).join()
      const huge = await tools.call('Demo.Huge', { bytes: 300_000 })
      const text = JSON.stringify(huge).length
      await tools.call('${TOOL}', { text: 'ask ' + all.length + text })
      return [all, text]`
    const { body } = await execute(code)
    await decide(body)
    const { value, error } = (await execute(code, { resume: body.resume })).body
    expect([error, value]).toEqual([undefined, [expect.stringContaining('Demo:Echo'), expect.any(Number)]])
    expect(world.worker.invocations).toHaveLength(2)
  })
})
