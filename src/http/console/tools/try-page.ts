import { html } from 'hono/html'
import type { Broker } from '../../../broker.ts'
import { type Tool, toolId } from '../../../domain/tool.ts'
import { userIdText } from '../../../operations/schemas/fields.ts'
import { escapeToken } from '../../../sdk/worker/json-pointer.ts'
import { UnsealError } from '../../../store/seal.ts'
import { getTool } from '../../../tools/catalogue/get-tool.ts'
import { openRequest } from '../../../tools/run/execution-history.ts'
import { getExecution } from '../../../tools/run/get-execution.ts'
import { tryTool } from '../../../tools/run/try-tool.ts'
import type { Html } from '../../pages/layout.ts'
import { asCurl, section } from '../elements.ts'
import { field, submit } from '../form-fields.ts'
import { attempt, given } from '../form-outcome.ts'
import { readSchemaForm, WHOLE_FIELD } from '../read-schema-form.ts'
import type { ConsoleRoutes, OnPage } from '../routes.ts'
import { type SchemaForm, schemaForm } from '../schema-form.ts'
import { type SentForm, schemaFormView, wholeView } from '../schema-form-view.ts'
import { toolPath } from './tool-path.ts'

/**
 * Lets an administrator try a tool for a user whom they name, with a form made from the tool's schema. Policies and
 * consent apply as to every run. The run is recorded in the audit trail, and in the history with its input and output.
 */
export function addTryPages(routes: ConsoleRoutes, broker: Broker): void {
  const toolOf = (on: OnPage) => getTool(broker, on.projectId, on.c.req.param('id') ?? '')

  routes.page('/tools/:id/try', async (on) => {
    const tool = await toolOf(on)
    const again = await inputOfRun(on, tool)
    return again === undefined
      ? showForm(on, tool, { asText: on.query('as') === 'json' })
      : showForm(on, tool, again)
  })

  const run = async (on: OnPage, form: URLSearchParams) => {
    const tool = await toolOf(on)
    const asText = form.get('as') === 'json'
    const userId = given(form, 'user')
    const read = readSchemaForm(schemaForm(tool.inputSchema), form, asText)
    const refuse = (faults: ReadonlyMap<string, string>, problem?: string) =>
      showForm(on, tool, { asText, userId, sent: { values: form, faults }, problem, status: 400 })
    if (read.outcome === 'faulty') return refuse(read.faults)
    const user = userId === undefined ? undefined : userIdText.safeParse(userId)
    if (user?.success === false) return refuse(new Map([['user', 'is not the id of a user.']]))

    const call = { tool, input: read.input, userId: user?.data }
    const tried = await attempt(() => tryTool(broker, call, on.c.req.raw.signal))
    if (tried.outcome === 'refused') return refuse(new Map(), tried.message)
    const { result } = tried
    if (result.outcome === 'refused') {
      const { parameterErrors = {}, message } = result.fault
      const faults = Object.entries(parameterErrors).map(
        ([member, fault]) => [asText ? WHOLE_FIELD : `/${escapeToken(member)}`, `${fault}.`] as const,
      )
      return refuse(new Map(faults), message)
    }
    return on.go(`/runs/${result.execution.id}`)
  }
  // it uses the tokens of a user whom the operator names
  routes.form('/tools/:id/try', run, { recent: true })
}

/** The input of a run that is tried again: `?run=exec_…`. */
async function inputOfRun(on: OnPage, tool: Tool): Promise<FormState | undefined> {
  const id = on.query('run')
  if (id === undefined || !on.mayChange) return undefined
  const record = await getExecution(on.broker, on.projectId, id)
  if (record.toolId !== toolId(tool)) return undefined
  try {
    const request = openRequest(on.broker, record)
    if (request === undefined) return undefined
    const values = new URLSearchParams([[WHOLE_FIELD, JSON.stringify(request.input, null, 2)]])
    return { asText: true, userId: record.userId, sent: { values, faults: new Map() } }
  } catch (error) {
    if (error instanceof UnsealError) return undefined // it was altered in the database: the form begins empty
    throw error
  }
}

interface FormState {
  readonly asText: boolean
  readonly userId?: string | undefined
  readonly sent?: SentForm
  readonly problem?: string | undefined
  readonly status?: 400
}

function showForm(on: OnPage, tool: Tool, { asText, userId, sent, problem, status }: FormState) {
  const path = toolPath(tool)
  const form = schemaForm(tool.inputSchema)
  const isWhole = asText || form.kind === 'whole'
  const { authorization, alternatives = [] } = tool.requirements
  const needsUser = authorization.length > 0 || alternatives.some((alternative) => alternative.length > 0)
  const faults = sent?.faults ?? new Map<string, string>()
  const fields = html`${isWhole && html`<input type="hidden" name="as" value="json">`}
${field('User', 'user', {
  value: userId ?? on.query('user'),
  required: needsUser,
  fault: faults.get('user'),
  hint: needsUser
    ? 'The tool acts with the tokens of this user. If a consent is missing, the next page has the link to it.'
    : 'The tool needs no token; a user is recorded if you name one.',
})}
<fieldset class="plain"><legend>Input</legend>${inputView(form, isWhole, sent)}</fieldset>
${submit('Run it')}`
  const other =
    form.kind === 'whole'
      ? ''
      : isWhole
        ? html`<p><a href="/dashboard${path}/try">Enter the input in fields</a></p>`
        : html`<p><a href="/dashboard${path}/try?as=json">Enter the input as JSON</a></p>`
  const body = html`${
    on.mayChange
      ? section(
          'Run',
          html`<p class="note wait">This runs the tool for real, with all its effects. The run is recorded in your name, with its input and output.</p>
${on.form(`${path}/try`, fields, { recent: true })}${other}`,
        )
      : section('Run', html`<p class="muted">Administrators can try tools here.</p>`)
  }
${asCurl(on, '/v1/tools/execute', { method: 'POST', body: { tool_name: toolId(tool), ...(needsUser && { user_id: userId ?? 'ada' }), input: {} } })}`
  return on.show(`Try ${tool.title}`, body, {
    above: [
      ['Tools', '/tools'],
      [tool.title, path],
    ],
    problem: problem ?? (faults.size > 0 ? 'Some of the input is not valid. See below.' : undefined),
    ...(status !== undefined && { status }),
  })
}

function inputView(form: SchemaForm, isWhole: boolean, sent: SentForm | undefined): Html {
  return isWhole ? wholeView(sent) : schemaFormView(form, sent)
}
