import { z } from '@hono/zod-openapi'
import { invalidMember } from '../../domain/errors.ts'
import { bindTool as bind } from '../../tools/catalogue/bind-tool.ts'
import { deleteTool as remove } from '../../tools/catalogue/delete-tool.ts'
import { getTool } from '../../tools/catalogue/get-tool.ts'
import { requirementStatus } from '../../tools/catalogue/tool-requirements.ts'
import { importTools as importDocuments } from '../../tools/metadata/import-tools.ts'
import type { ImportedTool } from '../../tools/metadata/read-document.ts'
import { executeTool as execute } from '../../tools/run/execute-tool.ts'
import { mayBeRepeated } from '../../tools/run/execution.ts'
import type { LaterRun } from '../../tools/run/run-later.ts'
import { authorizeTool as authorize } from '../../tools/run/tool-tokens.ts'
import { getWorker } from '../../tools/worker.ts'
import { Answer } from '../answer.ts'
import {
  acquisitionToWire,
  authorizationSchema,
  withoutAuthorization,
} from '../authorizations/authorization-wire.ts'
import {
  answersList,
  toArcadeExecuteResponse,
  toArcadeScheduled,
  toExecuteResponse,
  toScheduled,
} from '../dialects/arcade.ts'
import { toDefinition } from '../dialects/arcade-tools.ts'
import { executeResultSchema } from '../dialects/execution-schemas.ts'
import { toolDefinitionSchema } from '../dialects/tool-schemas.ts'
import { defineOperation } from '../operation.ts'
import { idText, toolNameText } from '../schemas/fields.ts'
import { type ImportedToolWire, importResultSchema, importSchema } from './import-schemas.ts'
import { executionStatusHeader, runLater, runWhenApproved, whenApprovedSchema } from './later-runs.ts'
import { callMembers, namesTool, readCall, readTool, runsTool } from './tool-call.ts'

const nameParams = z.object({ name: toolNameText })
const tag = 'Tools'

export const authorizeTool = defineOperation({
  id: 'authorizeTool',
  method: 'post',
  path: '/v1/tools/authorize',
  role: 'caller',
  keysOfUsers: 'user_id',
  tag,
  summary: 'Begin the authorization that a tool needs, for a user',
  body: namesTool('tool_name', {
    user_id: callMembers.user_id,
    account: callMembers.account,
    accounts: callMembers.accounts,
    next_uri: callMembers.next_uri,
    user_display: callMembers.user_display,
    lang: callMembers.lang,
  }),
  answer: 'The authorization',
  output: authorizationSchema,
  async run(broker, { body, caller }) {
    const { name, version } = readTool(body)
    const tool = await getTool(broker, caller.projectId, name, version)
    const acquired = await authorize(broker, { tool, ...readCall(body) })
    if (acquired.outcome === 'ready' && acquired.tokens.length === 0)
      return withoutAuthorization(tool.uid, body.user_id ?? undefined)
    return acquisitionToWire(broker, acquired)
  },
})

export const executeTool = defineOperation({
  id: 'executeTool',
  method: 'post',
  path: '/v1/tools/execute',
  role: 'caller',
  keysOfUsers: 'user_id',
  tag: 'Running tools',
  summary: 'Run a tool, with the token of its user injected',
  description:
    'Answers 200 with exactly one of `value`, `error`, `requires_authorization`, `artifact` in `output`. Arcade’s SDKs get their own dialect: 403 when consent is missing.',
  body: runsTool('tool_name', {
    run_at: z.string().max(100).nullish().meta({
      description:
        'Runs the tool at this time instead of now: `YYYY-MM-DDTHH:MM:SS` (UTC, or with an offset). GET /v1/scheduled_tools/{id} has the result',
    }),
    when_approved: whenApprovedSchema,
    include_error_stacktrace: z.boolean().nullish(),
    ...callMembers,
  }),
  takesIdempotencyKey: true,
  answer: 'The result',
  output: executeResultSchema,
  async run(broker, { body, caller, request }) {
    const { name, version, input = {} } = readTool(body)
    const tool = await getTool(broker, caller.projectId, name, version)
    const call = { tool, input, entryPoint: 'execute', ...readCall(body) } as const
    const { isArcade } = request
    const begun: LaterRun =
      body.run_at == null
        ? { outcome: 'not_scheduled', execution: await execute(broker, call, request.cancelSignal) }
        : await runLater(broker, call, { runAt: body.run_at })
    const later = body.when_approved === 'run' ? await runWhenApproved(broker, call, begun) : begun
    if (later.outcome === 'scheduled')
      return Answer.untyped((isArcade ? toArcadeScheduled : toScheduled)(later), {
        headers: executionStatusHeader(later),
      })
    const { execution } = later
    const hadNoEffect = mayBeRepeated(execution)
    if (!isArcade) {
      const headers = {
        ...(execution.outcome.outcome === 'error' && {
          'x-gatepass-error-kind': execution.outcome.error.kind,
        }),
        ...(answersList(execution) && { 'x-gatepass-value': 'list' }),
      }
      return Answer.untyped(toExecuteResponse(execution), { headers, hadNoEffect })
    }
    const arcade = toArcadeExecuteResponse(execution, {
      includeStacktrace: body.include_error_stacktrace === true,
    })
    if (execution.outcome.outcome !== 'authorization_required') return Answer.untyped(arcade, { hadNoEffect })
    const { url } = execution.outcome.authorization
    const message = `Tool authorization required: the user must open ${url} and approve.`
    return Answer.untyped(
      { name: 'tool_authorization_required', message, ...arcade },
      { status: 403, hadNoEffect },
    )
  },
})

export const importTools = defineOperation({
  id: 'importTools',
  method: 'post',
  path: '/v1/tools/import',
  role: 'admin',
  tag,
  summary: 'Import tool metadata',
  description:
    'One object or an array. Each tool is imported completely or refused with the reason. A repeated import changes nothing.',
  query: z.object({
    worker_id: idText.optional().meta({ description: 'The worker that runs them' }),
    dry_run: z.enum(['true', 'false']).default('false').meta({
      description:
        'Answers the result that each would have, and writes nothing. A provider that would be added has no `redirect_uri`',
    }),
  }),
  body: importSchema,
  answer: 'At least one was imported',
  output: importResultSchema,
  otherAnswers: { 422: { description: 'All were refused', schema: importResultSchema } },
  async run(broker, { query, body, caller }) {
    const documents = Array.isArray(body) ? body : [body]
    if (documents.length === 0)
      throw invalidMember('', 'too_short', 'The array is empty: send at least one tool.')
    const worker =
      query.worker_id === undefined ? undefined : await getWorker(broker, caller.projectId, query.worker_id)
    const imported = await importDocuments(broker, caller.projectId, documents, {
      worker,
      dryRun: query.dry_run === 'true',
    })
    const items = imported.map(importedToWire)
    return new Answer({ items }, { status: items.every((item) => item.result === 'refused') ? 422 : 200 })
  },
})

export const deleteTool = defineOperation({
  id: 'deleteTool',
  sdk: 'admin.tools.delete(name)',
  method: 'delete',
  path: '/v1/tools/{name}',
  role: 'admin',
  tag,
  summary: 'Delete an imported tool',
  description:
    'By any of its names; if it has several versions, the name must include one. Providers that its import added are kept, with their connections. A tool of a worker is deleted with its worker.',
  params: nameParams,
  answer: 'Deleted',
  async run(broker, { params, caller: { projectId } }) {
    await remove(broker, projectId, params.name)
  },
})

export const bindTool = defineOperation({
  id: 'bindTool',
  method: 'post',
  path: '/v1/tools/{name}/binding',
  role: 'admin',
  tag,
  summary: 'Bind a metadata tool to the worker tool that runs it',
  params: nameParams,
  body: z.object({ worker_id: idText, tool: toolNameText }),
  answer: 'The tool',
  output: toolDefinitionSchema,
  async run(broker, { params, body, caller: { projectId } }) {
    const tool = await getTool(broker, projectId, params.name)
    const worker = await getWorker(broker, projectId, body.worker_id)
    const bound = await bind(broker, tool, worker, body.tool)
    return toDefinition(bound, await requirementStatus(broker, bound))
  },
})

/** The result for one document of an import. */
function importedToWire(imported: ImportedTool): ImportedToolWire {
  const { name, toolId, result, reason, providers, warnings } = imported
  return {
    name,
    tool_id: toolId,
    result,
    reason,
    providers: providers.map(({ id, name, redirectUri, missing }) => ({
      id,
      name,
      redirect_uri: redirectUri,
      missing,
    })),
    warnings,
  }
}
