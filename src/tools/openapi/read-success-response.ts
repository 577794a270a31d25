import type { JsonSchema } from '../../domain/tool.ts'
import { isRecord } from '../../parsing/json-record.ts'
import { schemaReader } from '../../sdk/worker/value-shape.ts'
import { type OpenapiDocument, resolved } from './openapi-document.ts'
import { isJsonType } from './read-parameters.ts'
import { schemaWriter, TooManySchemas } from './tool-schema.ts'

/**
 * The `accept` header, and the output schema if it is certain: only if the operation has a single successful
 * response, a JSON object or list. Any other schema could make valid answers count as failures.
 */
export function readSuccessResponse(
  document: OpenapiDocument,
  responses: unknown,
): { readonly accept: string; readonly schema?: JsonSchema } {
  const good = isRecord(responses) ? Object.entries(responses).filter(([status]) => /^2/.test(status)) : []
  const contents = good.flatMap(([, response]) => {
    const { content } = resolved(document, response, 'A response')
    return [isRecord(content) ? Object.entries(content) : []]
  })
  const types = [...new Set(contents.flat().map(([type]) => type))]
  const json = types.filter(isJsonType)
  const accept = [...(json.length > 0 ? json : ['application/json']), 'text/*;q=0.8', '*/*;q=0.1'].join(', ')
  const [only = []] = contents
  const [media] = only.map(([, described]) => described)
  if (
    contents.length !== 1 ||
    only.length !== 1 ||
    json.length !== 1 ||
    !isRecord(media) ||
    !isRecord(media.schema)
  )
    return { accept }
  const schema = outputOf(document, media.schema)
  if (schema === undefined) return { accept }
  const shape = schemaReader(schema).shapeOf(schema).types
  const isStructured =
    shape !== undefined && [...shape].every((type) => type === 'object' || type === 'array')
  return { accept, ...(isStructured && { schema }) }
}

function outputOf(document: OpenapiDocument, schema: unknown): JsonSchema | undefined {
  const writer = schemaWriter(document, 'output')
  try {
    return { ...writer.write(schema), ...writer.definitions() }
  } catch (error) {
    if (error instanceof TooManySchemas) return undefined
    throw error
  }
}
