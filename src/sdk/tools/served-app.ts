import type { AppParts } from './app-parts.ts'
import type { AppTools } from './app-tools.ts'
import type { GatepassClient } from './gatepass-client.ts'
import type { AppChange } from './run.ts'

/** The parts of a `ToolApp` that the code which serves it needs. */
export interface ServedApp extends AppParts {
  readonly name: string
  readonly version: string | undefined
  readonly title: string | undefined
  readonly instructions: string | undefined
  readonly gatepass: GatepassClient | undefined
  readonly tools: Pick<AppTools, 'list' | 'find'>
  /** Calls the listener after each change. Returns the function that removes the listener. */
  onChange(listener: (change: AppChange) => void | Promise<void>): () => void
  /** Calls the listeners of `onChange`. */
  changed(change: AppChange): Promise<void>
}
