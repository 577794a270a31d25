import type { AppTool } from '../tools/app-tools.ts'
import { environmentSecret } from '../tools/environment-secret.ts'
import { withOwnTools } from '../tools/own-tools.ts'
import type { ErrorDetails, ToolResult, ToolRun } from '../tools/run.ts'
import { runTool } from '../tools/run-tool.ts'
import type { ServedApp } from '../tools/served-app.ts'
import { plainValue } from '../tools/tool-result.ts'
import { withoutUndefined } from '../without-undefined.ts'
import type { CallRequest } from './call-request.ts'

const MAX_LOGS = 1000

interface Log {
  readonly level: string
  readonly message: string
}

/** Runs a tool and returns Arcade's ToolCallResponse. */
export async function invoke(
  app: ServedApp,
  tool: AppTool,
  call: CallRequest,
  { signal, traceparent }: Pick<ToolRun, 'signal' | 'traceparent'>,
) {
  const { executionId, userId, secrets, metadata } = call
  const started = performance.now()
  const logs: Log[] = []
  const run: ToolRun = {
    way: 'an HTTP worker',
    userId,
    sessionId: null,
    requestId: executionId,
    traceparent,
    authorizations: call.authorizations(tool.options.requiresAuth),
    metadata,
    secret: (key) => (Object.hasOwn(secrets, key) ? secrets[key] : environmentSecret(key)),
    ...(signal && { signal }),
    log(level, message) {
      if (logs.length < MAX_LOGS) logs.push({ level, message })
    },
  }
  const result = await runTool({ ...tool, app }, call.inputs, withOwnTools(app, run))
  const output = outputOf(result)
  return {
    execution_id: executionId,
    finished_at: new Date().toISOString(),
    duration: Math.round(performance.now() - started),
    success: 'value' in output,
    output: { ...output, ...(logs.length > 0 && { logs }) },
  }
}

function outputOf(result: ToolResult) {
  switch (result.outcome) {
    case 'value':
      return { value: JSON.parse(result.json) as unknown }
    case 'content': {
      const read = plainValue(result.result)
      return read.outcome === 'value' ? { value: read.value } : { error: errorToWire(read.error) }
    }
    case 'error':
      return { error: errorToWire(result.error) }
    case 'authorization_required': {
      const { id, url, scopes, status } = result.authorization
      return {
        requires_authorization: { authorization_id: id, authorization_url: url, scopes, status },
      }
    }
  }
}

function errorToWire({ kind, message, retryAfterMs, stacktrace, ...error }: ErrorDetails) {
  return withoutUndefined({
    kind,
    message,
    can_retry: error.canRetry,
    developer_message: error.developerMessage,
    additional_prompt_content: error.additionalPromptContent,
    retry_after_ms: retryAfterMs === undefined ? undefined : Math.ceil(retryAfterMs),
    status_code: error.statusCode,
    stacktrace,
  })
}
