import { createHash } from 'node:crypto'
import { functionName, MAX_FUNCTION_NAME, type Tool } from '../../domain/tool.ts'
import { GATEWAY_TOOLS, MAX_SHOWN_NAME } from '../../domain/toolset.ts'
import { atOnce, type Steps } from '../slices.ts'

// The names under which lists give tools to callers and models. Each belongs to one tool of the project, with all its
// versions, and `findTool` prefers it to an alias of another tool.

/**
 * The name of each tool by its `uid`. Tools whose names would be the same (`a` + `b_c`, `a_b` + `c`) keep them apart: the
 * oldest has the plain name, the others one with a digest.
 */
export function distinctNames(
  tools: readonly Tool[],
  nameOf: (tool: Tool) => string,
  limits: NameLimits = {},
): ReadonlyMap<string, string> {
  return atOnce(giveNames(tools, nameOf, limits))
}

function* giveNames(
  tools: readonly Tool[],
  nameOf: (tool: Tool) => string,
  { max = MAX_FUNCTION_NAME, reserved = [] }: NameLimits = {},
): Steps<ReadonlyMap<string, string>> {
  const owners = new Map(reserved.map((name) => [name, ''])) // no tool is called that
  for (const tool of oldestFirst(tools)) {
    const name = nameOf(tool)
    const whole = wholeName(tool)
    const isTaken = (owners.get(name.toLowerCase()) ?? whole) !== whole
    const own = (isTaken ? withDigest(name, tool, max) : name).toLowerCase()
    if (!owners.has(own)) owners.set(own, whole)
    yield
  }
  const names = new Map<string, string>()
  for (const tool of tools) {
    const name = nameOf(tool)
    const isOwn = owners.get(name.toLowerCase()) === wholeName(tool)
    names.set(tool.uid, isOwn ? name : withDigest(name, tool, max))
    yield
  }
  return names
}

/** Uids begin with the time. Lists of the store are in their order already. */
function oldestFirst(tools: readonly Tool[]): readonly Tool[] {
  const isSorted = tools.every((tool, i) => i === 0 || (tools[i - 1]?.uid ?? '') <= tool.uid)
  return isSorted ? tools : [...tools].sort((a, b) => (a.uid < b.uid ? -1 : 1))
}

/** What lists need of each tool again and again. */
interface ToolFacts {
  readonly whole: string
  readonly functionName: string
  readonly shownName: string
}

const facts = new WeakMap<Tool, ToolFacts>()

export function factsOfTool(tool: Tool): ToolFacts {
  const known = facts.get(tool)
  if (known !== undefined) return known
  const made = {
    whole: `${tool.namespace}:${tool.name}`.toLowerCase(),
    functionName: functionName(tool),
    shownName: functionName(tool, MAX_SHOWN_NAME),
  }
  facts.set(tool, made)
  return made
}

interface NameLimits {
  /** In characters. */
  readonly max?: number
  /** In lower case: names that no tool is given. */
  readonly reserved?: readonly string[]
}

/** The names of the tools for models: 1 to 64 of `[A-Za-z0-9_-]`. */
export function modelNames(tools: readonly Tool[]): ReadonlyMap<string, string> {
  return atOnce(giveModelNames(tools))
}

export function giveModelNames(tools: readonly Tool[]): Steps<ReadonlyMap<string, string>> {
  return giveNames(tools, (tool) => factsOfTool(tool).functionName)
}

/** The names of Gatepass' own tools at `/mcp`. */
export const RESERVED_NAMES: readonly string[] = Object.values(GATEWAY_TOOLS)

/** The names of the tools for MCP clients: the model names, with a digest where they are longer than 48 characters. */
export function giveMcpNames(tools: readonly Tool[]): Steps<ReadonlyMap<string, string>> {
  return giveNames(tools, (tool) => factsOfTool(tool).shownName, {
    max: MAX_SHOWN_NAME,
    reserved: RESERVED_NAMES,
  })
}

const DIGEST_CHARACTERS = 8

export function withDigest(name: string, tool: Tool, max: number): string {
  const digest = createHash('sha256').update(wholeName(tool)).digest('hex').slice(0, DIGEST_CHARACTERS)
  return `${name.slice(0, max - DIGEST_CHARACTERS - 1)}_${digest}`
}

/** Whether a name may be one that `distinctNames` gave a digest. */
export function hasDigest(name: string): boolean {
  return /_[0-9a-f]{8}$/.test(name)
}

function wholeName(tool: Tool): string {
  return factsOfTool(tool).whole
}

/**
 * Leaves out each worker's tool to which one of the imported tools is bound: it is the same tool, which lists give
 * once. Its names still work.
 */
export function withoutTwins(tools: readonly Tool[]): readonly Tool[] {
  return atOnce(leaveOutTwins(tools))
}

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
