import {
  type FakeAuthorizationServer,
  startFakeAuthorizationServer,
} from '../../fake-authorization-server.ts'
import { type FakeWorker, startFakeWorker, type WorkerTool } from '../../fake-worker.ts'
import { type Gatepass, startGatepass, testClock } from '../../gatepass.ts'

/** New servers for the examples of the API reference: Gatepass, a provider and a worker. */
export interface ExampleWorld extends AsyncDisposable {
  readonly gatepass: Gatepass
  readonly provider: FakeAuthorizationServer
  readonly worker: FakeWorker
}

export const WORKER_SECRET = 'a-secret-that-the-worker-shares'
/** 2027-03-02T09:00:00Z. */
const START = 1_803_978_000

const AUTHORIZATION = { id: 'github', scopes: ['read:user'] }
const TOOLS: readonly WorkerTool[] = [
  {
    name: 'ListRepositories',
    description: "Lists the user's repositories, most recently pushed first.",
    parameters: [{ name: 'count', val_type: 'integer', description: 'How many, at most 100.' }],
    authorization: AUTHORIZATION,
    behavior: { read_only: true, idempotent: true },
    run: async () => ({ value: { repositories: ['ada/engine', 'ada/notes'] } }),
  },
  {
    name: 'CountWords',
    description: 'Counts the words of a text.',
    parameters: [{ name: 'text', val_type: 'string', required: true, description: 'The text.' }],
    run: async ({ text }) => ({ value: { words: String(text).split(' ').length } }),
  },
]

export async function startExampleWorld(): Promise<ExampleWorld> {
  const provider = await startFakeAuthorizationServer()
  const worker = await startFakeWorker({
    secret: WORKER_SECRET,
    tools: TOOLS,
    toolkit: { name: 'Hub', version: '1.0.0', description: 'Tools for repositories.' },
  })
  const gatepass = await startGatepass({ now: testClock(START) })
  return {
    gatepass,
    provider,
    worker,
    async [Symbol.asyncDispose]() {
      await gatepass.close()
      await worker.close()
      await provider.close()
    },
  }
}
