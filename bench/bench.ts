import type { Audited } from './audit-seed.ts'
import type { LoadProcess } from './load-process.ts'
import type { Million } from './million.ts'
import type { Seeded } from './seed.ts'
import type { Upstream } from './upstream.ts'

/** What every figure is given. */
export interface Bench {
  /** Holds the seeded database; removed at the end. */
  readonly folder: string
  readonly seeded: Seeded
  readonly load: LoadProcess
  readonly upstream: Upstream
  /** How long the soak takes. */
  readonly minutes: number
  /** Seeds it the first time. */
  readonly million: () => Promise<Million>
  /** Seeds it the first time. */
  readonly audited: () => Promise<Audited>
}
