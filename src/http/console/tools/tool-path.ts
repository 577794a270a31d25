import { type Tool, toolId } from '../../../domain/tool.ts'

/** The page of a tool, below `/dashboard`. */
export function toolPath(tool: Tool): string {
  return `/tools/${encodeURIComponent(toolId(tool))}`
}
