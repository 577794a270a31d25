import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import { ArgumentsRefusedError } from '../tools/app-prompts.ts'
import type { AppTool } from '../tools/app-tools.ts'
import { isToolError } from '../tools/errors.ts'
import type { ErrorDetails, ToolRun } from '../tools/run.ts'

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

/**
 * Logs what the client of a tool is not told about its failure, for the app's author: the message for operators and the
 * stack, without the tokens and secrets that the run was given.
 */
export function logToolFailure(
  { name, options: { requiresSecrets = [] } }: AppTool,
  { authorizations, secret }: ToolRun,
  { developerMessage, stacktrace }: ErrorDetails,
): void {
  if (developerMessage === undefined) return
  const secrets = [
    ...Object.values(authorizations).map(({ token }) => token),
    ...requiresSecrets.map((key) => secret(key) ?? ''),
  ].filter((one) => one !== '')
  const text = stacktrace === undefined ? developerMessage : `${developerMessage}\n${stacktrace}`
  console.error(
    'The tool %s failed:',
    name,
    secrets.reduce((rest, one) => rest.replaceAll(one, '[redacted]'), text),
  )
}
