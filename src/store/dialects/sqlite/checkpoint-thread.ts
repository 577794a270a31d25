import { parentPort, workerData } from 'node:worker_threads'
import Database from 'better-sqlite3'

// The worker thread of checkpoints.ts. `workerData` is the path of the database file.

export type FromCheckpointThread = 'done' | 'failed'

if (parentPort === null)
  throw new Error('checkpoint-thread.ts is run by checkpoints.ts in a thread of its own.')
const port = parentPort
const client = new Database(workerData as string, { fileMustExist: true }) // checkpoints.ts sends the path
client.pragma('synchronous = normal')
const checkpoint = client.prepare('pragma wal_checkpoint(passive)')

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
    checkpoint.get()
    return 'done'
  } catch {
    return 'failed' // SQLite reports the reason at its own next checkpoint, in a commit
  }
}
