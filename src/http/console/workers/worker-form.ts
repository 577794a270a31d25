import { html } from 'hono/html'
import { loadFeatures } from '../../../features/load-features.ts'
import { createWorker, updateWorker } from '../../../operations/workers/workers.ts'
import type { Html } from '../../pages/layout.ts'
import { field, hidden } from '../form-fields.ts'
import { given } from '../form-outcome.ts'
import { type OperationForm, operationForm, type SentBody } from '../operation-form.ts'
import type { WorkerForm } from './worker-layout.ts'

const address = (placeholder: string, hint: string) => ({
  label: 'Address',
  type: 'url' as const,
  placeholder,
  hint,
})

const HTTP: WorkerForm = {
  type: 'http',
  name: 'HTTP worker',
  what: 'A server that speaks Arcade’s worker protocol, such as one made with @gatepass/sdk.',
  fields: {
    uri: address('https://worker.example.com', 'Without /worker at the end.'),
    secret: 'Secret',
  },
}

/** The types of workers that a form can register. */
export const WORKER_FORMS: readonly WorkerForm[] = [
  HTTP,
  {
    type: 'mcp',
    name: 'MCP server',
    what: 'A remote MCP server over Streamable HTTP.',
    fields: { uri: address('https://mcp.example.com/mcp', 'The endpoint of the server.') },
  },
  {
    type: 'openapi',
    name: 'OpenAPI',
    what: 'An HTTP API with an OpenAPI document: each operation becomes a tool.',
    fields: {
      url: {
        label: 'URL of the document',
        type: 'url',
        placeholder: 'https://api.example.com/openapi.json',
        hint: 'Gatepass reads it again every 30 seconds. Or paste the document:',
      },
      document: { label: 'Document', asText: true, hint: 'JSON or YAML, OpenAPI 3.1 or 3.0.' },
      server_url: { label: 'Server', type: 'url' },
      operations: 'Operations',
    },
  },
  ...(await loadFeatures('workers')).map(({ type, form }) => ({ type, ...form })),
]

export function workerForm(type: string | null | undefined): WorkerForm {
  return WORKER_FORMS.find((form) => form.type === type) ?? HTTP
}

/** The forms that register and change a worker of each type. */
const FORMS = Object.fromEntries(
  WORKER_FORMS.map(({ type: kind, fields }) => {
    const others = WORKER_FORMS.filter(({ type }) => type !== kind).map(({ type }) => [type, false] as const)
    const first = Object.entries(fields).map(([member, shown]) => [`${kind}.${member}`, shown] as const)
    const layout = Object.fromEntries([...others, ...first, ['enabled', false]])
    const id = {
      label: 'ID',
      placeholder: 'notes',
      hint: 'Letters, digits, _ . -; it cannot be changed later.',
    }
    const options = { others: 'More settings' }
    return [
      kind,
      {
        create: operationForm(createWorker, { id, type: false, ...layout }, options),
        change: operationForm(updateWorker, layout, { ...options, isChange: true }),
      },
    ]
  }),
) as Record<string, { readonly create: OperationForm; readonly change: OperationForm }> // one for each kind

/** The key of the secret that holds an MCP server's token. The header refers to the secret by this key. */
const TOKEN = 'TOKEN'

/** The fields of one type of worker. */
export function workerFields(
  { type: kind }: WorkerForm,
  purpose: 'create' | 'change',
  sent: SentBody = { values: new URLSearchParams() },
): Html {
  const more = kind === 'mcp' ? tokenFields(sent, purpose) : undefined
  return html`${hidden('type', kind)}${FORMS[kind]?.[purpose].view(sent, more)}`
}

/** A token and its header: what most MCP servers need of `secrets` and `headers`. */
function tokenFields({ values, refused }: SentBody, purpose: 'create' | 'change'): Html {
  return html`${field('Token or API key', 'token', {
    type: 'password',
    maxlength: 4000,
    fault: refused?.faults.get('mcp.secrets'),
    hint: `For a server with a fixed token or key, sent in the header below. Leave it empty if the server needs none, or asks its users by OAuth. It is stored encrypted and never shown again.${purpose === 'change' ? ' Left empty, the present one is kept.' : ''}`,
  })}
${field('Header of the token', 'header', {
  value: values.get('header') ?? '',
  placeholder: 'Authorization',
  hint: 'Authorization carries it as “Bearer …”, other headers carry it unchanged.',
})}`
}

/** The body of the request for a worker of this type, not checked yet. Throws `invalid_request` for faulty JSON. */
export function workerBody(
  form: URLSearchParams,
  { type: kind }: WorkerForm,
  purpose: 'create' | 'change',
): Readonly<Record<string, unknown>> {
  const body = FORMS[kind]?.[purpose].read(form) ?? {}
  const block = { ...membersIn(body[kind]), ...(kind === 'mcp' && tokenMembers(form, membersIn(body.mcp))) }
  return { ...body, [kind]: block }
}

function tokenMembers(form: URLSearchParams, { secrets, headers }: Readonly<Record<string, unknown>>) {
  const token = given(form, 'token')
  if (token === undefined) return {}
  const header = given(form, 'header') ?? 'Authorization'
  const reference = `\${secret:${TOKEN}}`
  const value = header.toLowerCase() === 'authorization' ? `Bearer ${reference}` : reference
  return {
    secrets: { ...membersIn(secrets), [TOKEN]: token },
    headers: { ...membersIn(headers), [header]: value },
  }
}

function membersIn(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}
