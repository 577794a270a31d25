import type { Tool } from '../../domain/tool.ts'
import { isRecord, type JsonRecord } from '../../parsing/json-record.ts'
import { INFERRABLE } from '../../sdk/worker/value-schema.ts'
import type { ShownTool } from '../../tools/catalogue/shown-tools.ts'
import { cachedText } from '../../tools/catalogue/text-cache.ts'
import type { Era } from './exchange.ts'
import { flatSchemaJson } from './flat-schema.ts'
import { withoutKeywords } from './schema-walk.ts'
import { wrappedSchema } from './wrapped-schema.ts'

// Converts a tool to its form in `tools/list` (MCP 2026-07-28, Tools, Data Types).

/** Removed keywords: Gatepass' own mark, and `x-mcp-header`, which asks clients for headers that Gatepass does not read. */
const STRIPPED = [INFERRABLE, 'x-mcp-header']

/** The tool in its form in `tools/list`, as JSON text from a cache. */
export function listedJson({ tool, name }: ShownTool, era: Era): string {
  return cachedText(tool, `mcp ${era} ${name}`, () => listedToolJson(tool, name, era))
}

/** `name`: the name under which the client sees the tool. */
export function listedToolJson(tool: Tool, name: string, era: Era): string {
  const { title, description, annotations, inputSchema } = tool
  const outputSchema = publishedOutput(tool)
  const icons = servedIcons(tool.icons)
  const meta = passedMeta(tool.meta)
  const members = {
    name,
    title,
    description,
    ...(outputSchema && {
      outputSchema: era === 'legacy' && needsWrap(outputSchema) ? wrappedSchema(outputSchema) : outputSchema,
    }),
    annotations,
    ...(icons.length > 0 && { icons }),
    _meta: meta,
  }
  const input = flatSchemaJson(withoutKeywords(inputSchema, STRIPPED))
  return `${JSON.stringify(members).slice(0, -1)},"inputSchema":${input}}`
}

/** A cache, because each call of a tool needs its output schema. */
const published = new WeakMap<object, { readonly schema?: JsonRecord }>()

/** The output schema that lists show; `undefined` for a schema in an older dialect, which clients refuse. */
export function publishedOutput({ outputSchema }: Pick<Tool, 'outputSchema'>): JsonRecord | undefined {
  if (outputSchema === undefined) return undefined
  const known = published.get(outputSchema)
  if (known !== undefined) return known.schema
  const { $schema: dialect = NEWEST_DIALECT, ...schema } = outputSchema
  const made = dialect === NEWEST_DIALECT ? { schema: withoutKeywords(schema, STRIPPED) } : {}
  published.set(outputSchema, made)
  return made.schema
}

const NEWEST_DIALECT = 'https://json-schema.org/draft/2020-12/schema'

/** Clients of 2025 take only objects, so another value is wrapped as `{result}`, in the schema and in results. */
export function needsWrap({ type }: JsonRecord): boolean {
  return type !== 'object'
}

/** In characters. */
const MAX_DATA_ICON = 16_000

/** Icons that every client can load; a client must not be led to other schemes (MCP 2026-07-28, Icons). */
function servedIcons(icons: Tool['icons'] = []): readonly JsonRecord[] {
  return icons.filter(({ src }) => {
    if (typeof src !== 'string') return false
    return /^data:image\//i.test(src) ? src.length <= MAX_DATA_ICON : URL.parse(src)?.protocol === 'https:'
  })
}

/** Members of `_meta` by which a client would fetch a resource from Gatepass, such as the page of an MCP App. */
const OF_RESOURCES = /^(?:ui|openai)(?:\/|$)/i
/** Members of `_meta` that belong to Gatepass or to MCP, by their first or second label. No other party may set them. */
const RESERVED = /^(?:gatepass|(?:[^./]+\.)?(?:modelcontextprotocol|mcp))(?:\.[^/]*)?\//i

/** A worker's `_meta` without reserved names and without members that point to resources, which are not served here. */
export function passedMeta(meta: unknown): JsonRecord | undefined {
  if (!isRecord(meta)) return undefined
  const passed = Object.entries(meta).filter(
    ([name, value]) => !OF_RESOURCES.test(name) && !RESERVED.test(name) && !namesResource(value),
  )
  return passed.length > 0 ? Object.fromEntries(passed) : undefined
}

function namesResource(value: unknown): boolean {
  if (typeof value === 'string') return /^ui:\/\//i.test(value)
  return typeof value === 'object' && value !== null && Object.values(value).some(namesResource)
}
