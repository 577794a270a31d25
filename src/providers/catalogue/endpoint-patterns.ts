import { ENDPOINT_ROLES, type EndpointRole } from '../endpoint-role.ts'
import type { Provider } from '../provider.ts'
import { endpointsOf, originAndPath, requestsOf } from '../provider-endpoints.ts'
import { hasPlaceholder } from '../template.ts'
import { variableFault } from '../variables.ts'

// The endpoints of a provider as patterns: `{name}` is a variable in place of (a part of) the host or a path segment.

/** A provider's endpoints by their role, other spellings and former ones included. */
export type EndpointPatterns = Readonly<Partial<Record<EndpointRole, readonly string[]>>>

/** The patterns of the provider's endpoints, and `others`: patterns of other spellings and of former endpoints. */
export function endpointPatterns(provider: Provider, others: EndpointPatterns): EndpointPatterns {
  const own = ownPatterns(provider)
  const all: Partial<Record<EndpointRole, string[]>> = {}
  for (const role of ENDPOINT_ROLES) {
    const first = own[role]
    // patterns come before the address that they match, so that the value of the variable is read from it
    const addresses = [...(others[role] ?? []), ...(first === undefined ? [] : [first])]
    if (addresses.length > 0) all[role] = addresses
  }
  return all
}

function ownPatterns(provider: Provider): Partial<Record<EndpointRole, string>> {
  const templates = new Map<string, string | undefined>(
    requestsOf(provider).map(([role, { endpointTemplate }]) => [role, endpointTemplate]),
  )
  const kept = Object.keys(provider.keptValues ?? {})
  const patterns = Object.entries(endpointsOf(provider)).map(([role, endpoint]) => {
    const template = templates.get(role)
    // a kept value may be a whole origin, which is no part of a pattern; `endpoint` has the value's example
    const hasKept = kept.some((name) => hasPlaceholder(template ?? '', name))
    return [role, template === undefined || hasKept ? endpoint : endpointPattern(template)]
  })
  return Object.fromEntries(patterns)
}

/** The pattern of a URL that names variables as `{{name}}`: its origin and path, as `originAndPath` writes them. */
export function endpointPattern(template: string): string {
  const names: string[] = []
  // the URL parser changes neither lower-case letters nor digits, in a host and in a path
  const marked = template.replaceAll(/\{\{\s*([A-Za-z_]+)\s*\}\}/g, (placeholder, name: string) =>
    name === 'client_id' ? placeholder : `zz${names.push(name) - 1}zz`,
  )
  // a variable in place of a port is no URL
  const pattern = URL.canParse(marked) ? originAndPath(marked) : marked.replace(/[?#].*$/, '')
  return pattern.replaceAll(/zz(\d+)zz/g, (mark, at: string) =>
    names[Number(at)] === undefined ? mark : `{${names[Number(at)]}}`,
  )
}

/**
 * The values of the variables if the endpoint matches the pattern, else `undefined`. Compares segment by segment. The
 * value of a declared variable has to be allowed for it.
 */
export function matchPattern(
  pattern: string,
  endpoint: string,
  declared: Provider['variables'] = {},
): Record<string, string> | undefined {
  const [expected, actual] = [pattern.split('/'), endpoint.split('/')]
  if (expected.length !== actual.length) return undefined
  const values: Record<string, string> = {}
  for (const [i, part] of expected.entries()) {
    const text = actual[i] ?? ''
    if (part === text) continue
    const { expression, names } = segmentOf(part)
    const found = names.length === 0 ? null : expression.exec(text)
    if (found === null) return undefined
    for (const [at, name] of names.entries()) {
      const value = found[at + 1] ?? ''
      const variable = declared[name]
      if (variable !== undefined && variableFault({ ...variable, value }) !== undefined) return undefined
      if (Object.hasOwn(values, name) && values[name] !== value) return undefined
      values[name] = value
    }
  }
  return values
}

/** The variables that are in the host of any of the endpoints. */
export function hostVariables(endpoints: EndpointPatterns): ReadonlySet<string> {
  const hosts = Object.values(endpoints)
    .flat()
    .map((pattern) => pattern.split('/')[2] ?? '')
  return new Set(hosts.flatMap((host) => segmentOf(host).names))
}

interface Segment {
  readonly expression: RegExp
  readonly names: readonly string[]
}

const segments = new Map<string, Segment>()

function segmentOf(part: string): Segment {
  const known = segments.get(part)
  if (known !== undefined) return known
  const pieces = part.split(/\{([a-z_]+)\}/) // literals and names in turn
  const names = pieces.filter((_, at) => at % 2 === 1)
  const source = pieces.map((piece, at) =>
    at % 2 === 1 ? '([\\w.:-]+)' : piece.replaceAll(/[^\w]/g, '\\$&'),
  )
  const segment = { expression: new RegExp(`^${source.join('')}$`), names }
  segments.set(part, segment)
  return segment
}
