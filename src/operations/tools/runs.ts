import { invalidMember } from '../../domain/errors.ts'
import { perBroker } from '../../flows/per-broker.ts'
import { runTool as run, streamTool as stream } from '../../tools/run/run-tool.ts'
import { Answer, EventStream } from '../answer.ts'
import { runResultSchema, streamEventSchema } from '../dialects/run-schemas.ts'
import { toHeldRun, toRunResponse, toStreamEvent } from '../dialects/runs.ts'
import { defineOperation } from '../operation.ts'
import { asSent, type Backlogs, eventQueue } from './event-queue.ts'
import { executionStatusHeader, runWhenApproved, whenApprovedSchema } from './later-runs.ts'
import { callMembers, readCall, readRun, runsTool } from './tool-call.ts'

const runSchema = runsTool('toolId', callMembers).openapi('StreamRunRequest')
const heldRunSchema = runsTool('toolId', { ...callMembers, when_approved: whenApprovedSchema }).openapi(
  'RunRequest',
)
/** Arcade's SDKs send an Idempotency-Key with this prefix with every request, so it is no choice of the caller. */
const SDK_KEY_PREFIX = 'stainless-'
const HEARTBEAT_MS = 15_000
const tag = 'Running tools'

const backlogsOf = perBroker((): Backlogs => ({ length: 0, streams: new Set() }))

export const runTool = defineOperation({
  id: 'runTool',
  method: 'post',
  path: '/v1/tools/run',
  role: 'caller',
  keysOfUsers: 'user_id',
  tag,
  summary: 'Run a tool and get its plain result',
  description:
    'Answers `tool`, `backend`, `structured` (and `mcpResult` where an MCP server ran it). In place of a result there is `error {kind, op, message, …}` when the tool failed, or `requires_authorization` with the link when consent is missing. Arguments that the schema refuses are 400 `invalid_input`.',
  body: heldRunSchema,
  takesIdempotencyKey: true,
  answer: 'The result',
  output: runResultSchema,
  async run(broker, { body, caller: { projectId }, request }) {
    const call = { projectId, ...readRun(body), entryPoint: 'run', ...readCall(body) } as const
    const { tool, result, mayBeRepeated: hadNoEffect } = await run(broker, call, request.cancelSignal)
    if (body.when_approved !== 'run' || result.outcome !== 'authorization_required')
      return Answer.untyped(toRunResponse(tool, result), { hadNoEffect })
    const { args: input, projectId: _, toolId: __, ...others } = call
    const execution = {
      id: result.executionId,
      durationMs: 0,
      finishedAt: '',
      outcome: result,
      wasCalled: false,
    }
    const later = await runWhenApproved(
      broker,
      { ...others, tool, input },
      { outcome: 'not_scheduled', execution },
    )
    if (later.outcome !== 'scheduled') return Answer.untyped(toRunResponse(tool, result), { hadNoEffect })
    return Answer.untyped(toHeldRun(tool, result, later), { headers: executionStatusHeader(later) })
  },
})

export const streamTool = defineOperation({
  id: 'streamTool',
  repetition: 'unsafe',
  method: 'post',
  path: '/v1/tools/run_stream',
  role: 'caller',
  keysOfUsers: 'user_id',
  tag,
  summary: 'Run a tool and receive its events while it runs',
  description:
    'Server-sent events `{kind, toolId, data}`: `progress` and `chunk` in any number, then exactly one `done` (data: the result as `run` has it) or `error` (data: the same with `error` or `requires_authorization`, or `name` and `message`). A faulty request is refused before the stream begins. Streams are not stored, so they take no Idempotency-Key.',
  body: runSchema,
  answer: 'The events',
  output: streamEventSchema,
  mediaType: 'text/event-stream',
  async run(broker, { body, caller: { projectId }, request }) {
    const { toolId, args } = readRun(body)
    if (request.header('idempotency-key')?.startsWith(SDK_KEY_PREFIX) === false)
      throw invalidMember(
        'Idempotency-Key',
        'not_allowed',
        'A stream is not stored, so it cannot be repeated and takes no Idempotency-Key. Leave it out, or use /v1/tools/run.',
      )
    const gone = new AbortController()
    const events = eventQueue(backlogsOf(broker), () => gone.abort())
    const run = {
      projectId,
      toolId,
      args,
      entryPoint: 'run_stream',
      ...readCall(body),
    } as const
    const signal = AbortSignal.any([gone.signal, request.signal])
    const running = stream(broker, run, (event) => events.put(toStreamEvent(event)), signal).finally(
      events.close,
    )
    running.catch(() => {}) // awaited below, after all events were written
    const first = await events.next()
    // a refusal before the first event is the answer to the request, as at any endpoint
    if (first === undefined) await running.finally(events.drop)
    return new EventStream(
      async ({ write, signal: readerGone }) => {
        readerGone.addEventListener('abort', () => gone.abort())
        let underWay = 0 // writes that a slow reader has not taken yet: no heartbeat is added to them
        const send = async (text: string | Uint8Array) => {
          underWay++
          await write(text).finally(() => underWay--)
        }
        const heartbeat = setInterval(() => {
          if (underWay === 0) void send(': still running\n\n')
        }, HEARTBEAT_MS)
        try {
          for (let event = first; event !== undefined; event = await events.next()) await send(asSent(event))
          await running
        } finally {
          clearInterval(heartbeat)
          events.drop()
        }
      },
      (data) => ({ kind: 'error', toolId, data }),
    )
  },
})
