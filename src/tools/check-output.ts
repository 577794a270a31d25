import type { JsonSchema, Tool } from '../domain/tool.ts'
import type { WorkerType } from '../domain/worker.ts'
import { withoutOptionalNulls } from './arcade/optional-nulls.ts'
import { SchemaFault } from './json-schema/schema-fault.ts'
import { type Validity, validate } from './json-schema/schema-validator.ts'
import { type SchemaViolation, violationSentence } from './json-schema/violation.ts'
import { LargeJson } from './large-json.ts'
import { ownError, type ToolAnswer } from './tool-answer.ts'
import type { ToolError } from './tool-error.ts'

/** The members of a tool that the check of its output needs. */
export interface CheckedTool extends Pick<Tool, 'title' | 'outputSchema'> {
  readonly workerType: WorkerType
  /** The worker checks the output, so a schema that cannot be used here is no error. */
  readonly isCheckedElsewhere: boolean
}

/** A value of a tool, and the schema that it must fit. */
export interface OutputToCheck {
  readonly schema: JsonSchema
  readonly value: unknown
}

/** `undefined` if the answer needs no check: a `LargeJson` has been checked by the thread that read it. */
export function outputToCheck(
  { outputSchema: schema, workerType }: CheckedTool,
  answer: ToolAnswer,
): OutputToCheck | undefined {
  if (answer.outcome !== 'value' || schema === undefined || answer.value instanceof LargeJson)
    return undefined
  return { schema, value: workerType === 'http' ? withoutOptionalNulls(schema, answer.value) : answer.value }
}

/** Checks the value of an answer, in a thread. Returns the answer, or an error in its place. */
export function withCheckedValue(tool: CheckedTool, answer: ToolAnswer): ToolAnswer {
  const output = outputToCheck(tool, answer)
  return output === undefined
    ? answer
    : afterCheck(
        tool,
        answer,
        check(() => validate(output.schema, output.value)),
      )
}

/** Returns the answer, or an error in its place when the tool's schema refuses the value. */
export function afterCheck<Answer extends ToolAnswer>(
  tool: CheckedTool,
  answer: Answer,
  checked: Checked,
): Answer | ReturnType<typeof ownError> {
  const { logs } = answer
  if (checked.outcome === 'valid') return answer
  if (checked.outcome === 'bad schema' && tool.isCheckedElsewhere) return answer
  const bad = (error: Pick<ToolError, 'kind' | 'message' | 'developerMessage'>) =>
    ownError({ canRetry: false, ...error }, logs)
  return checked.outcome === 'bad schema'
    ? bad({
        kind: 'TOOL_DEFINITION_BAD_OUTPUT_SCHEMA',
        message: `The tool "${tool.title}" has an output schema that cannot be used.`,
        developerMessage: checked.message,
      })
    : bad({
        kind: 'TOOL_RUNTIME_BAD_OUTPUT_VALUE',
        message: 'The tool gave an answer that is not what its schema says.',
        developerMessage: `${violationSentence('output', checked)}.`,
      })
}

export type Checked =
  | { readonly outcome: 'valid' }
  | ({ readonly outcome: 'invalid' } & SchemaViolation)
  | { readonly outcome: 'bad schema'; readonly message: string }

/** Runs a validation and turns a schema that cannot be used (`SchemaFault`) into an outcome. */
export function check(validate: () => Validity): Checked {
  try {
    const validity = validate()
    if (validity.valid) return { outcome: 'valid' }
    const { valid: _, isUnchecked: __, ...complaint } = validity
    return { outcome: 'invalid', ...complaint }
  } catch (error) {
    if (!(error instanceof SchemaFault)) throw error
    return { outcome: 'bad schema', message: error.message }
  }
}
