import { parentPort, workerData } from 'node:worker_threads'
import Database from 'better-sqlite3'

// The thread of checkpoints.ts. `workerData` is the path of the database file.

/** Pages in the log, and those of them that are in the database file. */
export interface Progress {
  readonly log: number
  readonly checkpointed: number
}

export type FromCheckpointThread = Progress | { readonly error: string }

if (parentPort === null)
  throw new Error('checkpoint-thread.ts is run by checkpoints.ts in a thread of its own.')
const port = parentPort
const client = new Database(workerData as string, { fileMustExist: true }) // checkpoints.ts sends the path
client.pragma('synchronous = normal')
const checkpoint = client.prepare<[], Progress>('pragma wal_checkpoint(passive)')

port.on('message', (message: 'checkpoint' | 'stop') => {
  if (message === 'stop') {
    client.close()
    port.close()
    return
  }
  port.postMessage(attempt())
})

function attempt(): FromCheckpointThread {
  try {
    const { log, checkpointed } = checkpoint.get() ?? { log: 0, checkpointed: 0 }
    return { log, checkpointed }
  } catch (error) {
    return { error: error instanceof Error ? error.message : 'The checkpoint has failed.' }
  }
}
