import type { Config } from '../config.ts'
import { sandboxSample } from '../dev-provider/sample.ts'
import { inSingleQuotes } from './shell.ts'

/**
 * The commands with which a developer tries everything from a terminal, the same at every start. The part from the first
 * `echo` on is a shell script without comments, which zsh refuses at its prompt, so that it can be pasted into bash and
 * zsh as a whole.
 */
export function pastedCommands({ publicUrl }: Config, apiKey: string): string {
  const url = publicUrl.origin
  const { workerId, toolName, userId, metadata } = sandboxSample(publicUrl)
  const ask = inSingleQuotes(JSON.stringify({ tool_name: toolName, user_id: userId }))
  const call = `curl -s -H "Authorization: Bearer $GATEPASS_API_KEY" -H 'content-type: application/json'`
  const execute = `${call} ${url}/v1/tools/execute -d ${ask}; echo`
  return `
The API is described at ${url}/docs, and MCP clients at ${url}/docs/mcp.
Paste this into another terminal, step by step or all at once:

echo '0. The URL and the API key, of an administrator of this installation'
export GATEPASS_URL=${url} GATEPASS_API_KEY=${inSingleQuotes(apiKey)}

echo '1. Import a tool: its oauth entry becomes a provider, and the worker of the sandbox runs it'
${call} '${url}/v1/tools/import?worker_id=${workerId}' -d ${inSingleQuotes(JSON.stringify(metadata))}; echo

echo '2. Run it for the user ${userId}: without a connection the answer is requires_authorization with a link'
${execute}

echo '3. Open that link in a browser, click Continue and approve; the last line here does so without a browser'
ID=$(${call} ${url}/v1/tools/authorize -d ${ask} | sed 's/.*"id":"\\([^"]*\\)".*/\\1/'); case $ID in auth_*) echo "${url}/connect/$ID";; *) echo '${userId} is connected already';; esac
case $ID in auth_*) NEXT=$(curl -s -L -c cookies.txt -b cookies.txt -o /dev/null -w '%{url_effective}' -d '' "${url}/connect/$ID"); curl -s -L -c cookies.txt -b cookies.txt -o /dev/null -d decision=allow "$NEXT"; rm -f cookies.txt;; esac

echo '4. Wait for it: this answers as soon as the user has approved'
${call} "${url}/v1/auth/status?id=$ID&wait=59"; echo

echo '5. Run the tool again: the token is injected, and the answer is the one of the tool'
${execute}
`
}
