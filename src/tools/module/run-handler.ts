import { allAuths, authName } from '../../sdk/tools/auth.ts'
import type { AuthInfo } from '../../sdk/tools/context.ts'
import type { RunnableTool, ToolRun } from '../../sdk/tools/run.ts'
import { runTool } from '../../sdk/tools/run-tool.ts'
import type { BackendCall, GivenAuthorization } from '../backend.ts'
import { readAnswer } from '../read-answer.ts'
import { type AuthorizationRequired, ownError, type ToolAnswer, type ToolLog } from '../tool-answer.ts'

const MAX_LOGS = 1000

/** Runs a tool of a module. */
export async function runHandler(tool: RunnableTool, call: BackendCall): Promise<ToolAnswer> {
  const logs: ToolLog[] = []
  let missing: AuthorizationRequired | undefined
  const run = toRun(tool, call, logs, (consent) => {
    missing = consent
  })
  const result = await runTool(tool, call.input, run)
  if (missing !== undefined && result.outcome === 'authorization_required') return { ...missing, logs }
  const bytes = (json: string) => new TextEncoder().encode(json)
  switch (result.outcome) {
    case 'value':
      return readAnswer({ protocol: 'module', bytes: bytes(result.json), logs }, call.reading)
    case 'content': {
      const answer = await readAnswer(
        { protocol: 'mcp', bytes: bytes(JSON.stringify(result.result)) },
        call.reading,
      )
      return { ...answer, logs }
    }
    case 'error':
      // the time limit is the broker's
      return result.isCutOff ? ownError(result.error, [...logs]) : { ...result, logs }
    case 'authorization_required':
      throw new Error('The consent of a tool that was not called is missing.')
  }
}

function toRun(
  { options }: RunnableTool,
  call: BackendCall,
  logs: ToolLog[],
  onMissing: (missing: AuthorizationRequired) => void,
): ToolRun {
  const { executionId, userId, secrets, metadata, onEvent, inner, signal } = call
  const values = new Map(secrets.map(({ key, value }) => [key, value]))
  return {
    way: 'a run in Gatepass’s own process',
    userId: userId ?? null,
    sessionId: null,
    requestId: executionId,
    authorizations: Object.fromEntries(
      allAuths(options.requiresAuth).flatMap((auth) => {
        const name = authName(auth)
        const found = call.authorizations.find(({ requirements }) =>
          requirements.some((one) => ('id' in auth ? one.id === name : one.providerId === name)),
        )
        return found === undefined ? [] : [[name, toAuthInfo(found)]]
      }),
    ),
    metadata: Object.fromEntries(metadata.map(({ key, value }) => [key, value])),
    secret: (key) => values.get(key),
    ...(signal && { signal }),
    log(level, message) {
      if (logs.length < MAX_LOGS) logs.push({ level, message })
    },
    progress(progress, total, message) {
      const data = {
        progress,
        ...(total !== undefined && { total }),
        ...(message !== undefined && { message }),
      }
      onEvent?.({ kind: 'progress', data })
    },
    chunk: (data) => onEvent?.({ kind: 'chunk', data }),
    ...(inner && {
      async callTool(name, args, signal) {
        const called = await inner.call(name, args, signal)
        if (called.outcome === 'authorization_required') onMissing(called)
        return called
      },
      listTools: inner.list,
      listChanged: (list) => (list === 'tools' ? inner.listChanged() : undefined),
    }),
  }
}

function toAuthInfo({ release }: GivenAuthorization): AuthInfo {
  const { accessToken, userInfo, extra = {}, connection } = release
  return {
    token: accessToken,
    tokenType: connection.tokenType,
    ...(connection.expiresAt !== undefined && { expiresAt: new Date(connection.expiresAt * 1000) }),
    // copies, because the broker caches the originals for the next call
    ...structuredClone({ scopes: connection.scopes, userInfo, extra }),
  }
}
