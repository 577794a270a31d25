// The module `gatepass/tools`: in a checkout the sources, in a published package the files built from them. It must be
// the module that Gatepass itself loads, otherwise each class would exist twice.
import { existsSync } from 'node:fs'

const source = new URL('../src/tools/module/define-tool.ts', import.meta.url)
const built = new URL('../dist/tools/module/define-tool.js', import.meta.url)
const module = await import(existsSync(source) ? source.href : built.href)

export const { defineTool, ToolFailure, RetryableToolError, UpstreamError, FatalToolError } = module
export const { TOOL_MARK, isTypedSchema } = module
