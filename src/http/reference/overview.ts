import { html } from 'hono/html'
import { ROLES } from '../../domain/api-key.ts'
import { ERROR_CODES } from '../../domain/errors.ts'
import { STATUS } from '../endpoint/errors.ts'
import type { Html } from '../pages/layout.ts'
import type { Group, OpenApiDocument } from './document.ts'
import { ERROR_MEANINGS } from './error-meanings.ts'
import { curl } from './example-view.ts'
import { inline, prose } from './schema-view.ts'

const ROLE_MEANINGS = {
  readonly: 'Reads, but never gets a token.',
  caller: 'Authorizes users, runs tools and fetches tokens.',
  admin: 'Changes providers, workers, secrets, policies and keys too.',
  approver: 'Decides about calls that wait for an approval, and does nothing else.',
} as const satisfies Record<(typeof ROLES)[number], string>

/** The first page: authentication, conventions, errors, and links to all operations. */
export function overview(document: OpenApiDocument, groups: readonly Group[]): Html {
  const { version, description } = document.info
  const base = document.servers?.[0]?.url ?? ''
  const request = { method: 'GET', url: `${base}/v1/tools`, needsKey: true }
  return html`<p class="muted">Version ${version} · <a href="/openapi.json">OpenAPI document</a></p>
${description !== undefined && prose(description)}
<section id="authentication"><h2>Authentication</h2>
<p>Send an API key with every request, as <code>Authorization: Bearer</code>. In development, the file <code>gatepass.db.api-key</code> beside the database has one; <code>gatepass keys create --role caller</code> and <a href="/docs/api-keys#createApiKey">createApiKey</a> make more.</p>
<pre tabindex="0"><code>${curl(request)}</code></pre>
<p>From TypeScript, <code>@gatepass/sdk</code> reads the address and the key from <code>GATEPASS_URL</code> and <code>GATEPASS_API_KEY</code>:</p>
<pre tabindex="0"><code>import { Gatepass } from '@gatepass/sdk'

const gatepass = new Gatepass()
for await (const tool of gatepass.tools.list()) console.log(tool.name)</code></pre>
<div class="scroll"><table><thead><tr><th scope="col">Role of the key</th><th scope="col">What it may do</th></tr></thead><tbody>
${ROLES.toReversed().map(
  (role) => html`<tr><td><code>${role}</code></td><td>${ROLE_MEANINGS[role]}</td></tr>
`,
)}</tbody></table></div>
</section>
<section id="conventions"><h2>Conventions</h2>
<ul>
<li>Requests and answers are JSON. Times are RFC 3339 in UTC; <code>duration</code> is in milliseconds.</li>
<li>Members and parameters that an operation does not know are refused with the nearest name. Answers may get new members.</li>
<li>Lists take <code>limit</code>, and <code>offset</code> or <code>cursor</code>. They answer <code>items</code>, with <code>total_count</code> or, where more follow, <code>next_cursor</code>.</li>
<li>Operations that run tools or code and answer at once, and those that create workers, provider entries, policies and toolsets, take an <code>Idempotency-Key</code> header: a repeated request with the same key gets the first answer. On other operations the header has no effect; <code>run_stream</code> refuses it.</li>
<li>Each answer has an <code>X-Request-Id</code>, which the log and the audit trail have too.</li>
</ul></section>
<section id="errors"><h2>Errors</h2>
<p>A refused request is answered by an <a href="/docs/schemas#ErrorBody">ErrorBody</a>. Its <code>name</code> is one of these codes, its <code>message</code> says what happened and what to do.</p>
<div class="scroll"><table><thead><tr><th scope="col">Status</th><th scope="col">Code</th><th scope="col">Meaning</th></tr></thead><tbody>
${ERROR_CODES.map(
  (
    code,
  ) => html`<tr><td>${STATUS[code]}</td><td><code>${code}</code></td><td>${inline(ERROR_MEANINGS[code])}</td></tr>
`,
)}</tbody></table></div>
</section>
<section id="operations"><h2>Operations</h2>
${groups.map(
  ({ name, href, description: about, entries }) => html`<h3><a href="${href}">${name}</a></h3>
${about !== undefined && prose(about)}
<ul class="operations">
${entries.map(
  ({
    anchor,
    method,
    path,
    operation,
  }) => html`<li><a href="${href}#${anchor}">${inline(operation.summary ?? path)}</a> <span class="muted small"><span class="route">${method.toUpperCase()} ${path}</span></span></li>
`,
)}</ul>
`,
)}
</section>`
}
