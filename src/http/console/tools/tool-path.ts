import { type Tool, toolId } from '../../../domain/tool.ts'

/** The path of a tool's page, below `/dashboard`. */
export function toolPath(tool: Tool): string {
  return `/tools/${encodeURIComponent(toolId(tool))}`
}
