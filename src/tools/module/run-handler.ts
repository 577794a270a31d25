import { handOut } from '../../flows/hand-out.ts'
import { allAuths, authName } from '../../sdk/tools/auth.ts'
import type { ElicitResult } from '../../sdk/tools/content.ts'
import type { AuthInfo } from '../../sdk/tools/context.ts'
import type { Form } from '../../sdk/tools/elicit.ts'
import { ContextRequiredError } from '../../sdk/tools/errors.ts'
import type { RunnableTool, ToolRun } from '../../sdk/tools/run.ts'
import { runTool } from '../../sdk/tools/run-tool.ts'
import { currentSpan } from '../../services/tracing.ts'
import type { BackendCall, GivenAuthorization } from '../backend.ts'
import { ASKS_ITS_USER } from '../dialog/tool-dialog.ts'
import { mcpAnswers } from '../mcp/read-answer-task.ts'
import { answerReader, readAnswer } from '../read-answer.ts'
import { type AuthorizationRequired, ownError, type ToolAnswer, type ToolLog } from '../tool-answer.ts'
import { CANCELLED } from '../worker-request.ts'
import { moduleAnswers } from './read-answer-task.ts'

const MAX_LOGS = 1000

export const valueReader = answerReader(moduleAnswers, './read-answer-task', import.meta.url)
const contentReader = answerReader(mcpAnswers, '../mcp/read-answer-task', import.meta.url)

/** Runs a tool of a module. */
export async function runHandler(tool: RunnableTool, call: BackendCall): Promise<ToolAnswer> {
  const logs: ToolLog[] = []
  let missing: AuthorizationRequired | undefined
  const ended = new AbortController()
  const run: ToolRun = {
    ...toRun(tool, call, logs, (consent) => {
      missing = consent
    }),
    elicit: (form) => askForm(call, form, ended.signal),
  }
  const result = await runTool(tool, call.input, run).finally(() => ended.abort())
  if (missing !== undefined && result.outcome === 'authorization_required') return { ...missing, logs }
  const bytes = (json: string) => new TextEncoder().encode(json)
  switch (result.outcome) {
    case 'value':
      return readAnswer(valueReader, { bytes: bytes(result.json), logs }, call.reading)
    case 'content': {
      const answer = await readAnswer(
        contentReader,
        { bytes: bytes(JSON.stringify(result.result)) },
        call.reading,
      )
      return { ...answer, logs }
    }
    case 'error':
      if (!result.isCutOff) return { ...result, logs }
      // the broker set the time limit and passed on the cancellation, so the error is its own
      return ownError(call.signal?.aborted === true ? CANCELLED : result.error, [...logs])
    case 'authorization_required':
      throw new Error(
        'The tool reports that consent is missing, but none of the tools that it called lacks one.',
      )
  }
}

/** Shows the form to the caller's user. */
async function askForm(
  { dialog, signal }: BackendCall,
  { message, schema, accepts, timeoutMs }: Form,
  ended: AbortSignal,
): Promise<ElicitResult<unknown>> {
  if (dialog === undefined) throw new ContextRequiredError(`${ASKS_ITS_USER.message} (ui.elicit)`)
  const timeout = timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs)
  const signals = [ended, signal, timeout].filter((abort) => abort !== undefined)
  const question = { mode: 'form', message, requestedSchema: schema, accepts } as const
  try {
    return await dialog.elicit(question, AbortSignal.any(signals))
  } catch (error) {
    if (timeout?.aborted === true) return { action: 'cancel' }
    throw error
  }
}

function toRun(
  { options }: RunnableTool,
  call: BackendCall,
  logs: ToolLog[],
  onMissing: (missing: AuthorizationRequired) => void,
): ToolRun {
  const { executionId, userId, secrets, metadata, onEvent, inner, signal, dialog } = call
  const values = new Map(secrets.map(({ key, value }) => [key, value]))
  return {
    way: 'a run in Gatepass’s own process',
    userId: userId ?? null,
    sessionId: null,
    requestId: executionId,
    traceparent: currentSpan()?.traceparent,
    authorizations: Object.fromEntries(
      allAuths(options.requiresAuth).flatMap((auth) => {
        const name = authName(auth)
        const found = call.authorizations.find(({ requirements }) =>
          requirements.some((requirement) =>
            'id' in auth ? requirement.id === name : requirement.providerId === name,
          ),
        )
        return found === undefined ? [] : [[name, toAuthInfo(found)]]
      }),
    ),
    metadata: Object.fromEntries(metadata.map(({ key, value }) => [key, value])),
    secret: (key) => values.get(key),
    ...(signal && { signal }),
    log(level, message) {
      if (logs.length < MAX_LOGS) logs.push({ level, message })
      dialog?.log({ level, message })
    },
    progress(progress, total, message) {
      const data = {
        progress,
        total,
        message,
      }
      onEvent?.({ kind: 'progress', data })
    },
    chunk: (data) => onEvent?.({ kind: 'chunk', data }),
    ...(inner && {
      async callTool(name, args, outer) {
        const called = await inner.call(name, args, outer)
        if (called.outcome === 'authorization_required') onMissing(called)
        return called
      },
      listTools: inner.list,
      listChanged: (list) => (list === 'tools' ? inner.listChanged() : undefined),
    }),
  }
}

function toAuthInfo({ release }: GivenAuthorization): AuthInfo {
  const { userInfo, extra = {}, connection } = release
  const { token, tokenType, fields } = handOut(release)
  return {
    token,
    tokenType,
    ...(fields !== undefined && { fields }),
    ...(connection.expiresAt !== undefined && { expiresAt: new Date(connection.expiresAt * 1000) }),
    // copies, because the broker caches the originals for the next call
    ...structuredClone({ scopes: connection.scopes, userInfo, extra }),
  }
}
