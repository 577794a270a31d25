import { html } from 'hono/html'
import type { Html } from '../pages/layout.ts'
import type { Entry, OpenApiDocument } from './document.ts'
import type { Example } from './example.ts'

interface Request {
  readonly method: string
  readonly url: string
  readonly needsKey: boolean
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly body?: unknown
}

/** A recorded exchange: the request as a curl command and as a call of the SDK, and the answer. */
export function exampleView(entry: Entry, example: Example, { servers }: OpenApiDocument): Html {
  const { path, headers, body, status, mediaType, answer, sdk } = example
  const request = {
    method: entry.method.toUpperCase(),
    url: `${servers?.[0]?.url ?? ''}${path}`,
    needsKey: needsKey(entry),
    headers,
    body,
  }
  return html`<h3>Example</h3>
<p class="muted small">Request, with curl</p>
<pre tabindex="0"><code>${curl(request)}</code></pre>
${
  sdk !== undefined &&
  html`<p class="muted small">Request, with <code>@gatepass/sdk</code></p>
<pre tabindex="0"><code>${sdk}</code></pre>
`
}
<p class="muted small">Answer <code>${status}</code>${mediaType === undefined ? ' without a body' : html` <code>${mediaType}</code>`}</p>
${answer !== undefined && html`<pre tabindex="0" class="answer"><code>${typeof answer === 'string' ? answer : shownJson(answer)}</code></pre>`}`
}

export function needsKey({ operation }: Entry): boolean {
  return (operation.security ?? []).some((scheme) => 'apiKey' in scheme)
}

/** A curl command for a POSIX shell. The key is in a variable, so that it does not get into the shell's history. */
export function curl({ method, url, needsKey, headers = {}, body }: Request): string {
  const lines = [
    `curl${method === 'GET' ? '' : ` -X ${method}`} ${quoted(url)}`,
    ...(needsKey ? ['-H "Authorization: Bearer $GATEPASS_API_KEY"'] : []),
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : ["-H 'Content-Type: application/json'", `-d ${quoted(shownJson(body))}`]),
  ]
  return lines.join(' \\\n  ')
}

function quoted(text: string): string {
  return /^[\w:/.@%-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}

const MAX_LINE_CHARACTERS = 80

/** JSON over several lines, with small objects and lists on one line. */
export function shownJson(value: unknown, indent = ''): string {
  const short = JSON.stringify(value, null, 1)?.replaceAll(/\n\s*/g, ' ') ?? ''
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (short.length + indent.length <= MAX_LINE_CHARACTERS) return short
  const inner = `${indent}  `
  if (Array.isArray(value))
    return `[\n${value.map((item) => inner + shownJson(item, inner)).join(',\n')}\n${indent}]`
  const members = Object.entries(value).map(
    ([name, item]) => `${inner}${JSON.stringify(name)}: ${shownJson(item, inner)}`,
  )
  return `{\n${members.join(',\n')}\n${indent}}`
}
