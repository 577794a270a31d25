import { html } from 'hono/html'
import { assetHref } from '../pages/assets.ts'
import { type Html, page } from '../pages/layout.ts'
import { type Group, groupsOf, type OpenApiDocument } from './document.ts'
import type { DocsOptions } from './example.ts'
import { operationView } from './operation-view.ts'
import { overview } from './overview.ts'
import { inline, prose } from './schema-view.ts'
import { schemasView } from './schemas-view.ts'

/**
 * The pages of the API reference by their paths. They are generated from the OpenAPI document, so they cannot differ
 * from it.
 */
export function docsPages(document: OpenApiDocument, options: DocsOptions): ReadonlyMap<string, Html> {
  const groups = groupsOf(document)
  const { title } = document.info
  const frame = (path: string, heading: string, content: Html) =>
    page(path === '/docs' ? heading : `${heading} · ${title} API`, framed(path, groups, heading, content), {
      wide: true,
      script: assetHref('docs.js'),
    })
  return new Map([
    ['/docs', frame('/docs', `${title} API`, overview(document, groups))],
    ...groups.map((group) => {
      const { name, href } = group
      return [href, frame(href, name, groupView(group, document, options))] as const
    }),
    ['/docs/schemas', frame('/docs/schemas', 'Schemas', schemasView(document))],
  ])
}

function groupView({ description, entries }: Group, document: OpenApiDocument, options: DocsOptions): Html {
  return html`${description !== undefined && prose(description)}
<ul class="operations">
${entries.map(
  ({ anchor, path, operation }) => html`<li><a href="#${anchor}">${inline(operation.summary ?? path)}</a></li>
`,
)}</ul>
${options.development && keyField()}
${entries.map((entry) => operationView(entry, document, options))}`
}

/**
 * The field for the API key, which is kept only there. The script shows the field, because requests need the script.
 */
function keyField(): Html {
  return html`<p class="key" hidden data-script><label for="api-key">API key, to try operations out here</label>
<input id="api-key" type="password" autocomplete="off" spellcheck="false" placeholder="the key that the terminal shows"></p>
`
}

function framed(path: string, groups: readonly Group[], heading: string, content: Html): Html {
  return html`<main>
<nav aria-label="API reference">
<p class="search" hidden data-script><label for="search">Search operations</label><input id="search" type="search" autocomplete="off"></p>
<p class="muted small" id="found" role="status"></p>
<ul>
<li><a href="/docs"${path === '/docs' && html` aria-current="page"`}>Overview</a></li>
${groups.map(
  ({
    name,
    href,
    entries,
  }) => html`<li><a href="${href}"${path === href && html` aria-current="page"`}>${name}</a><ul>
${entries.map(
  ({ id, anchor, method, path: route, operation }) =>
    html`<li data-words="${[id, method, route, operation.summary, name].join(' ').toLowerCase()}"><a href="${href}#${anchor}">${method.toUpperCase()} ${route}</a></li>
`,
)}</ul></li>
`,
)}
<li><a href="/docs/schemas"${path === '/docs/schemas' && html` aria-current="page"`}>Schemas</a></li>
</ul></nav>
<div>
<h1>${heading}</h1>
${content}
</div>
</main>`
}
