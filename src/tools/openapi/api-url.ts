import { isRecord, type JsonRecord } from '../../parsing/json-record.ts'
import { quote, Refusal } from '../read-json.ts'

/**
 * The first server of the first non-empty list (OpenAPI 3.1 section 4.8.5), without a slash at its end. Variables have
 * their defaults, because an input must not choose the host. Throws `Refusal`.
 */
export function serverOf(lists: readonly unknown[], base: string | undefined): string {
  const servers =
    lists.find((list): list is readonly unknown[] => Array.isArray(list) && list.length > 0) ?? []
  const [server = { url: '/' }] = servers
  if (!isRecord(server) || typeof server.url !== 'string') throw new Refusal('Its server has no url.')
  return checkedServer(withDefaults(server.url, server.variables), base)
}

function withDefaults(url: string, variables: unknown): string {
  const known: JsonRecord = isRecord(variables) ? variables : {}
  return url.replaceAll(/\{([^{}]+)\}/g, (_, name: string) => {
    const variable = Object.hasOwn(known, name) ? known[name] : undefined
    const { default: value, enum: values } = isRecord(variable) ? variable : {}
    if (typeof value !== 'string' || (Array.isArray(values) && !values.includes(value)))
      throw new Refusal(`The variable ${quote(name)} of its server has no usable default: set server_url.`)
    return value
  })
}

/** Checks that the text is an absolute http or https URL without credentials, query, or fragment. Throws `Refusal`. */
export function checkedServer(text: string, base: string | undefined): string {
  if (!URL.canParse(text, base))
    throw new Refusal(`Its server is ${quote(text)}, which is not an absolute URL: set server_url.`)
  const { protocol, username, password, search, hash, origin, pathname } = new URL(text, base)
  const isPlain = username === '' && password === '' && search === '' && hash === ''
  if (!['http:', 'https:'].includes(protocol) || !isPlain)
    throw new Refusal(
      'Its server must be an http or https URL without credentials, query, or fragment: set server_url.',
    )
  return origin + pathname.replace(/\/+$/, '')
}

/** Percent-encodes the constant parts of a path with `{placeholders}`, which begins with `/`. Throws `Refusal`. */
export function pathTemplate(path: string): string {
  if (/[?#]/.test(path)) throw new Refusal(`Its path ${quote(path)} has a query or a fragment.`)
  if (!path.isWellFormed()) throw new Refusal(`Its path ${quote(path)} has half of a surrogate pair.`)
  const absolute = path.startsWith('/') ? path : `/${path}` // after the server it would be a part of the host
  return absolute
    .split(/(\{[^{}]*\})/)
    .map((part) =>
      part.startsWith('{') ? part : part.replaceAll(/[^A-Za-z0-9\-._~!$&'()*+,;=:@%/]/gu, encodeURIComponent),
    )
    .join('')
}

export function placeholdersOf(template: string): string[] {
  return [...template.matchAll(/\{([^{}]*)\}/g)].map(([, name = '']) => name)
}
