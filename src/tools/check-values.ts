import { BrokerError } from '../domain/errors.ts'
import type { Tool } from '../domain/tool.ts'
import { SchemaFault } from './json-schema/schema-fault.ts'
import { type Validity, validateInput, validateOutput, validitySentence } from './schema-validator.ts'
import type { ToolAnswer } from './tool-answer.ts'
import type { ToolError } from './tool-error.ts'

/** What is wrong with a tool's arguments, by its schema; `undefined`: nothing. */
export function inputFault(tool: Tool, input: Readonly<Record<string, unknown>>): ToolError | undefined {
  const checked = check(() => validateInput(tool, input))
  if (checked.outcome === 'valid') return undefined
  if (checked.outcome === 'bad schema')
    return {
      kind: 'TOOL_DEFINITION_BAD_INPUT_SCHEMA',
      message: `The tool "${tool.title}" has an input schema that cannot be used: ${checked.message}`,
      can_retry: false,
    }
  const { path, message } = checked
  return {
    kind: 'TOOL_RUNTIME_BAD_INPUT_VALUE',
    message: `${validitySentence('input', { path, message })}.`,
    can_retry: false,
    extra: { parameter_errors: { [parameterOf(path)]: message } },
  }
}

/** Throws `invalid_input` for arguments that the tool's schema refuses, `invalid_tool` for a schema that is none. */
export function checkInput(tool: Tool, input: Readonly<Record<string, unknown>>): void {
  const fault = inputFault(tool, input)
  if (fault === undefined) return
  const isInput = fault.kind === 'TOOL_RUNTIME_BAD_INPUT_VALUE'
  throw new BrokerError(isInput ? 'invalid_input' : 'invalid_tool', fault.message)
}

/** The answer, or an error in its place when its value is not what the tool's schema says. */
export function withCheckedValue(tool: Tool, answer: ToolAnswer): ToolAnswer {
  if (answer.outcome !== 'value' || tool.outputSchema === undefined) return answer
  const { logs } = answer
  const checked = check(() => validateOutput(tool, answer.value))
  if (checked.outcome === 'valid') return answer
  const bad = (error: Pick<ToolError, 'kind' | 'message' | 'developer_message'>): ToolAnswer => ({
    outcome: 'error',
    error: { can_retry: false, ...error },
    isOwn: true,
    logs,
  })
  return checked.outcome === 'bad schema'
    ? bad({
        kind: 'TOOL_DEFINITION_BAD_OUTPUT_SCHEMA',
        message: `The tool "${tool.title}" has an output schema that cannot be used.`,
        developer_message: checked.message,
      })
    : bad({
        kind: 'TOOL_RUNTIME_BAD_OUTPUT_VALUE',
        message: 'The tool gave an answer that is not what its schema says.',
        developer_message: `${validitySentence('output', checked)}.`,
      })
}

type Checked =
  | { readonly outcome: 'valid' }
  | { readonly outcome: 'invalid'; readonly path: string; readonly message: string }
  | { readonly outcome: 'bad schema'; readonly message: string }

function check(validate: () => Validity): Checked {
  try {
    const validity = validate()
    if (validity.valid) return { outcome: 'valid' }
    return { outcome: 'invalid', path: validity.path, message: validity.message }
  } catch (error) {
    if (!(error instanceof SchemaFault)) throw error
    return { outcome: 'bad schema', message: error.message }
  }
}

/** The first name of a JSON Pointer; of a parameter that is missing there is none. */
function parameterOf(path: string): string {
  const [, name = ''] = path.split('/')
  return name.replaceAll('~1', '/').replaceAll('~0', '~') || 'input'
}
