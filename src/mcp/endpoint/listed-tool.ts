import type { Tool } from '../../domain/tool.ts'
import { INFERRABLE } from '../../sdk/worker/value-schema.ts'
import { isRecord, type JsonRecord } from '../../tools/read-json.ts'
import type { Era } from './exchange.ts'
import { flatSchema } from './flat-schema.ts'
import { withoutKeywords } from './schema-walk.ts'
import { wrappedSchema } from './wrapped-schema.ts'

// A tool as `tools/list` gives it (MCP 2026-07-28, Tools, Data Types).

/** Our own mark, and the keyword by which a client would send arguments in headers, which the worker's server reads and we do not. */
const STRIPPED = [INFERRABLE, 'x-mcp-header']

export function listedTool(tool: Tool, name: string, era: Era): JsonRecord {
  const { title, description, annotations, inputSchema } = tool
  const outputSchema = publishedOutput(tool)
  const icons = servedIcons(tool.icons)
  const meta = passedMeta(tool.meta)
  return {
    name,
    title,
    description,
    inputSchema: flatSchema(withoutKeywords(inputSchema, STRIPPED)),
    ...(outputSchema && {
      outputSchema: era === 'legacy' && needsWrap(outputSchema) ? wrappedSchema(outputSchema) : outputSchema,
    }),
    ...(annotations && { annotations }),
    ...(icons.length > 0 && { icons }),
    ...(meta && { _meta: meta }),
  }
}

/** The output schema that lists show: none in an older dialect, which clients refuse. */
export function publishedOutput({ outputSchema }: Pick<Tool, 'outputSchema'>): JsonRecord | undefined {
  if (outputSchema === undefined) return undefined
  const known = published.get(outputSchema)
  if (known !== undefined) return known.schema
  const { $schema: dialect = NEWEST_DIALECT, ...schema } = outputSchema
  const made = dialect === NEWEST_DIALECT ? { schema: withoutKeywords(schema, STRIPPED) } : {}
  published.set(outputSchema, made)
  return made.schema
}

/** Each call of a tool needs it again. */
const published = new WeakMap<object, { readonly schema?: JsonRecord }>()

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

/** Members by which a client would fetch a resource from us, such as the page of an MCP App. */
const OF_RESOURCES = /^(?:ui|openai)(?:\/|$)/i
/** Members that are ours or the protocol's, by their first or second label: no other party may set them. */
const RESERVED = /^(?:gatepass|(?:[^./]+\.)?(?:modelcontextprotocol|mcp))(?:\.[^/]*)?\//i

/** What others wrote into `_meta`, without what points to resources that are not served here, and without reserved names. */
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
