import { AsyncLocalStorage } from 'node:async_hooks'
import type { ElicitResult } from '@modelcontextprotocol/client'
import { isRecord, type JsonRecord } from '../../parsing/json-record.ts'
import { ContextRequiredError } from '../../sdk/tools/errors.ts'
import type { BackendCall } from '../backend.ts'
import { ASKS_ITS_USER } from '../dialog/tool-dialog.ts'
import { scrub } from '../scrub/scrub.ts'
import type { ToolLog } from '../tool-answer.ts'

// The messages that a server sends besides the result while it runs a tool: questions, log lines, and notifications that
// its list of tools has changed. The calls of one user share a session, so a message belongs to the call on whose stream
// it arrived.

/** Receives the messages of one call. */
export interface ServerMessages {
  /** The lines of `notifications/message`. */
  readonly logs: readonly ToolLog[]
  /** Takes the parameters of a notification. */
  log(params: unknown): void
  listChanged(): void
  /**
   * Answers an elicitation: a request (MCP 2025) or a round of the call (MCP 2026-07-28). Throws
   * `ContextRequiredError`.
   */
  elicit(params: unknown, signal: AbortSignal): Promise<ElicitResult>
  /** Why a question of this call was not passed on. */
  readonly refusal: ContextRequiredError | undefined
}

const MAX_LOGS = 1_000
/** In characters. */
const MAX_LOG_LINE = 10_000

/** `workerSecrets`: the worker's own secrets, which are not among those of the call. */
export function createServerMessages(
  { dialog, onListChanged, reading }: BackendCall,
  workerSecrets: readonly string[],
): ServerMessages {
  const logs: ToolLog[] = []
  let refusal: ContextRequiredError | undefined
  return {
    logs,
    log(params) {
      if (!isRecord(params) || logs.length >= MAX_LOGS) return
      // remove secrets before the line is cut, because a cut secret would not be recognised
      const secrets = [...workerSecrets, ...(reading?.secrets ?? [])]
      const { level, logger, data } = scrub(params, secrets) as JsonRecord // `scrub` keeps the shape
      const text = typeof data === 'string' ? data : (JSON.stringify(data) ?? '')
      const line = {
        level: typeof level === 'string' ? level.slice(0, 20) : 'info',
        message: (typeof logger === 'string' ? `${logger}: ${text}` : text).slice(0, MAX_LOG_LINE),
      }
      logs.push(line)
      dialog?.log(line)
    },
    listChanged: () => onListChanged?.(),
    async elicit(params, signal) {
      try {
        if (dialog === undefined) throw new ContextRequiredError(ASKS_ITS_USER.message)
        // the dialog knows the secrets of the call, and refuses a link that holds one
        return toResult(await dialog.elicit(toQuestion(scrub(params, workerSecrets)), signal))
      } catch (error) {
        if (error instanceof ContextRequiredError) refusal = error
        throw error
      }
    },
    get refusal() {
      return refusal
    },
  }
}

/** An absent mode means a form, as in MCP 2025-06-18, which has no modes. The dialog checks the rest. */
function toQuestion(params: unknown) {
  const { mode = 'form', message, url, requestedSchema } = isRecord(params) ? params : {}
  const text = typeof message === 'string' ? message : ''
  if (mode === 'url') return { mode, message: text, url: typeof url === 'string' ? url : '' } as const
  return { mode: 'form', message: text, requestedSchema } as const
}

function toResult({
  action,
  content,
}: {
  readonly action: ElicitResult['action']
  readonly content?: unknown
}) {
  return { action, content } as ElicitResult // the form says that its values are primitive
}

const current = new AsyncLocalStorage<ServerMessages>()

/** Runs a request of a call, so that messages on its stream are assigned to the call. */
export function receiving<Result>(messages: ServerMessages | undefined, run: () => Result): Result {
  return messages === undefined ? run() : current.run(messages, run)
}

/** The call on whose stream the current message arrived; `undefined` for a message outside of calls. */
export function currentMessages(): ServerMessages | undefined {
  return current.getStore()
}
