import { createHash } from 'node:crypto'
import { functionName, type Tool } from '../../domain/tool.ts'

// The names under which lists give tools to callers and models. Each belongs to one tool of the project, with all its
// versions, and `findTool` prefers it to an alias of another tool.

/**
 * The name of each tool by its `uid`. Tools whose names would be the same (`a` + `b_c`, `a_b` + `c`) keep them apart: the
 * oldest has the plain name, the others one with a digest.
 */
export function distinctNames(
  tools: readonly Tool[],
  nameOf: (tool: Tool) => string,
): ReadonlyMap<string, string> {
  const owners = new Map<string, string>()
  const oldestFirst = [...tools].sort((a, b) => (a.uid < b.uid ? -1 : 1)) // uids begin with the time
  for (const tool of oldestFirst) {
    const name = nameOf(tool)
    const whole = wholeName(tool)
    const isTaken = (owners.get(name.toLowerCase()) ?? whole) !== whole
    const own = (isTaken ? withDigest(name, tool) : name).toLowerCase()
    if (!owners.has(own)) owners.set(own, whole)
  }
  return new Map(
    tools.map((tool) => {
      const name = nameOf(tool)
      return [tool.uid, owners.get(name.toLowerCase()) === wholeName(tool) ? name : withDigest(name, tool)]
    }),
  )
}

/** The names of the tools for models: 1 to 64 of `[A-Za-z0-9_-]`. */
export function modelNames(tools: readonly Tool[]): ReadonlyMap<string, string> {
  return distinctNames(tools, functionName)
}

const MAX_MODEL_NAME = 64
const DIGEST_CHARACTERS = 8

function withDigest(name: string, tool: Tool): string {
  const digest = createHash('sha256').update(wholeName(tool)).digest('hex').slice(0, DIGEST_CHARACTERS)
  return `${name.slice(0, MAX_MODEL_NAME - DIGEST_CHARACTERS - 1)}_${digest}`
}

/** Whether a name may be one that `distinctNames` gave a digest. */
export function hasDigest(name: string): boolean {
  return /_[0-9a-f]{8}$/.test(name)
}

function wholeName({ namespace, name }: Tool): string {
  return `${namespace}:${name}`.toLowerCase()
}

/**
 * Leaves out each worker's tool to which one of the imported tools is bound: it is the same tool, which lists give once. Its
 * names go on to work.
 */
export function withoutTwins(tools: readonly Tool[]): readonly Tool[] {
  const bound = new Set(tools.flatMap((tool) => (tool.source.kind === 'metadata' ? bindingKey(tool) : [])))
  return tools.filter(
    (tool) => tool.source.kind === 'metadata' || !bindingKey(tool).some((key) => bound.has(key)),
  )
}

function bindingKey({ binding }: Tool): readonly string[] {
  if (binding === undefined) return []
  const { workerUid, toolkit, name, version } = binding
  return [JSON.stringify([workerUid, toolkit, name, version])]
}
