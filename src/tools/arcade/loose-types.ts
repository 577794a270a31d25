import type { JsonSchema, Tool } from '../../domain/tool.ts'
import { looseInput } from './read-worker-tool.ts'

const loosened = new WeakMap<object, JsonSchema>()

/** The tool with an input schema that leaves to the worker what fits parameters whose type its definition cannot say. */
export function withLooseTypes(tool: Tool): Tool {
  const { source } = tool
  // the schema of a metadata tool is its author's own
  if (source.kind !== 'worker') return tool
  const known = loosened.get(source.document) ?? looseInput(source.document)
  loosened.set(source.document, known)
  return { ...tool, inputSchema: known }
}
