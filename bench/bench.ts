import type { Audited } from './audit-seed.ts'
import type { LoadProcess } from './load-process.ts'
import type { Million } from './million.ts'
import type { Seeded } from './seed.ts'
import type { Upstream } from './upstream.ts'

/**
 * Where the databases of the servers lie. A file in memory takes the same statements and the same write-ahead log, and
 * no flush takes time: what is left is what the processor does.
 */
export type Place = 'disk' | 'memory'

/** The folder of a seeded database there. */
export async function folderIn(bench: Bench, place: Place): Promise<string> {
  return place === 'disk' ? bench.folder : bench.inMemory()
}

/** What every figure is given. */
export interface Bench {
  /** Holds the seeded database; removed at the end. */
  readonly folder: string
  readonly seeded: Seeded
  /** Another seeded database, in a folder of a file system in memory. Seeds it the first time. */
  readonly inMemory: () => Promise<string>
  readonly load: LoadProcess
  readonly upstream: Upstream
  /** How long the soak takes. */
  readonly minutes: number
  /** Seeds it the first time. */
  readonly million: () => Promise<Million>
  /** Seeds it the first time. */
  readonly audited: () => Promise<Audited>
}
