import { isRecord } from '../../parsing/json-record.ts'
import { redactText } from '../../redact.ts'
import { withoutProxiedPath } from '../endpoint/errors.ts'

/** An answered call as development mode shows it, without its query, its headers and its body. */
export interface AnsweredCall {
  readonly method: string
  readonly path: string
  readonly status: number
  /** The outcome that the body names, such as `requires_authorization` or `not_found`; else a word for the status. */
  readonly outcome: string
  readonly ms: number
}

export type OnCall = (call: AnsweredCall) => void

/** Answers a request. `Env` has the request and the response of Node. */
export type Fetch<Env> = (request: Request, env: Env) => Response | Promise<Response>

/** Paths of calls that are not shown, because programs repeat them: assets, probes, the sample tool's worker. */
const UNSHOWN = /^\/(?:assets\/|health$|ready$|metrics$|favicon\.ico$|sandbox\/worker\/)/
/** The longest answer that is searched for its outcome. */
const MAX_CHARACTERS = 256 * 1024

/**
 * Reports each call when its answer begins. Reads the whole body of a JSON answer before it is sent, so this is for
 * development only.
 */
export function withCallLog<Env>(fetch: Fetch<Env>, onCall: OnCall): Fetch<Env> {
  return async (request, env) => {
    const begun = performance.now()
    const { pathname } = new URL(request.url)
    const response = await fetch(request, env)
    if (UNSHOWN.test(pathname)) return response
    const { method } = request
    const { status } = response
    const ms = Math.round((performance.now() - begun) * 10) / 10
    const path = shownPath(pathname)
    const report = (outcome: string) => onCall({ method, path, status, outcome, ms })
    const word = status < 300 ? 'ok' : status < 400 ? 'redirect' : status < 500 ? 'refused' : 'failed'
    const isOwn = !pathname.startsWith('/proxy/')
    const { headers } = response
    const isJson = /^application\/json\b/.test(headers.get('content-type') ?? '')
    if (!isOwn || !isJson || headers.has('content-encoding') || response.body === null) {
      report(word)
      return response
    }
    const text = await response.text()
    report((text.length <= MAX_CHARACTERS && outcomeOf(text)) || word)
    return new Response(text, response)
  }
}

/** The path without secrets, without control characters and without the part that the proxy forwards. */
function shownPath(pathname: string): string {
  const text = redactText(withoutProxiedPath(pathname)).replaceAll(/\p{Cc}/gu, '')
  return text.length > 120 ? `${text.slice(0, 119)}…` : text
}

const OUTPUTS = ['requires_authorization', 'error', 'artifact', 'value'] as const

/** The outcome that an answer names: the code of an error, the kind of a tool's output, the status of an authorization. */
function outcomeOf(text: string): string | undefined {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    return undefined
  }
  if (!isRecord(body)) return undefined
  const { output, items, status, name, message, success } = body
  if (isRecord(output)) return OUTPUTS.find((kind) => kind in output)
  if (typeof status === 'string') return wordOf(status)
  if (typeof name === 'string' && typeof message === 'string') return wordOf(name)
  if (typeof success === 'boolean') return success ? 'success' : 'failed'
  if (!Array.isArray(items)) return undefined
  const results = items.flatMap((item) =>
    isRecord(item) && typeof item.result === 'string' ? wordOf(item.result) : [],
  )
  if (results.length === 0) return `${items.length} item${items.length === 1 ? '' : 's'}`
  return [...new Set(results)]
    .map((result) => `${results.filter((other) => other === result).length} ${result}`)
    .join(', ')
}

/** The text if it is short and of plain letters, as codes are; else an empty string, which is not shown. */
function wordOf(text: string): string {
  return /^[a-z_]{1,40}$/i.test(text) ? text : ''
}
