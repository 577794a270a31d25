import type { Provider } from './provider.ts'
import { hasPlaceholder } from './template.ts'
import { fillUrl, userVariables } from './variables.ts'

// Whether the domain of a URL is decided by its definition alone, although users or callbacks decide a part of the URL.
// The client secret and tokens go there, so their values may choose among the provider's hosts and never leave them.

/**
 * Marks a part that a value decides. A kept value holds none of `/ . : ? # @ \` there. A user's value may hold dots and
 * a port: with the domain after it, a port makes the URL invalid.
 */
const OPEN = '\0'

/** The most URLs that are made of one template: each is checked. */
const MOST_SHAPES = 1_000

type Naming = Pick<Provider, 'variables' | 'keptValues'>

/** Why the URL may lead to a domain that the definition does not name, or `undefined`. */
export function openDomainFault(template: string, naming: Naming): string | undefined {
  const own = [...userVariables(naming).map(([name]) => name), ...Object.keys(naming.keptValues ?? {})]
  if (!own.some((name) => hasPlaceholder(template, name))) return undefined
  const shapes = shapesOf(fillUrl(template, naming.variables), naming)
  if (typeof shapes === 'string') return shapes
  const open = shapes.find((shape) => !hasFixedDomain(shape))
  return open === undefined
    ? undefined
    : `would let a value decide the domain that the client secret or tokens go to (${open.replaceAll(OPEN, '…')}): name the domain in the URL, such as https://{{name}}.example.com, or list the values in one_of`
}

/** The URL with each allowed value filled in, `OPEN` in place of parts that are not listed; or a fault, as a text. */
function shapesOf(template: string, { variables = {}, keptValues = {} }: Naming): string[] | string {
  let shapes = ['']
  for (const [at, piece] of template.split(/\{\{\s*([A-Za-z_]+)\s*\}\}/).entries()) {
    const values = at % 2 === 0 ? [piece] : valuesOf(piece, { variables, keptValues })
    if (values === undefined)
      return `names {{${piece}}}, whose pattern does not fix a domain: write literal text and classes of letters, digits, _ and - ([a-z0-9]), such as https://api\\.[a-z0-9]+\\.example\\.com, or list the values in one_of`
    if (shapes.length * values.length > MOST_SHAPES)
      return `names values that can be put together in more than ${MOST_SHAPES} ways: list fewer in one_of`
    shapes = shapes.flatMap((shape) => values.map((value) => shape + value))
  }
  return shapes
}

function valuesOf(name: string, { variables = {}, keptValues = {} }: Naming): readonly string[] | undefined {
  const variable = Object.hasOwn(variables, name) ? variables[name] : undefined
  if (variable !== undefined) return variable.oneOf ?? [OPEN]
  const kept = Object.hasOwn(keptValues, name) ? keptValues[name] : undefined
  if (kept === undefined) return ['x'] // the client id, which is percent-encoded
  if (kept.oneOf !== undefined) return kept.oneOf
  const shape = shapeOfPattern(kept.pattern)
  return shape === undefined ? undefined : [shape]
}

/**
 * A class of letters, digits, `_` and `-`. Both ends of a range are small letters, capitals or digits, because `[0-z]`
 * and `[A-z]` hold `? @ \` too, which end the host. A literal `-` is escaped, or the first or last character.
 */
const CLASS =
  /^(?:\\[dw]|\[-?(?:[a-z]-[a-z]|[A-Z]-[A-Z]|[0-9]-[0-9]|(?:[A-Za-z0-9_]|\\[dw-])(?!-[^\]]))+-?\])(?:[*+?]|\{\d+(?:,\d*)?\})?/
const LITERAL = /^(?:\\([^A-Za-z0-9])|([A-Za-z0-9:/_-]))(?![*+?{])/

/** What values of the pattern look like; `undefined` for a pattern that holds more than literals and classes. */
export function shapeOfPattern(pattern: string): string | undefined {
  let rest = pattern.replace(/^\^/, '').replace(/\$$/, '')
  let shape = ''
  while (rest !== '') {
    const open = CLASS.exec(rest)
    const literal = open === null ? LITERAL.exec(rest) : null
    const found = open ?? literal
    if (found === null) return undefined
    shape += literal === null ? OPEN : (literal[1] ?? literal[2] ?? '')
    rest = rest.slice(found[0].length)
  }
  return shape
}

/** Second-level labels under which domains of countries are registered: `example.co.uk`. */
const REGISTRIES = new Set('ac co com edu go gob gov govt ltd me mil ne net nom or org plc sch'.split(' '))

/**
 * The domain that the host belongs to, as far as its name tells: the last two labels, or three below a registry such as
 * `co.uk`. An IP address, a name without a dot, and a host with a port are a site of their own.
 */
export function siteOfHost(host: string): string {
  const labels = host.split('.')
  if (host.includes(':') || /^[\d.]+$/.test(host) || labels.length < 3) return host
  const [second = '', top = ''] = labels.slice(-2)
  return labels.slice(top.length === 2 && REGISTRIES.has(second) ? -3 : -2).join('.')
}

function hasFixedDomain(url: string): boolean {
  const [, host] = /^https?:\/\/([^/?#@\\]+)(?:[/?][^#\\]*)?$/.exec(url) ?? []
  if (host === undefined) return false
  const last = host.lastIndexOf(OPEN)
  if (last < 0) return true
  const [name = ''] = host.slice(last + 1).split(':')
  if (!name.startsWith('.')) return false
  const labels = name.slice(1).split('.')
  if (labels.some((label) => label === '')) return false
  const [second = '', top = ''] = labels.slice(-2)
  const isRegistry = labels.length === 2 && top.length === 2 && REGISTRIES.has(second)
  return labels.length >= 2 && !isRegistry
}
