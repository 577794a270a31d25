import type { Broker } from '../../broker.ts'
import { BrokerError } from '../../domain/errors.ts'
import { type Tool, toolId } from '../../domain/tool.ts'
import { IMPORTS } from '../../domain/tool-name.ts'
import { findWorkerByUid } from './known-tools.ts'

// Toolsets, scheduled runs and paused chains are made for the tool of one source, and keep it: a tool of another source that
// has the name later does not take its place.

/**
 * The source of a tool in its stored form: `worker:<id>` or `import`. A worker that an administrator deletes and registers
 * again under its id is the same source.
 */
export async function sourceOf(broker: Broker, { source }: Pick<Tool, 'source'>): Promise<string> {
  if (source.kind === 'metadata') return IMPORTS
  const worker = await findWorkerByUid(broker, source.workerUid)
  return `worker:${worker?.id ?? source.workerUid}`
}

/** Throws `tool_source_changed` when the tool is not of the source that was kept; nothing when none was kept. */
export async function checkSource(broker: Broker, tool: Tool, kept: string | undefined): Promise<void> {
  if (kept === undefined) return
  const now = await sourceOf(broker, tool)
  if (now !== kept)
    throw new BrokerError(
      'tool_source_changed',
      `The tool "${toolId(tool)}" is of ${describeSource(now)} now. This was made for the tool of ${describeSource(kept)}, and does not run another's.`,
    )
}

/** The source for people: `the worker "gmail"`. */
export function describeSource(source: string): string {
  return source === IMPORTS ? 'an import' : `the worker "${source.slice('worker:'.length)}"`
}
