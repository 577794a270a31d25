import { parentPort } from 'node:worker_threads'
import { lowerPriority } from '../services/lower-priority.ts'
import type { FromPoolThread, TaskModule, ToPoolThread } from './thread-pool.ts'

// One thread of the pool (thread-pool.ts). It runs one task after another. A message names the module that runs the
// task.

if (parentPort === null) throw new Error('Only thread-pool.ts runs pool-thread.ts, in a worker thread.')
const port = parentPort
/** Lower than the event loop's priority, but high enough to make progress beside other processes. */
const NICENESS = 4

// on Linux each thread has its own priority; elsewhere this would change the priority of the whole process
if (process.platform === 'linux') lowerPriority(NICENESS)

port.on('message', async ({ module: taskModule, input }: ToPoolThread) => {
  try {
    const task = (await import(taskModule)) as TaskModule<unknown, unknown> // thread-pool.ts sends only such modules
    const transfer: ArrayBuffer[] = []
    const output = await task.run(input, transfer)
    port.postMessage({ output } satisfies FromPoolThread, transfer)
  } catch (error) {
    const message = error instanceof Error ? error.message : 'The task has failed.'
    port.postMessage({ error: message } satisfies FromPoolThread)
  }
})
