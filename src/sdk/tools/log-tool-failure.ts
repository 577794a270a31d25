import type { AppTool } from './app-tools.ts'
import type { ErrorDetails, ToolRun } from './run.ts'

/**
 * Logs what the caller of a tool is not told about its failure, for the app's author: the message for operators and the
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
  ].filter((part) => part !== '')
  const text = stacktrace === undefined ? developerMessage : `${developerMessage}\n${stacktrace}`
  console.error(
    'The tool %s failed:',
    name,
    secrets.reduce((rest, found) => rest.replaceAll(found, '[redacted]'), text),
  )
}
