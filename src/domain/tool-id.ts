import { BrokerError } from './errors.ts'

/** What names a tool, read out of its id; `namespace` is of the empty string where it has none. */
export interface ToolId {
  readonly namespace: string
  readonly name: string
  readonly version?: string
}

/**
 * Reads `namespace:name[:version]`, or `name` alone, as `toolId` writes them. Which characters each part may have is not
 * looked at here (`validateTool`). Throws `invalid_tool`, also for a version without a namespace.
 */
export function parseToolId(text: string): ToolId {
  const parts = text.split(':')
  const [first = '', second, third] = parts
  if (parts.length > 3 || parts.includes(''))
    throw new BrokerError(
      'invalid_tool',
      `"${text.slice(0, 120)}" is no tool id: it is \`namespace:name\`, \`namespace:name:version\`, or \`name\` alone.`,
    )
  if (second === undefined) return { namespace: '', name: first }
  return { namespace: first, name: second, ...(third !== undefined && { version: third }) }
}

/** What a tool and its namespace may be called: `[A-Za-z0-9_.-]`, 1 to 128 characters. */
export function isToolName(text: string): boolean {
  return /^[A-Za-z0-9_.-]{1,128}$/.test(text)
}
