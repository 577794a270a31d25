import type { Pack } from '../../../src/features/packs/wire-format.ts'
import { workerOfPack } from '../../../src/features/packs/wire-worker.ts'
import {
  requestDescription,
  toRequestSettings,
} from '../../../src/operations/worker-types/openapi-request.ts'
import { isRecord } from '../../../src/parsing/json-record.ts'
import type { CatalogueTool } from '../../../src/tools/backend.ts'
import { buildRequest } from '../../../src/tools/openapi/build-request.ts'
import { readRequestDescription } from '../../../src/tools/openapi/read-request-description.ts'
import { planOf } from '../../../src/tools/openapi/request-plan.ts'

// Requests that the vendors' clients sent to a server of this machine, and the rules by which a tool's request is the same.

export interface Recording {
  readonly tool: string
  readonly args: Readonly<Record<string, unknown>>
  readonly client: string
  readonly expected: {
    readonly method: string
    readonly path: string
    readonly query: readonly (readonly [string, string])[]
    readonly body?: {
      readonly json?: unknown
      readonly form?: readonly (readonly [string, string])[]
      readonly raw?: string
    }
  }
  readonly compare: 'exact' | 'graphql' | 'jira' | 'slack' | 'multipart'
  /** Parameters of the client that are no part of the operation, such as its key. */
  readonly ignore_query?: readonly string[]
  readonly known_difference?: string
}

/** The values of the connection, by which the recordings fill hosts and paths. */
const CONNECTION = { cloud_id: 'CLOUD', subdomain: 'acme', instance_url: 'https://acme.my.salesforce.com' }

export interface SentRequest {
  readonly method: string
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | undefined
}

/** The tool of the pack, as Gatepass reads it. */
export function toolOf(pack: Pack, name: string): CatalogueTool {
  const { openapi } = workerOfPack(pack, { tools: [name] })
  const [wire] = openapi.requests
  if (wire === undefined) throw new Error(`${pack.id} has no tool ${name}.`)
  return readRequestDescription(toRequestSettings(requestDescription.parse(wire)), {
    namespace: openapi.namespace,
    ...(openapi.headers && { headers: openapi.headers }),
  })
}

/** The request that a tool of the pack sends for these arguments. */
export async function requestOf(pack: Pack, name: string, args: Recording['args']): Promise<SentRequest> {
  // clients leave out what is the service's default; the recordings name what the client was given
  const { defaults: _, ...plan } = planOf(toolOf(pack, name).document)
  const built = await buildRequest(plan, args, { ofConnection: CONNECTION, callId: 'call' })
  return { method: plan.method, ...built }
}

/** What differs between a tool's request and the recorded one; empty if they are the same. */
export function differences(
  sent: SentRequest,
  { expected, compare, ignore_query = [] }: Recording,
): string[] {
  // Slack takes arguments in the query or in a body: they are compared by name
  if (compare === 'slack')
    return unequal(
      'arguments',
      [...slackArguments(sent)].sort(),
      [...slackRecorded(expected.body ?? {})].sort(),
    )
  const isCounted = ([name]: readonly [string, string]) => !ignore_query.includes(name)
  const pairs: [string, unknown, unknown][] = [
    ['method', sent.method, expected.method],
    ['path', segments(sent.url.pathname), segments(expected.path)],
    ['query', sorted([...sent.url.searchParams].filter(isCounted)), sorted(expected.query.filter(isCounted))],
    ['body', bodyOf(sent, compare), recordedBody(expected.body ?? {}, compare)],
  ]
  return pairs.flatMap(([name, ours, theirs]) => unequal(name, ours, theirs))
}

function unequal(name: string, ours: unknown, theirs: unknown): string[] {
  const [a, b] = [canonical(ours), canonical(theirs)]
  return a === b ? [] : [`${name}: ${a} instead of ${b}`]
}

function slackArguments({ url, body }: SentRequest): string[] {
  const json: unknown = body === undefined ? {} : JSON.parse(body)
  const inBody = Object.entries(isRecord(json) ? json : {}).map(
    ([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  )
  return [...inBody, ...sorted([...url.searchParams])]
}

function slackRecorded({ form = [] }: NonNullable<Recording['expected']['body']>): string[] {
  return sorted(form)
}

/** Decoded, without a slash or `.json` at the end, which the services do not count. */
function segments(path: string): string[] {
  return path
    .replace(/\/$|\.json$/, '')
    .split('/')
    .map(decodeURIComponent)
}

function sorted(pairs: readonly (readonly [string, string])[]): string[] {
  return pairs.map(([name, value]) => `${name}=${value}`).sort()
}

function bodyOf({ headers, body }: SentRequest, compare: Recording['compare']): unknown {
  if (body === undefined) return undefined
  const type = headers['content-type'] ?? ''
  if (type.startsWith('multipart/')) return parts(body)
  if (type.includes('x-www-form-urlencoded')) return sorted([...new URLSearchParams(body)])
  if (!type.includes('json')) return body
  return reduced(JSON.parse(body), compare)
}

function recordedBody(
  body: NonNullable<Recording['expected']['body']>,
  compare: Recording['compare'],
): unknown {
  if (body.form !== undefined) return sorted(body.form)
  if (body.raw !== undefined) return compare === 'multipart' ? parts(body.raw) : body.raw
  return reduced(body.json, compare)
}

/** What the kind of comparison counts. */
function reduced(json: unknown, compare: Recording['compare']): unknown {
  if (!isRecord(json)) return json
  if (compare === 'graphql') {
    const root = /\{\s*(?:\w+\s*:\s*)?(\w+)/.exec(String(json.query).replace(/^[^{]*/, ''))?.[1]
    return { root, variables: json.variables ?? {} }
  }
  return withDecodedMail(json)
}

/** The e-mail in Gmail's `raw` by its fields and text, since clients write the same message differently. */
function withDecodedMail(json: unknown): unknown {
  if (Array.isArray(json)) return json.map(withDecodedMail)
  if (!isRecord(json)) return json
  return Object.fromEntries(
    Object.entries(json).map(([name, value]) => [
      name,
      name === 'raw' && typeof value === 'string' ? mailOf(value) : withDecodedMail(value),
    ]),
  )
}

function mailOf(raw: string) {
  const [head = '', ...rest] = Buffer.from(raw, 'base64').toString().split('\r\n\r\n')
  const fields = head
    .replaceAll(/\r\n[ \t]+/g, ' ')
    .split('\r\n')
    .map((line) => line.split(/:\s*/, 2))
  const encoding = fields.find(([name]) => name?.toLowerCase() === 'content-transfer-encoding')?.[1]
  const text = rest.join('\r\n\r\n')
  const known = ['to', 'cc', 'bcc', 'subject', 'reply-to', 'in-reply-to', 'references']
  return {
    fields: fields
      .filter(([name = '']) => known.includes(name.toLowerCase()))
      .map((field) => field.join(': '))
      .sort(),
    text: (encoding === 'base64' ? Buffer.from(text, 'base64').toString() : text).trim(),
  }
}

/** The parts of a multipart body: their types, without a charset, and their contents. */
function parts(body: string): unknown {
  const boundary = /^(--\S+)\r\n/.exec(body)?.[1] ?? '--'
  return body
    .split(boundary)
    .slice(1, -1)
    .map((part) => {
      const [head = '', ...rest] = part.split('\r\n\r\n')
      return [/content-type: *([^;\s]+)/i.exec(head)?.[1], rest.join('\r\n\r\n').trim()]
    })
}

/** JSON with sorted members. */
function canonical(value: unknown): string {
  return (
    JSON.stringify(value, (_, part) =>
      isRecord(part) ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1))) : part,
    ) ?? 'undefined'
  )
}
