import { html } from 'hono/html'
import { type Html, page } from './layout.ts'
import {
  inline,
  type JsonSchema,
  limits,
  membersOf,
  prose,
  refName,
  schemaAnchor,
  typeOf,
} from './schema-view.ts'

/** The parts of an OpenAPI 3.1 document that the API reference shows. */
export interface OpenApiDocument {
  readonly info: { readonly title: string; readonly version: string; readonly description?: string }
  readonly tags?: readonly { readonly name: string; readonly description?: string }[]
  readonly paths?: Readonly<Record<string, PathItem>>
  readonly components?: Components
}

interface Components {
  readonly schemas?: Readonly<Record<string, JsonSchema>>
  readonly parameters?: Readonly<Record<string, Parameter>>
  readonly responses?: Readonly<Record<string, Response>>
  readonly requestBodies?: Readonly<Record<string, RequestBody>>
}

type PathItem = { readonly parameters?: readonly Parameter[] } & { readonly [M in Method]?: Operation }

interface Operation {
  readonly summary?: string
  readonly description?: string
  readonly tags?: readonly string[]
  readonly deprecated?: boolean
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: RequestBody
  readonly responses?: Readonly<Record<string, Response>>
}

interface Parameter {
  readonly $ref?: string
  readonly name?: string
  readonly in?: string
  readonly required?: boolean
  readonly description?: string
  readonly schema?: JsonSchema
}

interface RequestBody {
  readonly $ref?: string
  readonly description?: string
  readonly content?: Content
}

interface Response {
  readonly $ref?: string
  readonly description?: string
  readonly content?: Content
}

type Content = Readonly<Record<string, MediaType>>

interface MediaType {
  readonly schema?: JsonSchema
  readonly example?: unknown
  readonly examples?: Readonly<Record<string, { readonly $ref?: string; readonly value?: unknown }>>
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete', 'head', 'options', 'trace'] as const
type Method = (typeof METHODS)[number]

interface Entry {
  readonly method: Method
  readonly path: string
  readonly anchor: string
  readonly operation: Operation
  readonly parameters: readonly Parameter[]
}

interface Group {
  readonly tag: string
  readonly anchor: string
  readonly description: string | undefined
  readonly entries: readonly Entry[]
}

/** The API reference. All of it is generated from the document, so that the two cannot differ. */
export function docsPage(document: OpenApiDocument): Html {
  const groups = groupsOf(document)
  const schemas = Object.entries(document.components?.schemas ?? {})
  const body = html`<main>
<nav aria-label="Contents"><ul>
${groups.map(
  ({ tag, anchor, entries }) => html`<li><a href="#${anchor}">${tag}</a><ul>
${entries.map(({ anchor, method, path }) => html`<li><a href="#${anchor}">${method.toUpperCase()} ${path}</a></li>`)}
</ul></li>
`,
)}
${schemas.length > 0 && html`<li><a href="#schemas">Schemas</a></li>`}
</ul></nav>
<div>
<h1>${document.info.title}</h1>
<p class="muted">Version ${document.info.version} · <a href="/openapi.json">OpenAPI document</a></p>
${document.info.description !== undefined && prose(document.info.description)}
${groups.map((group) => groupSection(group, document.components ?? {}))}
${
  schemas.length > 0 &&
  html`<section id="schemas"><h2>Schemas</h2>
${schemas.map(([key, schema]) => schemaCard(key, schema))}
</section>`
}
</div>
</main>`
  return page(document.info.title, body, { wide: true })
}

/** One group for each tag, in the order of the document. Operations without a tag are in the group "Other". */
function groupsOf({ paths = {}, tags = [] }: OpenApiDocument): Group[] {
  const entriesByTag = new Map<string, Entry[]>(tags.map((tag) => [tag.name, []]))
  for (const [path, item] of Object.entries(paths)) {
    for (const method of METHODS) {
      const operation = item[method]
      if (operation === undefined) continue
      const tag = operation.tags?.[0] ?? 'Other'
      const entries = entriesByTag.get(tag) ?? []
      entriesByTag.set(tag, entries)
      const parameters = [...(item.parameters ?? []), ...(operation.parameters ?? [])]
      entries.push({ method, path, anchor: slug(`${method}${path}`), operation, parameters })
    }
  }
  return [...entriesByTag]
    .filter(([, entries]) => entries.length > 0)
    .map(([tag, entries]) => ({
      tag,
      anchor: slug(`tag-${tag}`),
      description: tags.find(({ name }) => name === tag)?.description,
      entries,
    }))
}

function groupSection({ tag, anchor, description, entries }: Group, components: Components): Html {
  return html`<section id="${anchor}"><h2>${tag}</h2>
${description !== undefined && prose(description)}
${entries.map((entry) => operationCard(entry, components))}
</section>
`
}

function operationCard({ method, path, anchor, operation, parameters }: Entry, components: Components): Html {
  const body = resolve(operation.requestBody, components.requestBodies)
  const responses = Object.entries(operation.responses ?? {})
  return html`<article class="card operation" id="${anchor}">
<h3><span class="method ${method}">${method.toUpperCase()}</span> <code>${path}</code></h3>
${operation.deprecated === true && html`<p><strong>Deprecated.</strong></p>`}
${operation.summary !== undefined && html`<p><strong>${inline(operation.summary)}</strong></p>`}
${operation.description !== undefined && prose(operation.description)}
${parameters.length > 0 && parameterTable(parameters.map((parameter) => resolve(parameter, components.parameters)))}
${
  body?.content !== undefined &&
  html`<h4>Request body</h4>${body.description !== undefined && prose(body.description)}${contentView(body.content, components)}`
}
${
  responses.length > 0 &&
  html`<h4>Responses</h4>${responses.map(([status, response]) =>
    responseView(status, resolve(response, components.responses), components),
  )}`
}
</article>
`
}

function parameterTable(parameters: readonly Parameter[]): Html {
  return html`<h4>Parameters</h4>
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
  const summary = html`<code>${status}</code> ${description !== undefined && inline(description)}`
  if (content === undefined) return html`<p>${summary}</p>`
  return html`<details><summary><span>${summary}</span></summary>${contentView(content, components)}</details>
`
}

function contentView(content: Content, components: Components): Html {
  return html`${Object.entries(content).map(([mediaType, { schema = {}, example, examples }]) => {
    const shown = example ?? Object.values(examples ?? {})[0]?.value
    return html`<p class="muted small"><code>${mediaType}</code> ${typeOf(schema)}</p>
${membersOf(resolve(schema, components.schemas))}
${
  shown !== undefined &&
  html`<p class="muted small">Example</p>
<pre tabindex="0"><code>${typeof shown === 'string' ? shown : JSON.stringify(shown, null, 2)}</code></pre>`
}`
  })}`
}

function schemaCard(key: string, schema: JsonSchema): Html {
  return html`<article class="card operation" id="${schemaAnchor(key)}">
<h3><code>${key}</code></h3>
${schema.description !== undefined && prose(schema.description)}
${membersOf(schema) || html`<p class="muted">${typeOf(schema)}${limits(schema)}</p>`}
</article>
`
}

/** The value that the `$ref` points to; the given value when there is no `$ref` or no such component. */
function resolve<T extends { readonly $ref?: string } | undefined>(
  value: T,
  among: Readonly<Record<string, T & object>> | undefined,
): T {
  return value?.$ref === undefined ? value : (among?.[refName(value.$ref)] ?? value)
}

function slug(text: string): string {
  return text.replace(/[^A-Za-z0-9_]+/g, '-').replace(/^-|-$/g, '')
}
