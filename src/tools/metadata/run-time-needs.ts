import { isRecord, type JsonRecord } from '../../parsing/json-record.ts'
import { at, member, type Warn } from './metadata-member.ts'

// What a tool expects when it runs and does not get: other tools, and tokens of providers that its metadata does not name.

const MAX_NAMED = 5
const ASKED = /\bget_?access_?token\(\s*(['"])([^'"\n]{1,100})\1/gi

/** Warns of other tools that the tool calls, and of tokens that its stored code asks for under names of no entry. */
export function warnOfRunTimeNeeds(
  tool: JsonRecord,
  path: string,
  entries: readonly string[],
  warn: Warn,
): void {
  const { tools } = tool
  const named = Array.isArray(tools) ? tools.map(nameOf).filter((name) => name !== undefined) : []
  if (named.length > 0)
    warn(
      at(path, 'tools'),
      `It calls other tools (${listed(named)}), and Gatepass gives a running tool no others: these calls fail, unless what runs the tool has them.`,
    )
  for (const name of ['jsCode', 'pyCode']) {
    const code = member(tool, name, path, () => {})
    if (typeof code === 'string') warnOfTokens(code, path, entries, warn)
  }
}

/** Warns of tokens that the code asks for by a name that no entry of `oauth` has, in any case: it gets an error instead. */
export function warnOfTokens(code: string, path: string, entries: readonly string[], warn: Warn): void {
  const known = new Set(entries.map((name) => name.toLowerCase()))
  const asked = new Set([...code.matchAll(ASKED)].map(([, , name = '']) => name))
  const missing = [...asked].filter((name) => !known.has(name.toLowerCase()))
  if (missing.length === 0) return
  const has = entries.length === 0 ? 'it has no entry' : `its entries are ${listed(entries)}`
  warn(
    at(path, 'oauth'),
    `Its code asks for the token of ${listed(missing)}, and ${has}: it gets an error instead of a token. Correct the name in the code or in \`oauth\`.`,
  )
}

/** The name of a tool in `tools`: a reference such as `local:::author:::name`, or an object with a `name`. */
function nameOf(tool: unknown): string | undefined {
  const text = isRecord(tool) ? tool.name : tool
  return typeof text === 'string' && text !== '' ? text.split(':::').slice(2, 3)[0] || text : undefined
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, MAX_NAMED).map((name) => JSON.stringify(name.slice(0, 100)))
  return [...shown, ...(names.length > MAX_NAMED ? [`${names.length - MAX_NAMED} more`] : [])].join(', ')
}
