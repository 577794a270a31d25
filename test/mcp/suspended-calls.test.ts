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
    binding: { projectId, caller: owner, tool: 'tool', input: {} },
    owner,
    modes: ['form'],
    signal: new AbortController().signal,
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
