import { type ListToolsResult, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import type { Era } from './exchange.ts'
import type { Placeholders } from './placeholders.ts'
import type { ToolList } from './tool-lists.ts'

/**
 * One page of the list, with a placeholder for the cached JSON of its tools. Throws `ProtocolError` for a cursor of
 * another list.
 */
export async function pageOf(
  list: ToolList,
  era: Era,
  cursor: string | undefined,
  placeholders: Placeholders,
): Promise<ListToolsResult> {
  const start = cursor === undefined ? 0 : await startOf(cursor, list)
  const { json, end } = await list.page(era, start)
  return {
    tools: placeholders.array(json),
    ...(end < list.length && { nextCursor: `${await list.digest()}.${end}` }),
  }
}

async function startOf(cursor: string, list: ToolList): Promise<number> {
  const [digest, start] = cursor.split('.')
  const at = Number(start)
  if (digest === (await list.digest()) && Number.isInteger(at) && at > 0 && at < list.length) return at
  throw new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    'The list has changed. Start again without a cursor.',
  )
}
