// What `gatepass/tools` is: of a checkout the sources, of a published package what was built from them. It is the same
// module that Gatepass itself runs, or there would be two of each class.
import { existsSync } from 'node:fs'

const source = new URL('../src/tools/module/define-tool.ts', import.meta.url)
const built = new URL('../dist/tools/module/define-tool.js', import.meta.url)
const module = await import(existsSync(source) ? source.href : built.href)

export const { defineTool, ToolFailure, RetryableToolError, UpstreamError, FatalToolError } = module
export const { TOOL_MARK, isTypedSchema } = module
