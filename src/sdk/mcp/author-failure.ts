import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import { ArgumentsRefusedError } from '../tools/app-prompts.ts'
import { isToolError } from '../tools/errors.ts'

/**
 * Runs code of the app's author for a client. As with tools, the client learns the message of an intended failure alone
 * (`ToolError`, `ProtocolError`); any other error may hold what is not for the client, so it is logged with `what`, in
 * which the text of a client is quoted as JSON: it may hold line ends.
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
    // an aborted round ends its handler with an error, which is no failure
    if (!signal.aborted) console.error('%s failed:', what, error)
    throw new ProtocolError(ProtocolErrorCode.InternalError, `${what} failed.`)
  }
}
