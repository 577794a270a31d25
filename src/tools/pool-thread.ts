import { setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'
import type { FromPoolThread, TaskModule, ToPoolThread } from './thread-pool.ts'

// One thread of the pool: runs one task after the other, each a module of this program.

if (parentPort === null) throw new Error('pool-thread.ts is run by thread-pool.ts in a thread of its own.')
const port = parentPort
/** The event loop goes first, and other processes do not keep the thread from ever getting on. */
const NICENESS = 4

// on Linux a thread has a priority of its own; elsewhere this would be the whole broker's
if (process.platform === 'linux') setPriority(NICENESS)

port.on('message', async ({ module: taskModule, input }: ToPoolThread) => {
  try {
    const task = (await import(taskModule)) as TaskModule<unknown, unknown> // thread-pool.ts names such modules alone
    const transfer: ArrayBuffer[] = []
    const output = await task.run(input, transfer)
    port.postMessage({ output } satisfies FromPoolThread, transfer)
  } catch (error) {
    const message = error instanceof Error ? error.message : 'The task has failed.'
    port.postMessage({ error: message } satisfies FromPoolThread)
  }
})
