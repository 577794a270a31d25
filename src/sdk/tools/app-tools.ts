import { withoutUndefined } from '../without-undefined.ts'
import type { Tool } from './content.ts'
import { jsonSchemaOf } from './schema.ts'
import {
  type AnyToolOptions,
  isMaterialized,
  MAX_TIMEOUT_SECONDS,
  type MaterializedTool,
  TOOL_MARK,
} from './tool.ts'

/** A tool of an app. */
export interface AppTool {
  readonly name: string
  readonly options: AnyToolOptions
}

export interface AppTools {
  /**
   * Adds a tool, or replaces the one of that name, and notifies clients. Works while the app is served. Throws `TypeError`
   * for a tool that cannot be published.
   */
  add(name: string, tool: MaterializedTool): Promise<void>
  /** Removes the tool and notifies clients; `false` if there was none of that name. */
  remove(name: string): Promise<boolean>
  list(): readonly AppTool[]
  find(name: string): AppTool | undefined
}

const NAME = /^[A-Za-z0-9_.-]{1,128}$/

export function isName(name: unknown): name is string {
  return typeof name === 'string' && NAME.test(name)
}

/** `notifyClients` is called after each change. */
export function appTools(notifyClients: () => Promise<void>): AppTools {
  const tools = new Map<string, AppTool>()
  return {
    add(name, tool) {
      tools.set(name, { name, options: toolOptions(name, tool) })
      return notifyClients()
    },
    async remove(name) {
      const wasThere = tools.delete(name)
      if (wasThere) await notifyClients()
      return wasThere
    },
    list: () => [...tools.values()],
    find: (name) => tools.get(name),
  }
}

/** Checks a tool when it is added, so that a faulty one stops the author's program and not a call. */
function toolOptions(name: string, tool: MaterializedTool): AnyToolOptions {
  const fault = (what: string) => new TypeError(`The tool ${JSON.stringify(name)} ${what}.`)
  if (!isName(name)) throw fault('needs a name of 1 to 128 characters, each of A-Z, a-z, 0-9, _ . or -')
  if (!isMaterialized(tool)) throw fault('was not made by tool()')
  const options = tool[TOOL_MARK]
  if (typeof options.handler !== 'function') throw fault('has no handler')
  const { timeoutSeconds = 1 } = options
  if (!(timeoutSeconds > 0 && timeoutSeconds <= MAX_TIMEOUT_SECONDS))
    throw fault(`needs a timeoutSeconds that is more than 0 and at most ${MAX_TIMEOUT_SECONDS}`)
  for (const side of ['input', 'output'] as const) {
    const schema = options[side]
    if (side === 'output' && schema === undefined) continue
    if (schema === undefined) throw fault('has no input schema')
    try {
      const described = jsonSchemaOf(schema, side)
      if (side === 'input' && described.type !== 'object') throw new TypeError('does not describe an object')
    } catch (error) {
      throw fault(`has an ${side} schema that ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  return options
}

/** The tool as an entry of `tools.list()`. */
export function listedTool({ name, options }: AppTool): Tool {
  const { title, description } = options
  return withoutUndefined({ name, title, description, inputSchema: jsonSchemaOf(options.input, 'input') })
}
