import { createHash } from 'node:crypto'
import { GATEWAY_TOOLS, MAX_SHOWN_NAME } from '../../domain/shown-tools.ts'
import { functionName, MAX_FUNCTION_NAME, type Tool } from '../../domain/tool.ts'
import { hasOwnName, toolIdentity } from '../../domain/tool-name.ts'
import { runWithoutPause, type Steps } from '../slices.ts'

// The names of tools in the lists for callers and models. Each name belongs to one tool of the project, with all its
// versions, and `getTool` prefers it to an alias of another tool.

/**
 * The name of each tool by its `uid`. Where several tools would have the same name (`a` + `b_c`, `a_b` + `c`), the one whose
 * source has had its own name longest has the plain name, and the others have a digest at its end. A tool whose name
 * belongs to another source has a digest too: it is in no list, and this name does not run it.
 */
export function distinctNames(
  tools: readonly Tool[],
  nameOf: (tool: Tool) => string,
  limits: NameLimits = {},
): ReadonlyMap<string, string> {
  return runWithoutPause(giveNames(tools, nameOf, limits))
}

/** `distinctNames` in steps. */
function* giveNames(
  tools: readonly Tool[],
  nameOf: (tool: Tool) => string,
  { max = MAX_FUNCTION_NAME, reserved = [] }: NameLimits = {},
): Steps<ReadonlyMap<string, string>> {
  const owners = new Map(reserved.map((name) => [name, ''])) // '' is no tool's identity
  for (const tool of oldestFirst(tools)) {
    if (!hasOwnName(tool)) continue
    const name = nameOf(tool)
    const identity = identityOf(tool)
    const isTaken = (owners.get(name.toLowerCase()) ?? identity) !== identity
    const own = (isTaken ? withDigest(name, tool, max) : name).toLowerCase()
    if (!owners.has(own)) owners.set(own, identity)
    yield
  }
  const names = new Map<string, string>()
  for (const tool of tools) {
    const name = nameOf(tool)
    const isOwn = hasOwnName(tool) && owners.get(name.toLowerCase()) === identityOf(tool)
    names.set(tool.uid, isOwn ? name : withDigest(name, tool, max))
    yield
  }
  return names
}

/**
 * Sorts by the time since which the source has had the tool's name, which outlives the tool, then by uid, which begins with
 * the time.
 */
function oldestFirst(tools: readonly Tool[]): readonly Tool[] {
  const isSorted = tools.every((tool, i) => i === 0 || compareAge(tools[i - 1] ?? tool, tool) <= 0)
  return isSorted ? tools : [...tools].sort(compareAge)
}

/** Orders by how long the sources of the tools have had the names. */
export function compareAge(a: Tool, b: Tool): number {
  const since = ({ owner }: Tool) => owner?.since ?? 0
  return since(a) - since(b) || (a.uid < b.uid ? -1 : Number(a.uid > b.uid))
}

/** Names of a tool that every list needs, computed once. */
interface ToolNames {
  readonly identity: string
  readonly functionName: string
  readonly shownName: string
}

const toolNames = new WeakMap<Tool, ToolNames>()

function namesOf(tool: Tool): ToolNames {
  const known = toolNames.get(tool)
  if (known !== undefined) return known
  const made = {
    identity: toolIdentity(tool),
    functionName: functionName(tool),
    shownName: functionName(tool, MAX_SHOWN_NAME),
  }
  toolNames.set(tool, made)
  return made
}

interface NameLimits {
  /** In characters. */
  readonly max?: number
  /** Names that no tool may have, in lower case. */
  readonly reserved?: readonly string[]
}

/** The names of the tools for models: 1 to 64 of `[A-Za-z0-9_-]`. */
export function modelNames(tools: readonly Tool[]): ReadonlyMap<string, string> {
  return runWithoutPause(giveModelNames(tools))
}

/** `modelNames` in steps, for all tools of a project. */
export function giveModelNames(tools: readonly Tool[]): Steps<ReadonlyMap<string, string>> {
  return giveNames(tools, (tool) => namesOf(tool).functionName)
}

/** The names of Gatepass' own tools at `/mcp`. */
export const RESERVED_NAMES: readonly string[] = Object.values(GATEWAY_TOOLS)

/** The names of the tools for MCP clients: the model names, with a digest where they are longer than 48 characters. */
export function giveMcpNames(tools: readonly Tool[]): Steps<ReadonlyMap<string, string>> {
  return giveNames(tools, (tool) => namesOf(tool).shownName, {
    max: MAX_SHOWN_NAME,
    reserved: RESERVED_NAMES,
  })
}

const DIGEST_CHARACTERS = 8

/** The name with a digest of the tool's identity at its end, shortened to `max` characters. */
export function withDigest(name: string, tool: Tool, max: number): string {
  const digest = createHash('sha256').update(identityOf(tool)).digest('hex').slice(0, DIGEST_CHARACTERS)
  return `${name.slice(0, max - DIGEST_CHARACTERS - 1)}_${digest}`
}

/** Whether a name may be one that `distinctNames` gave a digest. */
export function hasDigest(name: string): boolean {
  return /_[0-9a-f]{8}$/.test(name)
}

/** Identifies a tool with all its versions. */
export function identityOf(tool: Tool): string {
  return namesOf(tool).identity
}

/**
 * Leaves out each worker's tool that an imported tool is bound to: both are the same tool, which lists show once. The
 * names of the worker's tool still work.
 */
export function withoutTwins(tools: readonly Tool[]): readonly Tool[] {
  return runWithoutPause(leaveOutTwins(tools))
}

/** `withoutTwins` in steps, for all tools of a project. */
export function* leaveOutTwins(tools: readonly Tool[]): Steps<readonly Tool[]> {
  const bound = new Set<string>()
  for (const tool of tools) {
    if (tool.source.kind === 'metadata') for (const key of bindingKey(tool)) bound.add(key)
    yield
  }
  if (bound.size === 0) return tools
  const rest: Tool[] = []
  for (const tool of tools) {
    if (tool.source.kind === 'metadata' || !bindingKey(tool).some((key) => bound.has(key))) rest.push(tool)
    yield
  }
  return rest
}

function bindingKey({ binding }: Tool): readonly string[] {
  if (binding === undefined) return []
  const { workerUid, toolkit, name, version } = binding
  return [JSON.stringify([workerUid, toolkit, name, version])]
}
