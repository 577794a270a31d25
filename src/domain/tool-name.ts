import type { NameOwner, Tool } from './tool.ts'

/**
 * The name of a tool, or the toolkit of a worker, in a project. It belongs to the source that had it first, over all
 * versions, also while the source does not list the tool. It is freed when its owner is deleted.
 */
export interface ToolName extends NameOwner {
  readonly projectId: string
  /** `toolIdentity` or `toolkitIdentity`. */
  readonly identity: string
}

/** The owner of the names of imported tools: administrators import them. */
export const IMPORTS = 'import'

/** Identifies a tool with all its versions, in any case. */
export function toolIdentity({ namespace, name }: Pick<Tool, 'namespace' | 'name'>): string {
  return `${namespace}:${name}`.toLowerCase()
}

/** Identifies a toolkit in any case. No tool has this identity, because no tool has an empty name. */
export function toolkitIdentity(namespace: string): string {
  return toolIdentity({ namespace, name: '' })
}

/**
 * Whether the tool's name belongs to its source. A tool for which this is false is found by its full id alone, and is in
 * no list. An imported tool also has the names of the worker to which an administrator has bound it.
 */
export function hasOwnName({ owner, source, binding }: Pick<Tool, 'owner' | 'source' | 'binding'>): boolean {
  if (owner === undefined) return false
  if (source.kind === 'worker') return owner.source === source.workerUid
  return owner.source === IMPORTS || owner.source === binding?.workerUid
}
