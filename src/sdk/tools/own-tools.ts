import { type AppTool, listedTool } from './app-tools.ts'
import { allAuths, authName } from './auth.ts'
import type { CallToolResult } from './content.ts'
import { ContextRequiredError } from './errors.ts'
import type { GatepassOutcome } from './gatepass-client.ts'
import type { ConsentMissing, InnerResult, ToolRun } from './run.ts'
import { runTool } from './run-tool.ts'
import type { ServedApp } from './served-app.ts'
import { errorResult, toCallToolResult } from './tool-result.ts'
import { userAuthorizations } from './user-authorizations.ts'

/** How deep calls of tools by tools may nest. */
const MAX_DEPTH = 8

/**
 * `tools.call` and `tools.list` for an app that is served on its own. `tools.call` runs the app's own tools and those of its
 * Gatepass; `tools.list` has only the app's own.
 */
export function withOwnTools(app: ServedApp, run: ToolRun, depth = 1): ToolRun {
  return {
    ...run,
    listTools: async () => app.tools.list().map(listedTool),
    async callTool(name, args, signal) {
      if (depth > MAX_DEPTH)
        return failed('TOOL_RUNTIME_FATAL', `More than ${MAX_DEPTH} tools have called each other.`)
      const tool = findOwn(app, name)
      if (tool === undefined) return callGatepass(app, run, name, args, signal)
      const held = await authorizationsFor(app, run, tool, signal)
      if (held.outcome === 'authorization_required') return held
      // the caller follows the progress of the outer tool, so the inner one's is dropped
      const { progress: _, chunk: __, ...rest } = run
      const inner: ToolRun = { ...rest, authorizations: held.authorizations, signal }
      const result = await runTool({ ...tool, app }, args, withOwnTools(app, inner, depth + 1))
      return result.outcome === 'authorization_required'
        ? result
        : { outcome: 'result', result: toCallToolResult(result) }
    },
  }
}

/** A tool of the app by its own name, or by the name under which Gatepass lists it (`hub:repositories`). */
function findOwn({ name: app, tools }: ServedApp, name: string): AppTool | undefined {
  return tools.find(name) ?? (name.startsWith(`${app}:`) ? tools.find(name.slice(app.length + 1)) : undefined)
}

type Held = { readonly outcome: 'held'; readonly authorizations: ToolRun['authorizations'] } | ConsentMissing

/** The tokens of the outer tool if they cover what the inner one needs; otherwise tokens that Gatepass gives. */
async function authorizationsFor(
  { gatepass }: ServedApp,
  { authorizations, userId }: ToolRun,
  { name, options: { requiresAuth } }: AppTool,
  signal: AbortSignal,
): Promise<Held> {
  const isCovered = allAuths(requiresAuth).every((auth) => {
    const held = authorizations[authName(auth)]
    return held !== undefined && (auth.scopes ?? []).every((scope) => held.scopes.includes(scope))
  })
  if (isCovered) return { outcome: 'held', authorizations }
  if (gatepass === undefined || userId === null)
    throw new ContextRequiredError(
      `The tool "${name}" needs tokens that the tool which calls it does not have: ${gatepass === undefined ? 'give the ToolApp a client of Gatepass' : 'the call names no user'}.`,
    )
  const got = await userAuthorizations(gatepass, userId, requiresAuth, signal)
  return got.outcome === 'held'
    ? got
    : { outcome: 'authorization_required', authorization: got.authorization }
}

async function callGatepass(
  { gatepass }: ServedApp,
  { userId, traceparent }: ToolRun,
  name: string,
  args: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<InnerResult> {
  if (gatepass === undefined) return failed('TOOL_RUNTIME_FATAL', `There is no tool ${JSON.stringify(name)}.`)
  if (userId === null)
    throw new ContextRequiredError(`The tool "${name}" needs a user, and this call names none.`)
  const outcome = await gatepass.tools.execute(name, args, { user: userId, signal, traceparent })
  if (outcome.outcome === 'requires_authorization') {
    const { url = '', ...authorization } = outcome.authorization
    return { outcome: 'authorization_required', authorization: { ...authorization, url } }
  }
  return { outcome: 'result', result: toResult(name, outcome) }
}

function toResult(
  name: string,
  outcome: Exclude<GatepassOutcome, { outcome: 'requires_authorization' }>,
): CallToolResult {
  switch (outcome.outcome) {
    case 'value':
      return toCallToolResult({ outcome: 'value', json: JSON.stringify(outcome.value ?? null) })
    case 'artifact':
      return toCallToolResult({ outcome: 'value', json: JSON.stringify(outcome.artifact) })
    case 'error': {
      const { kind, message, canRetry, retryAfterMs, additionalPromptContent } = outcome.error
      return errorResult({
        kind,
        message,
        canRetry,
        ...(retryAfterMs !== undefined && { retryAfterMs }),
        ...(additionalPromptContent !== undefined && { additionalPromptContent }),
      })
    }
    case 'scheduled':
      throw new Error(`Gatepass scheduled the tool "${name}" instead of running it.`)
  }
}

function failed(kind: string, message: string): InnerResult {
  return { outcome: 'result', result: errorResult({ kind, message, canRetry: false }) }
}
