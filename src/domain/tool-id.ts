import { BrokerError } from './errors.ts'

/** The parts of a tool id. `namespace` is empty if the id has none. */
export interface ToolId {
  readonly namespace: string
  readonly name: string
  readonly version?: string | undefined
}

/**
 * Parses `namespace:name[:version]`, or `name` alone, as `toolId` writes them. The characters of the parts are not
 * checked here (`toolFaults` does). Throws `invalid_tool`, also for a version without a namespace.
 */
export function parseToolId(text: string): ToolId {
  const parts = text.split(':')
  const [first = '', second, third] = parts
  if (parts.length > 3 || parts.includes(''))
    throw new BrokerError(
      'invalid_tool',
      `"${text.slice(0, 120)}" is not a tool id. Write \`namespace:name\`, \`namespace:name:version\`, or \`name\` alone.`,
    )
  if (second === undefined) return { namespace: '', name: first }
  return { namespace: first, name: second, version: third }
}

/** Whether the text is valid as a tool's name or namespace: 1 to 128 of `[A-Za-z0-9_.-]`. */
export function isToolName(text: string): boolean {
  return /^[A-Za-z0-9_.-]{1,128}$/.test(text)
}
