import { type AppTool, listedTool } from './app-tools.ts'
import { allAuths, authName, authRequirements, type ToolAuth } from './auth.ts'
import type { CallToolResult } from './content.ts'
import { ContextRequiredError } from './errors.ts'
import type { GatepassOutcome } from './gatepass-client.ts'
import { logToolFailure } from './log-tool-failure.ts'
import type { ConsentMissing, InnerResult, OuterRun, ToolRun } from './run.ts'
import { runTool } from './run-tool.ts'
import type { ServedApp } from './served-app.ts'
import { errorResult, toCallToolResult, withoutDeveloperMessage } from './tool-result.ts'
import { userAuthorizations } from './user-authorizations.ts'

/** How deep the calls of tools by other tools may nest. */
const MAX_DEPTH = 8

/**
 * Adds `tools.call` and `tools.list` to a run, for an app that is served outside of Gatepass. `tools.call` runs the
 * app's own tools and those of its Gatepass; `tools.list` returns only the app's own.
 */
export function withOwnTools(app: ServedApp, run: ToolRun, depth = 1): ToolRun {
  let calls = 0
  return {
    ...run,
    listTools: async () => app.tools.list().map(listedTool),
    async callTool(name, args, outer) {
      const key = `${++calls}:${name}`
      const { signal } = outer
      if (depth > MAX_DEPTH)
        return failed('TOOL_RUNTIME_FATAL', `More than ${MAX_DEPTH} tools have called each other.`)
      const tool = findOwn(app, name)
      if (tool === undefined) return callGatepass(app, run, name, args, signal)
      const held = await authorizationsFor(app, run, tool, signal)
      if (held.outcome === 'authorization_required') return held
      const inner: ToolRun = { ...innerRun(run, key, outer), authorizations: held.authorizations }
      const result = await runTool({ ...tool, app }, args, withOwnTools(app, inner, depth + 1))
      if (result.outcome === 'authorization_required') return result
      // the outer tool may return this result to a caller who must not see the message for the operator
      if (result.outcome === 'error') logToolFailure(tool, inner, result.error)
      return { outcome: 'result', result: toCallToolResult(withoutDeveloperMessage(result)) }
    },
  }
}

/**
 * Returns the run of a tool that another tool calls. `key` distinguishes its steps and forms from those of other calls,
 * and is the same when the outer tool runs again. Progress and chunks of the inner tool are dropped, because the caller
 * follows those of the outer tool.
 */
function innerRun(
  { progress: _, chunk: __, step, elicit, createMessage, ...run }: ToolRun,
  key: string,
  { signal, whileAsking }: OuterRun,
): ToolRun {
  return {
    ...run,
    signal,
    ...(step && { step: (own, fn) => step(`${key}:${own}`, fn) }),
    ...(elicit && {
      elicit: (form) =>
        whileAsking(() => elicit({ ...form, ...(form.key !== undefined && { key: `${key}:${form.key}` }) })),
    }),
    ...(createMessage && { createMessage: (request) => whileAsking(() => createMessage(request)) }),
  }
}

/** Finds a tool of the app by its own name, or by the name under which Gatepass lists it (`hub:repositories`). */
function findOwn({ name: app, tools }: ServedApp, name: string): AppTool | undefined {
  return tools.find(name) ?? (name.startsWith(`${app}:`) ? tools.find(name.slice(app.length + 1)) : undefined)
}

type Held = { readonly outcome: 'held'; readonly authorizations: ToolRun['authorizations'] } | ConsentMissing

/** Returns the outer tool's tokens if they cover what the inner tool needs; otherwise tokens from Gatepass. */
async function authorizationsFor(
  { gatepass }: ServedApp,
  { authorizations, userId }: ToolRun,
  { name, options: { requiresAuth } }: AppTool,
  signal: AbortSignal,
): Promise<Held> {
  const isHeld = (auth: ToolAuth) => {
    const held = authorizations[authName(auth)]
    return held !== undefined && (auth.scopes ?? []).every((scope) => held.scopes.includes(scope))
  }
  const { all, alternatives } = authRequirements(requiresAuth)
  if (all.every(isHeld) && (alternatives.length === 0 || alternatives.some((group) => group.every(isHeld)))) {
    // with `anyOf`, a provider's token may lack scopes: the inner tool must not get such a token
    const lacking = allAuths(requiresAuth)
      .filter((auth) => !isHeld(auth))
      .map(authName)
    const usable = Object.entries(authorizations).filter(([id]) => !lacking.includes(id))
    return { outcome: 'held', authorizations: Object.fromEntries(usable) }
  }
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
  let outcome: GatepassOutcome
  try {
    outcome = await gatepass.tools.execute(name, args, { user: userId, signal, traceparent })
  } catch (error) {
    return refusedResult(error)
  }
  if (outcome.outcome === 'requires_authorization') {
    const { url = '', ...authorization } = outcome.authorization
    return { outcome: 'authorization_required', authorization: { ...authorization, url } }
  }
  return { outcome: 'result', result: toResult(name, outcome) }
}

/**
 * Refusals that only the app's author should see: the API key or the address of Gatepass is wrong, or Gatepass has
 * failed. They are thrown, because callers may see results.
 */
const FOR_THE_AUTHOR: readonly string[] = [
  'invalid_authorization',
  'insufficient_role',
  'insufficient_scope',
  'user_not_allowed',
  'unexpected_answer',
  'internal_error',
]

/** Returns a failed result for a call that Gatepass refuses, as in Gatepass's own process; throws any other error. */
function refusedResult(error: unknown): InnerResult {
  const isRefusal = error instanceof Error && 'code' in error && 'status' in error
  if (!isRefusal || typeof error.code !== 'string' || typeof error.status !== 'number') throw error
  if (FOR_THE_AUTHOR.includes(error.code)) throw error
  return failed(error.code, error.message)
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
