import { redactText } from '../../redact.ts'

/** A call that has been answered, as development shows it: nothing of its query, its headers or its body. */
export interface AnsweredCall {
  readonly method: string
  readonly path: string
  readonly status: number
  /** The word of the API's own answer, such as `requires_authorization` or `not_found`; else that of the status. */
  readonly outcome: string
  readonly ms: number
}

export type OnCall = (call: AnsweredCall) => void

type Fetch<Env> = (request: Request, env: Env) => Response | Promise<Response>

/** What is asked again and again by itself: pages' assets, probes, the sample tool's worker. */
const UNSHOWN = /^\/(?:assets\/|health$|ready$|metrics$|favicon\.ico$|sandbox\/worker\/)/
/** The longest answer whose outcome is looked for. */
const MAX_BYTES = 256 * 1024

/** Tells of each call when its answer begins. Reading answers a second time costs, so this is for development. */
export function watchCalls<Env>(fetch: Fetch<Env>, onCall: OnCall): Fetch<Env> {
  return async (request, env) => {
    const begun = performance.now()
    const { pathname } = new URL(request.url)
    const response = await fetch(request, env)
    if (UNSHOWN.test(pathname)) return response
    const { method } = request
    const { status } = response
    const ms = Math.round((performance.now() - begun) * 10) / 10
    const path = shownPath(pathname)
    const tell = (outcome: string) => onCall({ method, path, status, outcome, ms })
    const word = status < 300 ? 'ok' : status < 400 ? 'redirect' : status < 500 ? 'refused' : 'failed'
    const isOwn = !pathname.startsWith('/proxy/')
    const isJson = /^application\/json\b/.test(response.headers.get('content-type') ?? '')
    if (!isOwn || !isJson || response.body === null) {
      tell(word)
      return response
    }
    const text = await response.text()
    tell((text.length <= MAX_BYTES && outcomeOf(text)) || word)
    return new Response(text, response)
  }
}

/** The path of an API behind the proxy may hold anything; a control character could steer the terminal. */
function shownPath(pathname: string): string {
  const own = pathname.replace(/^(\/proxy\/[^/]+)\/.*$/s, '$1/…')
  const text = redactText(own).replaceAll(/\p{Cc}/gu, '')
  return text.length > 120 ? `${text.slice(0, 119)}…` : text
}

const OUTPUTS = ['requires_authorization', 'error', 'artifact', 'value'] as const

/** What an answer says by its own contract: an error's code, what a run gave, how an authorization stands. */
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
    .map((result) => `${results.filter((one) => one === result).length} ${result}`)
    .join(', ')
}

/** A code or status, which is short and of plain letters; anything else is none and is not shown. */
function wordOf(text: string): string {
  return /^[a-z_]{1,40}$/i.test(text) ? text : ''
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
