import type { Broker } from '../../broker.ts'
import { BrokerError } from '../../domain/errors.ts'
import type { Tool } from '../../domain/tool.ts'
import type { WorkerType } from '../../domain/worker.ts'
import { withLooseTypes } from '../arcade/loose-types.ts'
import { withoutOptionalNulls } from '../arcade/optional-nulls.ts'
import type { Complaint } from '../json-schema/complaint.ts'
import { SchemaFault } from '../json-schema/schema-fault.ts'
import {
  type Validity,
  validateInput,
  validateOutput,
  validitySentence,
} from '../json-schema/schema-validator.ts'
import { ownError, type ToolAnswer } from '../tool-answer.ts'
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

/** The answer, or an error in its place when its value is not what the tool's schema says. */
export function withCheckedValue(tool: Tool, answer: ToolAnswer, workerType: WorkerType): ToolAnswer {
  if (answer.outcome !== 'value' || tool.outputSchema === undefined) return answer
  const { logs } = answer
  const said = workerType === 'http' ? withoutOptionalNulls(tool.outputSchema, answer.value) : answer.value
  const checked = check(() => validateOutput(tool, said))
  if (checked.outcome === 'valid') return answer
  if (checked.outcome === 'bad schema' && isCheckedElsewhere(tool, workerType)) return answer
  const bad = (error: Pick<ToolError, 'kind' | 'message' | 'developer_message'>) =>
    ownError({ can_retry: false, ...error }, logs)
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

/** What lists the tool and runs it checks its input by itself, as the tool’s catalogue entry remarks. */
function isCheckedElsewhere({ source }: Tool, workerType: WorkerType | undefined): boolean {
  return source.kind === 'worker' && workerType !== undefined && workerType !== 'module'
}

type Checked =
  | { readonly outcome: 'valid' }
  | ({ readonly outcome: 'invalid' } & Complaint)
  | { readonly outcome: 'bad schema'; readonly message: string }

function check(validate: () => Validity): Checked {
  try {
    const validity = validate()
    if (validity.valid) return { outcome: 'valid' }
    const { valid: _, ...complaint } = validity
    return { outcome: 'invalid', ...complaint }
  } catch (error) {
    if (!(error instanceof SchemaFault)) throw error
    return { outcome: 'bad schema', message: error.message }
  }
}

/** The parameter that is meant: the first name of the JSON Pointer, else the member that is missing or too much. */
function parameterOf(path: string, member = 'input'): string {
  const [, name = ''] = path.split('/')
  return name.replaceAll('~1', '/').replaceAll('~0', '~') || member
}
