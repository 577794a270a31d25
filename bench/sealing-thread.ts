import { parentPort, workerData } from 'node:worker_threads'
import { systemClock } from '../src/domain/clock.ts'
import { createSealer } from '../src/store/seal.ts'
import { type ConnectionRow, connectionRows, type RowsOf } from './connection-rows.ts'
import { userName } from './people.ts'

/** What a thread that seals is started with. */
export interface SealingData {
  readonly masterKey: string
  readonly entry: RowsOf['entry']
}

/** Users `from` to `to`, without the last. */
export interface SealingOrder {
  readonly from: number
  readonly to: number
}

const { masterKey, entry } = workerData as SealingData
const rowOf = connectionRows({
  sealing: { sealer: createSealer([Buffer.from(masterKey, 'base64')]), now: systemClock },
  entry,
})

parentPort?.on('message', ({ from, to }: SealingOrder) => {
  const rows: ConnectionRow[] = Array.from({ length: to - from }, (_, i) => rowOf(userName(from + i)))
  parentPort?.postMessage(rows)
})
