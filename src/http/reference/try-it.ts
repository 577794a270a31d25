import { html } from 'hono/html'
import type { Html } from '../pages/layout.ts'
import type { Entry, Parameter } from './document.ts'
import type { Example } from './example.ts'
import { shownJson } from './example-view.ts'
import { typeOf } from './schema-view.ts'

/**
 * A form that sends the request of an operation with the key that the reader types. The script of the reference shows
 * the form and sends the request. Without the script the form stays hidden, because a browser that submits it would
 * put the fields into the URL.
 */
export function tryIt({ method, path, anchor, operation }: Entry, example: Example | undefined): Html {
  const given = example === undefined ? {} : valuesOf(path, example)
  const hasBody = operation.requestBody !== undefined
  return html`<details class="try" hidden data-script><summary>Try it</summary>
<form data-method="${method.toUpperCase()}" data-path="${path}">
${(operation.parameters ?? []).map((parameter) => field(parameter, anchor, given))}
${
  hasBody &&
  html`<label for="${anchor}-body">Body</label>
<textarea id="${anchor}-body" name="body" rows="8" spellcheck="false">${example?.body === undefined ? '{}' : shownJson(example.body)}</textarea>`
}
<button type="submit">Send</button>
</form>
<p class="muted small" role="status"></p>
<pre tabindex="0" hidden><code></code></pre>
</details>`
}

function field(
  { name = '', in: place = 'query', required = false, schema = {} }: Parameter,
  anchor: string,
  given: Readonly<Record<string, string>>,
): Html {
  const id = `${anchor}-${name}`
  return html`<label for="${id}"><code>${name}</code> <span class="muted small">${place}, ${typeOf(schema)}</span></label>
<input id="${id}" name="${name}" data-in="${place}" autocomplete="off" spellcheck="false" value="${given[name] ?? ''}"${required && html` required`}>
`
}

/** The values of the example's parameters by name, from its path, its query and its headers. */
function valuesOf(template: string, { path, headers = {} }: Example): Readonly<Record<string, string>> {
  const { pathname, searchParams } = new URL(path, 'http://example')
  const names = [...template.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  // only the path of a proxied request has slashes
  const pattern = new RegExp(`^${template.replace('{path}', '(.+)').replaceAll(/\{\w+\}/g, '([^/]+)')}$`)
  const values = pattern.exec(pathname)?.slice(1) ?? []
  const inPath = Object.fromEntries(names.map((name, at) => [name, decodeURIComponent(values[at] ?? '')]))
  return { ...headers, ...Object.fromEntries(searchParams), ...inPath }
}
