import { html } from 'hono/html'
import type { Html } from '../pages/layout.ts'
import {
  type Components,
  type Content,
  type Entry,
  type OpenApiDocument,
  type Parameter,
  type Response,
  resolve,
} from './document.ts'
import type { DocsOptions } from './example.ts'
import { exampleView } from './example-view.ts'
import { inline, limits, membersOf, prose, typeOf } from './schema-view.ts'
import { tryIt } from './try-it.ts'

/** One operation: what it does, what it takes, an example, and what it answers. */
export function operationView(entry: Entry, document: OpenApiDocument, options: DocsOptions): Html {
  const { id, method, path, anchor, operation } = entry
  const { components = {} } = document
  const { summary, description, parameters = [], requestBody, responses = {} } = operation
  const example = options.examples[id]
  return html`<article class="card operation" id="${anchor}">
<h2>${inline(summary ?? path)}</h2>
<p class="route"><span class="method ${method}">${method.toUpperCase()}</span> <code>${path}</code> <span class="muted small">${id}</span></p>
${description !== undefined && prose(description)}
${parameters.length > 0 && parameterTable(parameters)}
${requestBody?.content !== undefined && html`<h3>Request body</h3>${contentView(requestBody.content, components)}`}
${example !== undefined && exampleView(entry, example, document)}
<h3>Answers</h3>
${Object.entries(responses).map(([status, response]) => responseView(status, response, components))}
${options.development && tryIt(entry, example)}
</article>
`
}

function parameterTable(parameters: readonly Parameter[]): Html {
  return html`<h3>Parameters</h3>
<div class="scroll"><table>
<thead><tr><th scope="col">Name</th><th scope="col">In</th><th scope="col">Type and meaning</th></tr></thead>
<tbody>
${parameters.map(
  ({
    name,
    in: place,
    required,
    description,
    schema = {},
  }) => html`<tr><td><code>${name}</code></td><td>${place}</td>
<td><span class="muted">${typeOf(schema)}${required === true && html` · <strong>required</strong>`}${limits(schema)}</span>
${prose(description ?? schema.description ?? '')}</td></tr>
`,
)}
</tbody></table></div>`
}

function responseView(status: string, { description, content }: Response, components: Components): Html {
  const isRefusal = status === 'default'
  const summary = html`<code>${isRefusal ? '4xx, 5xx' : status}</code> ${description !== undefined && inline(description)}`
  if (isRefusal) return html`<p>${summary}: <a href="/docs#errors">errors and their codes</a></p>`
  if (content === undefined) return html`<p>${summary}</p>`
  return html`<details><summary><span>${summary}</span></summary>${contentView(content, components)}</details>
`
}

function contentView(content: Content, components: Components): Html {
  return html`${Object.entries(content).map(
    ([
      mediaType,
      { schema = {} },
    ]) => html`<p class="muted small"><code>${mediaType}</code> ${typeOf(schema)}</p>
${membersOf(resolve(schema, components))}`,
  )}`
}
