import { html } from 'hono/html'
import { withoutUndefined } from '../../../domain/without-undefined.ts'
import type { Html } from '../../pages/layout.ts'
import { given, givenObject, hasAny } from '../attempt.ts'
import { field, hidden, textArea } from '../form-fields.ts'

/** The types of workers that a form can register, with their descriptions. */
export const WORKER_KINDS = {
  http: [
    'HTTP worker',
    'A server that speaks Arcade’s worker protocol, such as one made with @gatepass/sdk.',
  ],
  mcp: ['MCP server', 'A remote MCP server over Streamable HTTP.'],
  openapi: ['OpenAPI', 'An HTTP API with an OpenAPI document: each operation becomes a tool.'],
  oxp: ['OXP server', 'A server of the Open eXecution Protocol.'],
} as const satisfies Record<string, readonly [name: string, what: string]>
export type WorkerKind = keyof typeof WORKER_KINDS

export function workerKind(text: string | null | undefined): WorkerKind {
  return text != null && Object.hasOwn(WORKER_KINDS, text) ? (text as WorkerKind) : 'http' // a key of the table
}

/** The key of the secret that holds an MCP server's token. The header refers to the secret by this key. */
const TOKEN = 'TOKEN'

export interface WorkerForm {
  readonly kind: WorkerKind
  readonly values: URLSearchParams
  readonly faults: ReadonlyMap<string, string>
  /** The worker exists, and empty fields do not change it. */
  readonly isChange?: boolean
}

/** The fields of one type of worker. Settings that few need are entered as JSON, as in the API. */
export function workerFields({ kind, values, faults, isChange = false }: WorkerForm): Html {
  const stateOf = (id: string, member = id) => ({
    value: values.get(id) ?? '',
    fault: faults.get(`${kind}.${member}`) ?? (member === id ? faults.get(id) : undefined),
  })
  const keepHint = isChange ? 'Leave it empty to keep the present one.' : ''
  const secret = (label: string, id: string, member: string, hint: string) =>
    field(label, id, {
      type: 'password',
      maxlength: 4000,
      fault: faults.get(`${kind}.${member}`),
      hint: `${hint} It is sealed, and never shown again. ${keepHint}`.trim(),
    })
  const address = (placeholder: string, hint: string) =>
    field('Address', 'uri', {
      ...stateOf('uri'),
      type: 'url',
      maxlength: 2048,
      required: !isChange,
      placeholder,
      hint,
    })
  const own: Readonly<Record<WorkerKind, Html>> = {
    http: html`${address('https://worker.example.com', 'Without /worker at its end.')}${secret('Secret', 'secret', 'secret', 'The server’s own secret, with which every request is signed.')}`,
    mcp: html`${address('https://mcp.example.com/mcp', 'The endpoint of the server.')}
${secret('Token or API key', 'token', 'secrets', 'For a server with a fixed token or key, sent in the header below. Leave it empty if the server needs none, or asks its users by OAuth.')}
${more(
  hasAny(values, ['header', 'client_id']),
  'Header, OAuth client',
  html`${field('Header of the token', 'header', { value: values.get('header') ?? '', fault: faults.get('mcp.headers'), placeholder: 'Authorization', hint: 'Authorization carries it as “Bearer …”, other headers carry it unchanged.' })}
<div class="columns">${field('OAuth client id', 'client_id', { ...stateOf('client_id', 'oauth2.client_id'), hint: 'Only if the server’s authorization server lets no client register itself.' })}${secret('OAuth client secret', 'client_secret', 'oauth2.client_secret', '')}</div>`,
)}`,
    openapi: html`${field('URL of the document', 'url', { ...stateOf('url'), type: 'url', maxlength: 2048, placeholder: 'https://api.example.com/openapi.json', hint: 'It is read again every 30 seconds. Or paste the document:' })}
${textArea('Document', 'document', { ...stateOf('document'), rows: 5, hint: 'JSON or YAML, OpenAPI 3.1 or 3.0.' })}
${field('Server', 'server_url', { ...stateOf('server_url'), type: 'url', maxlength: 2048, hint: 'In place of the servers that the document names.' })}
${textArea('Operations', 'include', { value: values.get('include') ?? '', fault: faults.get('openapi.operations'), rows: 3, hint: 'Only these, one a line: by operationId, tag or the name of the tool. Left empty: all of them.' })}`,
    oxp: html`${address('https://oxp.example.com', 'Where /tools and /tools/call are.')}
<div class="columns">${secret('API key', 'api_key', 'api_key', 'Sent as the header OXP-API-Key.')}${secret('JWT secret', 'jwt_secret', 'jwt_secret', 'In place of an API key.')}</div>`,
  }
  return html`${hidden('type', kind)}${own[kind]}
${more(
  hasAny(values, ['timeout', 'retry', 'more']),
  'More settings',
  html`<div class="columns">${field('Timeout', 'timeout', { ...stateOf('timeout'), type: 'number', placeholder: isChange ? '' : '30', hint: 'Seconds that a call may take.' })}${field('Retries', 'retry', { ...stateOf('retry'), type: 'number', placeholder: isChange ? '' : '3', hint: 'Of calls that are safe to repeat.' })}</div>
${kind !== 'http' && textArea('As JSON', 'more', { value: values.get('more') ?? '', fault: faults.get('more'), rows: 4, hint: html`Any other member of <code>${kind}</code> as <a href="/docs/workers">the API</a> takes it, such as <code>${EXAMPLES[kind]}</code>` })}`,
)}`
}

/** HTTP workers have no further members. */
const EXAMPLES: Readonly<Record<Exclude<WorkerKind, 'http'>, string>> = {
  mcp: '{"namespace": "notes", "providers": ["github"]}',
  openapi: '{"authorization": {"oauth": {"id": "github"}}}',
  oxp: '{"envelope": "none"}',
}

function more(isOpen: boolean, title: string, fields: Html): Html {
  return html`<details${isOpen ? html` open` : ''}><summary>${title}</summary><div class="stack">${fields}</div></details>`
}

/** The settings for the API request, not checked yet. Throws `invalid_request` if `more` is not a JSON object. */
export function workerBlock(form: URLSearchParams, kind: WorkerKind): Readonly<Record<string, unknown>> {
  const number = (id: string) => (given(form, id) === undefined ? undefined : Number(given(form, id)))
  const own: Readonly<Record<WorkerKind, () => Readonly<Record<string, unknown>>>> = {
    http: () => ({ uri: given(form, 'uri'), secret: given(form, 'secret') }),
    mcp: () => ({ uri: given(form, 'uri'), ...mcpSecrets(form) }),
    openapi: () => {
      const include = (form.get('include') ?? '').split('\n').flatMap((line) => line.trim() || [])
      return {
        url: given(form, 'url'),
        document: given(form, 'document'),
        server_url: given(form, 'server_url'),
        operations: include.length > 0 ? { include } : undefined,
      }
    },
    oxp: () => ({
      uri: given(form, 'uri'),
      api_key: given(form, 'api_key'),
      jwt_secret: given(form, 'jwt_secret'),
    }),
  }
  return withoutUndefined({
    ...own[kind](),
    timeout: number('timeout'),
    retry: number('retry'),
    ...givenObject(form, 'more'),
  })
}

function mcpSecrets(form: URLSearchParams): Readonly<Record<string, unknown>> {
  const [token, header, clientId] = [given(form, 'token'), given(form, 'header'), given(form, 'client_id')]
  const headerName = header ?? 'Authorization'
  const reference = `\${secret:${TOKEN}}`
  const value = headerName.toLowerCase() === 'authorization' ? `Bearer ${reference}` : reference
  const clientSecret = given(form, 'client_secret')
  const oauth2 = withoutUndefined({ client_id: clientId, client_secret: clientSecret })
  return {
    ...(token !== undefined && { secrets: { [TOKEN]: token }, headers: { [headerName]: value } }),
    ...(Object.keys(oauth2).length > 0 && { oauth2 }),
  }
}
