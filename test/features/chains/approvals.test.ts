import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Gatepass } from '../../gatepass.ts'
import { DATABASES, startTwoNodes, type TwoNodes } from '../approvals/two-nodes.ts'

describe.each(DATABASES)('a chain that waits for approvals, on %s', (kind) => {
  let nodes: TwoNodes
  let user = ''
  let users = 0
  beforeAll(async () => {
    nodes = await startTwoNodes(kind)
  })
  afterAll(() => nodes[Symbol.asyncDispose]())
  beforeEach(async () => {
    user = `user-${++users}`
    await nodes.ask()
  })
  afterEach(() => nodes.clear())

  const STEPS = ['before', 'ask one', 'between', 'ask two', 'after'].map((text) => ({
    toolId: 'Demo.Echo',
    args: { text },
  }))
  const chain = async (body: object, node: Pick<Gatepass, 'call'> = nodes.world) =>
    (await node.call('POST', '/v1/tools/run_chain', { user_id: user, ...body })).body
  const states = (body: { steps: { status: string }[] }) => body.steps.map(({ status }) => status)

  test('runs exactly the rest after each approval, on any node', async () => {
    const { decide, ran, other } = nodes
    const begun = await chain({ steps: STEPS })
    expect(begun.requires_authorization).toMatchObject({ step: 1, id: expect.stringMatching(/^appr_/) })
    expect(states(begun)).toEqual(['completed', 'skipped', 'skipped', 'skipped', 'skipped'])
    const early = await chain({ resume: begun.resume }, other)
    expect(early.requires_authorization.id).toBe(begun.requires_authorization.id)
    expect(ran()).toEqual(['before'])

    await decide(early)
    const half = await chain({ resume: early.resume }, other)
    expect(half.requires_authorization).toMatchObject({ step: 3 })
    expect(ran()).toEqual(['before', 'ask one', 'between'])
    await decide(half)
    const ended = await chain({ resume: half.resume })
    expect(ended).toMatchObject({ status: 'completed', structured: { inputs: { text: 'after' } } })
    expect(states(ended)).toEqual(Array(5).fill('completed'))
    expect(ran()).toEqual(['before', 'ask one', 'between', 'ask two', 'after'])
  })

  test('is resumed by one of several requests at once', async () => {
    const { decide, ran, world, other } = nodes
    const begun = await chain({ steps: STEPS.slice(0, 3) })
    await decide(begun)
    const { resume } = begun
    const answers = await Promise.all([world, other, world, other].map((node) => chain({ resume }, node)))
    expect(answers.filter(({ status }) => status === 'completed')).toHaveLength(1)
    expect(answers.filter(({ name }) => name === 'not_found')).toHaveLength(3)
    expect(ran()).toEqual(['before', 'ask one', 'between'])
  })

  test('ends at a step that was denied', async () => {
    const { decide, ran } = nodes
    const begun = await chain({ steps: STEPS })
    await decide(begun, 'deny')
    const ended = await chain({ resume: begun.resume })
    expect(states(ended)).toEqual(['completed', 'failed', 'skipped', 'skipped', 'skipped'])
    expect(ended.steps[1].error).toMatchObject({ kind: 'CONTEXT_DENIED' })
    expect(ran()).toEqual(['before'])
  })
})
