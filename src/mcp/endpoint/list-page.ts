import { type ListToolsResult, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import type { Era } from './exchange.ts'
import type { Placeholders } from './placeholders.ts'
import type { ToolList } from './tool-lists.ts'

/** Many clients read the first page only, so it has room for 1,000 tools of the project and Gatepass' own tools. */
const PAGE_TOOLS = 1_010

/**
 * One page of the list, with a placeholder for the cached JSON of its tools. Throws `ProtocolError` for a cursor of
 * another list.
 */
export function pageOf(
  list: ToolList,
  era: Era,
  cursor: string | undefined,
  placeholders: Placeholders,
): ListToolsResult {
  const start = cursor === undefined ? 0 : startOf(cursor, list)
  const end = start + PAGE_TOOLS
  return {
    tools: placeholders.array(list.json(era, start, end)),
    ...(end < list.length && { nextCursor: `${list.digest()}.${end}` }),
  }
}

function startOf(cursor: string, list: ToolList): number {
  const [digest, start] = cursor.split('.')
  const at = Number(start)
  if (digest === list.digest() && Number.isInteger(at) && at > 0 && at < list.length) return at
  throw new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    'The list has changed. Begin again without a cursor.',
  )
}
