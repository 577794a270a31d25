import { existsSync, readFileSync } from 'node:fs'
import { definitionTexts } from './definition-texts.ts'

// Which definitions may own an authorization endpoint, by its host, without reading them whole.

/** The file that the build writes, since parsing all definitions at a start would take tens of milliseconds. */
const BUILT = new URL('./definition-index.json', import.meta.url)

/** The addresses of an authorization server. */
interface Addressed {
  readonly variables?: Readonly<Record<string, { readonly one_of?: readonly string[] }>>
  /** Absent with a grant without a user. */
  readonly authorize_request?: { readonly endpoint: string }
}

/** What the index needs of a definition's JSON. */
interface Indexed {
  /** Absent where users type credentials. */
  readonly oauth2?: Addressed
  readonly oauth1?: Addressed
  readonly other_endpoints?: { readonly authorization?: readonly string[] }
  readonly shares_endpoints_with?: string
}

/** The content of the built file. */
export interface DefinitionIndex {
  /** The ids of definitions by the host of an authorization endpoint. */
  readonly byHost: Readonly<Record<string, readonly string[]>>
  /** Ends of hosts that begin with a variable, such as `.zendesk.com`. */
  readonly byEnd: readonly { readonly end: string; readonly id: string }[]
}

let index: DefinitionIndex | undefined

/**
 * The ids of the definitions whose authorization endpoint may be at this host. Definitions that fit any host, such as
 * Keycloak's, are left out, since several have the same paths, and so are those that share the endpoints of another
 * one.
 */
export function definitionsAt(host: string): readonly string[] {
  index ??= existsSync(BUILT) ? readIndex() : createIndex(definitionTexts())
  const ended = index.byEnd.filter(({ end }) => host.endsWith(end))
  const named = Object.hasOwn(index.byHost, host) ? index.byHost[host] : undefined
  return [...(named ?? []), ...ended.map(({ id }) => id)]
}

/** The ids of the definitions with an authorization endpoint at this domain or below it. */
export function definitionsOnSite(site: string): readonly string[] {
  index ??= existsSync(BUILT) ? readIndex() : createIndex(definitionTexts())
  const isOf = (host: string) => host === site || host.endsWith(`.${site}`)
  const named = Object.entries(index.byHost).flatMap(([host, ids]) => (isOf(host) ? ids : []))
  return [...named, ...index.byEnd.filter(({ end }) => isOf(end)).map(({ id }) => id)]
}

function readIndex(): DefinitionIndex {
  return JSON.parse(readFileSync(BUILT, 'utf8')) as DefinitionIndex // build/main.ts writes `createIndex`
}

/** Makes the index. `texts`: the JSON of definitions by their ids. */
export function createIndex(texts: ReadonlyMap<string, string>): DefinitionIndex {
  const byHost = new Map<string, string[]>()
  const byEnd: { end: string; id: string }[] = []
  for (const [id, text] of texts) {
    const {
      oauth2,
      oauth1,
      other_endpoints: others,
      shares_endpoints_with: shared,
    }: Indexed = JSON.parse(text)
    const server = oauth2 ?? oauth1
    if (shared !== undefined || server?.authorize_request === undefined) continue
    const endpoints = [server.authorize_request.endpoint, ...(others?.authorization ?? [])]
    const hosts = endpoints.flatMap((endpoint) => hostsOf(endpoint, server.variables))
    for (const host of new Set(hosts)) {
      const end = host.slice(host.lastIndexOf('}') + 1)
      if (end === host) byHost.set(host, [...(byHost.get(host) ?? []), id])
      // an end must contain a registered domain at least, which has a dot of its own
      else if (/^\..+\../.test(end)) byEnd.push({ end, id })
    }
  }
  return { byHost: Object.fromEntries(byHost), byEnd }
}

/** The hosts of the template: one for each listed value of a variable, and with `{{name}}` where any value may be. */
function hostsOf(endpoint: string, variables: Addressed['variables'] = {}): string[] {
  const host = /^https:\/\/([^/?]+)/.exec(endpoint)?.[1] ?? ''
  const [placeholder, name = ''] = /\{\{\s*([a-z_]+)\s*\}\}/.exec(host) ?? []
  const listed = variables[name]?.one_of
  if (placeholder === undefined || listed === undefined) return [host]
  return listed.map((value) => host.replace(placeholder, value))
}
