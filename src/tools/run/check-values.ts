import type { Broker } from '../../broker.ts'
import { BrokerError } from '../../domain/errors.ts'
import type { Tool } from '../../domain/tool.ts'
import type { WorkerType } from '../../domain/worker.ts'
import { withLooseTypes } from '../arcade/loose-types.ts'
import { withoutOptionalNulls } from '../arcade/optional-nulls.ts'
import { check } from '../check-output.ts'
import { pointerTokens } from '../json-schema/json-pointer.ts'
import { validateInput, validitySentence } from '../json-schema/schema-validator.ts'
import type { ToolError } from '../tool-error.ts'
import { whatRuns } from './what-runs.ts'

/**
 * What is wrong with a tool's arguments, by its schema; `undefined`: nothing. Where an HTTP worker runs it, `null` for
 * what is not required is as good as nothing: Arcade's value schemas have no other word for it, and models write it.
 */
export function inputFault(
  tool: Tool,
  input: Readonly<Record<string, unknown>>,
  workerType: WorkerType | undefined,
): ToolError | undefined {
  const isArcade = workerType === 'http'
  const said = isArcade ? withoutOptionalNulls(tool.inputSchema, input) : input
  const checked = check(() => validateInput(isArcade ? withLooseTypes(tool) : tool, said))
  if (checked.outcome === 'valid') return undefined
  if (checked.outcome === 'bad schema' && isCheckedElsewhere(tool, workerType)) return undefined
  if (checked.outcome === 'bad schema')
    return {
      kind: 'TOOL_DEFINITION_BAD_INPUT_SCHEMA',
      message: `The tool "${tool.title}" has an input schema that cannot be used: ${checked.message}`,
      can_retry: false,
    }
  const { path, message, member } = checked
  return {
    kind: 'TOOL_RUNTIME_BAD_INPUT_VALUE',
    message: `${validitySentence('input', { path, message })}.`,
    can_retry: false,
    extra: { parameter_errors: { [parameterOf(path, member)]: message } },
  }
}

/** Throws `invalid_input` for arguments that the tool's schema refuses, `invalid_tool` for a schema that is none. */
export async function checkInput(
  broker: Broker,
  tool: Tool,
  input: Readonly<Record<string, unknown>>,
): Promise<void> {
  const runner = await whatRuns(broker, tool)
  const fault = inputFault(tool, input, runner.outcome === 'found' ? runner.worker.type : undefined)
  if (fault === undefined) return
  const isInput = fault.kind === 'TOOL_RUNTIME_BAD_INPUT_VALUE'
  throw new BrokerError(isInput ? 'invalid_input' : 'invalid_tool', fault.message)
}

/** What lists the tool and runs it checks its input by itself, as the tool’s catalogue entry remarks. */
export function isCheckedElsewhere({ source }: Tool, workerType: WorkerType | undefined): boolean {
  return source.kind === 'worker' && workerType !== undefined && workerType !== 'module'
}

/** The parameter that is meant: the first name of the JSON Pointer, else the member that is missing or too much. */
function parameterOf(path: string, member = 'input'): string {
  const [name = ''] = pointerTokens(path)
  return name || member
}
