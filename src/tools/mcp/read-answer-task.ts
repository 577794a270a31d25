import { isRecord } from '../../parsing/json-record.ts'
import { type AnswerFormat, answerTask } from '../finish-answer.ts'
import { ownError } from '../tool-answer.ts'
import { badOutputError } from '../tool-error.ts'
import { readMcpResult } from './read-mcp-result.ts'

/** The JSON of a CallToolResult. */
export const mcpAnswers: AnswerFormat<{ readonly bytes: Uint8Array }> = {
  read({ bytes }) {
    const result: unknown = JSON.parse(new TextDecoder().decode(bytes))
    if (isRecord(result)) return { ...readMcpResult(result), logs: [] }
    return ownError(badOutputError('The result is not an object.'))
  },
}

export const run = answerTask(mcpAnswers)
