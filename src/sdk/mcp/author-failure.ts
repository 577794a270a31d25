import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import { ArgumentsRefusedError } from '../tools/app-prompts.ts'
import { isToolError } from '../tools/errors.ts'

/**
 * Runs code of the app's author for an MCP client. The client gets the message of an intended failure only
 * (`ToolError`, `ProtocolError`, refused arguments). Any other error may contain internals: it is logged, and the
 * client learns only that `what` failed. Text of a client in `what` must be quoted as JSON, because it may contain
 * line breaks.
 */
export async function hidingFailures<Result>(
  what: string,
  signal: AbortSignal,
  run: () => Promise<Result>,
): Promise<Result> {
  try {
    return await run()
  } catch (error) {
    if (error instanceof ProtocolError) throw error
    if (error instanceof ArgumentsRefusedError)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, error.message)
    if (isToolError(error)) throw new ProtocolError(ProtocolErrorCode.InternalError, error.message)
    // when the request's round is aborted, the handler ends with an error, which is no failure
    if (!signal.aborted) console.error('%s failed:', what, error)
    throw new ProtocolError(ProtocolErrorCode.InternalError, `${what} failed.`)
  }
}
