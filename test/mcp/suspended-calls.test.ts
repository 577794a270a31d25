import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Broker } from '../../src/broker.ts'
import { createSuspendedCalls, type SuspendableCall } from '../../src/mcp/suspended/suspended-calls.ts'
import { type Gatepass, startGatepass } from '../gatepass.ts'

let gatepass: Gatepass
let projectId: string
beforeAll(async () => {
  gatepass = await startGatepass()
  projectId = (await gatepass.broker.store.projects.ensure('default', 0)).id
})
afterAll(() => gatepass.close())

const DONE = { content: [{ type: 'text' as const, text: 'done' }] }
const QUESTION = {
  mode: 'form' as const,
  message: 'Go on?',
  requestedSchema: { type: 'object', properties: {} },
}

function callOf(owner: string, more: Partial<SuspendableCall> = {}): SuspendableCall {
  return {
    binding: { projectId, caller: owner, toolUid: 'tool', input: {} },
    owner,
    modes: ['form'],
    signal: new AbortController().signal,
    cancelled: new AbortController().signal,
    reports: {},
    ...more,
  }
}

test('questions that cannot be stored do not use up the calls of their owner that may wait', async () => {
  const { store } = gatepass.broker
  let isFailing = true
  const suspendedCalls: typeof store.suspendedCalls = {
    ...store.suspendedCalls,
    async add(row) {
      if (isFailing) throw new Error('the database does not answer')
      await store.suspendedCalls.add(row)
    },
  }
  const broker: Broker = { ...gatepass.broker, store: { ...store, suspendedCalls } }
  const suspended = createSuspendedCalls(broker)
  const call = callOf('ada')
  for (let i = 0; i < 25; i++)
    await suspended.run(call, async (dialog, signal) => {
      for (let asks = 0; asks < 2; asks++)
        await expect(dialog.elicit(QUESTION, signal)).rejects.toThrow('does not answer')
      return DONE
    })
  isFailing = false
  const asked = await suspended.run(call, async (dialog, signal) => {
    await dialog.elicit(QUESTION, signal)
    return DONE
  })
  expect(asked).toMatchObject({ resultType: 'input_required' })
  suspended.close()
})

test('the end of a process that serves a repeated call does not end the run, which may be in another process', async () => {
  const [runs, serves] = [createSuspendedCalls(gatepass.broker), createSuspendedCalls(gatepass.broker)]
  const call = callOf('bob')
  const goesOn = Promise.withResolvers<void>()
  const finish = Promise.withResolvers<void>()
  const asked = await runs.run(call, async (dialog, signal) => {
    await dialog.elicit(QUESTION, signal)
    goesOn.resolve()
    await finish.promise
    return DONE
  })
  const { requestState } = asked as { readonly requestState: string } // the first answer is the question
  const given = { requestState, inputResponses: { 'question-1': { action: 'accept', content: {} } } }

  const shutdown = new AbortController()
  const held = serves.resume({ ...call, signal: shutdown.signal }, given)
  await goesOn.promise
  shutdown.abort(new Error('the process ends'))
  await expect(held).rejects.toThrow('the process ends')

  const repeated = serves.resume(call, given)
  finish.resolve()
  expect(await repeated).toEqual(DONE)
})

test('a client can still cancel a run whose row could not be read for a while', async () => {
  const { store } = gatepass.broker
  let id = ''
  let isFailing = false
  const failed = Promise.withResolvers<void>()
  const suspendedCalls: typeof store.suspendedCalls = {
    ...store.suspendedCalls,
    async add(row) {
      id = row.id
      await store.suspendedCalls.add(row)
    },
    async find(...key) {
      if (!isFailing) return store.suspendedCalls.find(...key)
      failed.resolve()
      throw new Error('the database does not answer')
    },
  }
  const runs = createSuspendedCalls({ ...gatepass.broker, store: { ...store, suspendedCalls } })
  const serves = createSuspendedCalls(gatepass.broker)
  const call = callOf('carl')
  const goesOn = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<unknown>()
  const asked = await runs.run(call, async (dialog, signal) => {
    signal.addEventListener('abort', () => ended.resolve(signal.reason))
    await dialog.elicit(QUESTION, signal)
    goesOn.resolve()
    await ended.promise
    return DONE
  })
  const { requestState } = asked as { readonly requestState: string } // the first answer is the question
  const given = { requestState, inputResponses: { 'question-1': { action: 'accept', content: {} } } }
  const held = serves.resume(call, given)
  await goesOn.promise
  isFailing = true
  await failed.promise
  isFailing = false
  await store.suspendedCalls.remove(projectId, id)
  expect(await ended.promise).toMatchObject({ message: 'The client has canceled the call.' })
  expect(await held).toMatchObject({ isError: true })
})

test('a row that cannot be read for a while does not end the question: its user can still answer', async () => {
  const { store } = gatepass.broker
  let failures = 0
  const failed = Promise.withResolvers<void>()
  const suspendedCalls: typeof store.suspendedCalls = {
    ...store.suspendedCalls,
    async find(...key) {
      if (failures === 3) return store.suspendedCalls.find(...key)
      failures++
      failed.resolve()
      throw new Error('the database does not answer')
    },
  }
  const runs = createSuspendedCalls({ ...gatepass.broker, store: { ...store, suspendedCalls } })
  const call = callOf('dora')
  const asked = await runs.run(call, async (dialog, signal) => {
    const { action } = await dialog.elicit(QUESTION, signal)
    return { content: [{ type: 'text' as const, text: action }] }
  })
  await failed.promise
  const { requestState } = asked as { readonly requestState: string } // the first answer is the question
  const given = { requestState, inputResponses: { 'question-1': { action: 'accept', content: {} } } }
  const answer = await createSuspendedCalls(gatepass.broker).resume(call, given)
  expect(answer).toEqual({ content: [{ type: 'text', text: 'accept' }] })
})
