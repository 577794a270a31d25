import { isRecord, type JsonRecord } from '../../parsing/json-record.ts'

// `x-mcp-header` names the header that repeats an argument of a call (MCP 2026-07-28, Streamable HTTP, Custom Headers
// from Tool Parameters). Clients must leave out a tool whose declarations break the rules; the SDK sends the headers.

const KEYWORD = 'x-mcp-header'
/** RFC 9110 section 5.6.2. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const TYPES: readonly unknown[] = ['string', 'integer', 'boolean']

/** A sentence about the first invalid declaration in the schema; `undefined` if all are valid. */
export function parameterHeaderFault(inputSchema: unknown): string | undefined {
  const named = new Set<string>()
  const declared = new Set<JsonRecord>()

  function faultOfProperties({ properties }: JsonRecord): string | undefined {
    for (const [name, schema] of Object.entries(isRecord(properties) ? properties : {})) {
      if (!isRecord(schema)) continue
      const fault = Object.hasOwn(schema, KEYWORD) ? faultOf(name, schema) : undefined
      const found = fault ?? faultOfProperties(schema)
      if (found !== undefined) return found
    }
    return undefined
  }

  function faultOf(name: string, schema: JsonRecord): string | undefined {
    const { [KEYWORD]: header, type } = schema
    const where = `The ${KEYWORD} of ${JSON.stringify(name.slice(0, 100))}`
    declared.add(schema)
    if (typeof header !== 'string' || !TOKEN.test(header)) return `${where} is not the name of a header.`
    if (!TYPES.includes(type))
      return `${where} is on a parameter whose type is not string, integer or boolean.`
    if (named.has(header.toLowerCase())) return `${where} names the same header as another parameter.`
    named.add(header.toLowerCase())
    return undefined
  }

  if (!isRecord(inputSchema)) return undefined
  const fault = faultOfProperties(inputSchema)
  if (fault !== undefined) return fault
  const others = declarations(inputSchema).filter((declaration) => !declared.has(declaration))
  return others.length === 0 ? undefined : `${KEYWORD} is declared on a schema that is not a parameter.`
}

/** All objects within the schema that have the keyword. The caller has limited the nesting. */
function declarations(value: unknown): readonly JsonRecord[] {
  if (typeof value !== 'object' || value === null) return []
  const within = Object.values(value).flatMap(declarations)
  return isRecord(value) && Object.hasOwn(value, KEYWORD) ? [value, ...within] : within
}
