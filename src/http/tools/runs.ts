import { z } from '@hono/zod-openapi'
import type { Context } from 'hono'
import type { Broker } from '../../broker.ts'
import { invalidMember } from '../../domain/errors.ts'
import {
  chainResultSchema,
  runResultSchema,
  streamEventSchema,
} from '../../operations/dialects/run-schemas.ts'
import { toChainResponse, toRunResponse, toStreamEvent } from '../../operations/dialects/runs.ts'
import { idText } from '../../operations/schemas/fields.ts'
import { MAX_CHAIN_STEPS, resumeChain, runChain } from '../../tools/run/run-chain.ts'
import { runTool, streamTool } from '../../tools/run/run-tool.ts'
import type { AddEndpoint } from '../endpoint/endpoint.ts'
import { toWire as errorToWire, toRefusal } from '../endpoint/errors.ts'
import { markWithoutEffect } from '../endpoint/idempotency-key.ts'
import { requestHeader } from '../endpoint/request-header.ts'
import { sendEvents } from '../endpoint/send-events.ts'
import { sendJson } from '../endpoint/send-json.ts'
import { asSent, type Backlogs, eventQueue } from './event-queue.ts'
import { callMembers, otherNameOf, readCall, readTool, runsTool } from './tool-call.ts'

const runSchema = runsTool('toolId', callMembers)
const stepSchema = runsTool('toolId', {
  usePrevious: z.boolean().nullish().openapi({
    description: 'Puts the result of the previous step into `args.previous`',
  }),
  use_previous: otherNameOf('usePrevious', z.boolean()),
})
/** Arcade's SDKs send an Idempotency-Key with this prefix with every request, so it is no choice of the caller. */
const SDK_KEY_PREFIX = 'stainless-'
const HEARTBEAT_MS = 15_000
const tag = 'Running tools'

/** Running tools with a plain result: one tool, one tool with a stream of its events, and several tools in a row. */
export function addRuns(add: AddEndpoint, broker: Broker): void {
  const streams: Backlogs = { length: 0, streams: new Set() }

  add(
    {
      operationId: 'runTool',
      method: 'post',
      path: '/v1/tools/run',
      role: 'caller',
      keysOfUsers: 'user_id',
      tag,
      summary: 'Run a tool and get its plain result',
      description:
        'Answers `tool`, `backend`, `structured` (and `mcpResult` where an MCP server ran it). In place of a result there is `error {kind, op, message, …}` when the tool failed, or `requires_authorization` with the link when consent is missing. Arguments that the schema refuses are 400 `invalid_input`.',
      body: runSchema,
      takesIdempotencyKey: true,
      responses: { 200: { description: 'The result', schema: runResultSchema } },
    },
    async ({ c, body, caller: { projectId } }) => {
      const run = { projectId, ...readRun(body), entryPoint: 'run', ...readCall(body) } as const
      const { tool, result, mayBeRepeated } = await runTool(broker, run, cancelSignal(c))
      if (mayBeRepeated) markWithoutEffect(c)
      return sendJson(c, toRunResponse(tool, result))
    },
  )

  add(
    {
      operationId: 'streamTool',
      method: 'post',
      path: '/v1/tools/run_stream',
      role: 'caller',
      keysOfUsers: 'user_id',
      tag,
      summary: 'Run a tool and receive its events while it runs',
      description:
        'Server-sent events `{kind, toolId, data}`: `progress` and `chunk` in any number, then exactly one `done` (data: the result as `run` has it) or `error` (data: the same with `error` or `requires_authorization`, or `name` and `message`). A faulty request is refused before the stream begins. Streams are not stored, so they take no Idempotency-Key.',
      body: runSchema,
      responses: {
        200: { description: 'The events', schema: streamEventSchema, mediaType: 'text/event-stream' },
      },
    },
    async ({ c, body, caller: { projectId } }) => {
      const { toolId, args } = readRun(body)
      if (requestHeader(c, 'idempotency-key')?.startsWith(SDK_KEY_PREFIX) === false)
        throw invalidMember(
          'Idempotency-Key',
          'not_allowed',
          'A stream is not stored, so it cannot be repeated and takes no Idempotency-Key. Leave it out, or use /v1/tools/run.',
        )
      const gone = new AbortController()
      const events = eventQueue(streams, () => gone.abort())
      const run = {
        projectId,
        toolId,
        args,
        entryPoint: 'run_stream',
        ...readCall(body),
      } as const
      const signal = AbortSignal.any([gone.signal, c.req.raw.signal])
      const running = streamTool(broker, run, (event) => events.put(toStreamEvent(event)), signal).finally(
        events.close,
      )
      running.catch(() => {}) // awaited below, after all events were written
      const first = await events.next()
      // a refusal before the first event is the answer to the request, as at any endpoint
      if (first === undefined) await running.finally(events.drop)
      return sendEvents(c, async (stream) => {
        stream.onAbort(() => gone.abort())
        let underWay = 0 // writes that a slow reader has not taken yet: no heartbeat is added to them
        const write = async (written: Promise<unknown>) => {
          underWay++
          await written.finally(() => underWay--)
        }
        const heartbeat = setInterval(() => {
          if (underWay === 0) void write(stream.write(': still running\n\n'))
        }, HEARTBEAT_MS)
        try {
          for (let event = first; event !== undefined; event = await events.next())
            await write(stream.write(asSent(event)))
          await running
        } catch (error) {
          const data = errorToWire(toRefusal(error, c.req.path, broker.log))
          await stream.writeSSE({ event: 'error', data: JSON.stringify({ kind: 'error', toolId, data }) })
        } finally {
          clearInterval(heartbeat)
          events.drop()
        }
      })
    },
  )

  add(
    {
      operationId: 'runChain',
      method: 'post',
      path: '/v1/tools/run_chain',
      role: 'caller',
      keysOfUsers: 'user_id',
      tag,
      summary: 'Run several tools in a row',
      description:
        'Answers `status`, `structured` (of the last step) and the status of each step: `completed`, `failed` or `skipped`. The first step that fails ends the chain. A step that needs consent ends it with `requires_authorization`, which names the step, and `resume`: send `resume` (once, within a day) after the user has approved, and no finished step is run again.',
      body: z.object({
        steps: z.array(stepSchema).max(MAX_CHAIN_STEPS).nullish(),
        resume: idText.nullish(),
        ...callMembers,
      }),
      takesIdempotencyKey: true,
      responses: { 200: { description: 'The result', schema: chainResultSchema } },
    },
    async ({ c, body, caller: { projectId } }) => {
      const { steps: givenSteps, resume, ...call } = body
      const steps = givenSteps?.map((step) => {
        const usePrevious = step.usePrevious ?? step.use_previous
        const { toolId, args } = readRun(step)
        return {
          toolId,
          ...(readTool(step).input && { args }),
          ...(usePrevious != null && { usePrevious }),
        }
      })
      const run = { projectId, ...readCall(call) }
      const result =
        resume == null
          ? await runChain(broker, run, steps ?? [], cancelSignal(c))
          : await resumeChain(broker, run, { resume, steps }, cancelSignal(c))
      return sendJson(c, toChainResponse(result))
    },
  )
}

/** Reads the tool and its arguments. A `tool_version` is appended to the name, which may include a version itself. */
function readRun(body: Parameters<typeof readTool>[0]) {
  const { name, version, input = {} } = readTool(body)
  return { toolId: version === undefined ? name : `${name}@${version}`, args: input }
}

/**
 * The signal that cancels a run when its caller closes the connection. Absent with an Idempotency-Key, because the caller
 * can repeat the request for the answer.
 */
export function cancelSignal(c: Context): AbortSignal | undefined {
  return requestHeader(c, 'idempotency-key') === undefined ? c.req.raw.signal : undefined
}
