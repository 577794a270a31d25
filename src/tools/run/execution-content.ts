import type { Broker } from '../../broker.ts'
import type { EpochSeconds } from '../../domain/clock.ts'
import type { ExecutionRecord } from '../../domain/execution.ts'
import type { Sealed } from '../../domain/sealed.ts'
import { executionPlace } from '../../store/sealed-columns.ts'
import { jsonText, LARGE_BYTES, LargeJson } from '../large-json.ts'
import type { ToolCall } from './execute-tool.ts'

/** What a tool was asked, as history keeps it. */
export interface KeptRequest
  extends Pick<ToolCall, 'input' | 'account' | 'accounts' | 'metadata' | 'keepContent'> {}

/** One try to run the tool, and what came of it. */
export interface Attempt {
  readonly id: string
  readonly startedAt: EpochSeconds
  readonly finishedAt: EpochSeconds
  readonly success: boolean
  /** As Arcade's wire has it (`value`, `error`, `authorization`); absent when it was not run. */
  readonly output?: Readonly<Record<string, unknown>> | LargeJson
  /** Why the broker could not run it or does not know how it ended. */
  readonly systemErrorMessage?: string
}

type Row = Pick<ExecutionRecord, 'id' | 'projectId'>

export function sealRequest(broker: Broker, row: Row, call: ToolCall): Sealed {
  const { input, account, accounts, metadata, keepContent } = call
  const kept: KeptRequest = {
    input,
    ...(account !== undefined && { account }),
    ...(accounts !== undefined && { accounts }),
    ...(metadata !== undefined && { metadata }),
    ...(keepContent !== undefined && { keepContent }),
  }
  return broker.sealer.seal(JSON.stringify(kept), executionPlace(row.id, row.projectId, 'request'))
}

/** An output that is large is kept as a text, so that reading the attempt does not parse it. */
type KeptAttempt = Omit<Attempt, 'output'> & {
  readonly output?: Readonly<Record<string, unknown>>
  readonly outputText?: string
}

export function sealAttempts(broker: Broker, row: Row, attempts: readonly Attempt[]): Sealed {
  const kept = attempts.map(({ output, ...attempt }): unknown => {
    if (output === undefined) return attempt
    const text = jsonText(output)
    return { ...attempt, ...(text.length > LARGE_BYTES ? { outputText: text } : { output }) }
  })
  return broker.sealer.seal(JSON.stringify(kept), executionPlace(row.id, row.projectId, 'result'))
}

/** `undefined` where nothing was kept. */
export function openRequest(
  broker: Broker,
  { id, projectId, request }: ExecutionRecord,
): KeptRequest | undefined {
  if (request === undefined) return undefined
  return JSON.parse(broker.sealer.open(request, executionPlace(id, projectId, 'request'))) as KeptRequest // as sealed above
}

export function openAttempts(broker: Broker, { id, projectId, result }: ExecutionRecord): readonly Attempt[] {
  if (result === undefined) return []
  const text = broker.sealer.open(result, executionPlace(id, projectId, 'result'))
  const kept = JSON.parse(text) as KeptAttempt[] // as sealed above
  return kept.map(({ outputText, ...attempt }) =>
    outputText === undefined ? attempt : { ...attempt, output: new LargeJson(Buffer.from(outputText)) },
  )
}
