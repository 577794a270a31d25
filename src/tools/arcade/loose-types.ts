import type { JsonSchema, Tool } from '../../domain/tool.ts'
import { looseInput } from './read-worker-tool.ts'

const loosened = new WeakMap<object, JsonSchema>()

/**
 * Replaces the input schema of a worker's tool by one without the types that its definition cannot express: the
 * worker decides what fits those parameters.
 */
export function withLooseTypes(tool: Tool): Tool {
  const { source } = tool
  // a metadata tool's schema was written by its author
  if (source.kind !== 'worker') return tool
  const known = loosened.get(source.document) ?? looseInput(source.document)
  loosened.set(source.document, known)
  return { ...tool, inputSchema: known }
}
