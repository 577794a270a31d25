import type { Broker } from '../broker.ts'
import type { AuditHead } from '../domain/audit.ts'
import type { Shell } from './shell.ts'

/** An option of `gatepass audit verify`, which says what else is checked. */
export type TrailCheck = {
  /** As commander names the option's value. */
  readonly option: string
  readonly flags: string
  readonly description: string
  readonly example?: string
} & (
  | {
      /** Each trail is checked by it too. */
      readonly kind: 'also'
      faultsOf(broker: Broker, projectId: string): Promise<readonly string[]>
      /** The member of the JSON output that has the faults. */
      readonly member: string
      /** The command's failure if there are faults. */
      readonly failure: string
    }
  | {
      /** What the option names is checked in place of the trails. */
      readonly kind: 'instead'
      run(shell: Shell, names: readonly string[], options: InsteadOptions): Promise<void>
    }
)

export interface InsteadOptions {
  readonly project?: string
  readonly json?: true
  readonly head?: AuditHead
}
