import { html } from 'hono/html'
import type { Html } from '../pages/layout.ts'
import type { OpenApiDocument } from './document.ts'
import { type JsonSchema, limits, membersOf, prose, schemaAnchor, typeOf } from './schema-view.ts'

/** Every named schema, in alphabetical order. */
export function schemasView({ components }: OpenApiDocument): Html {
  const schemas = Object.entries(components?.schemas ?? {}).toSorted(([one], [other]) =>
    one < other ? -1 : 1,
  )
  return html`<p>The objects that several operations take or answer.</p>
${schemas.map(([name, schema]) => schemaCard(name, schema))}`
}

function schemaCard(name: string, schema: JsonSchema): Html {
  const members = membersOf(schema)
  return html`<article class="card operation" id="${schemaAnchor(name)}">
<h2><code>${name}</code></h2>
${schema.description !== undefined && prose(schema.description)}
${(members === false || schema.properties === undefined) && html`<p class="muted">${typeOf(schema)}${limits(schema)}</p>`}
${members}
</article>
`
}
