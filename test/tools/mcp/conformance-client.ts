import { randomUUID } from 'node:crypto'
import { getTool } from '../../../src/tools/catalogue/get-tool.ts'
import type { Dialog } from '../../../src/tools/dialog/dialog.ts'
import { executeTool } from '../../../src/tools/run/execute-tool.ts'
import type { ExecutionOutcome } from '../../../src/tools/run/execution.ts'
import type { AnyJson } from '../../any-json.ts'
import type { Gatepass } from '../../gatepass.ts'
import { approve } from '../../http/world.ts'

// Runs a scenario of the conformance suite, which tests clients, with Gatepass as the client: registers the suite's server
// as a worker, has a user approve where it requires OAuth, and lists and calls its tools.

export interface Scenario {
  readonly url: string
  readonly scenario: string
  /** What the suite gives the client beside the URL. */
  readonly context: {
    readonly client_id?: string
    readonly client_secret?: string
    readonly toolCalls?: readonly { readonly name: string; readonly arguments: Record<string, unknown> }[]
  }
}

/** The most calls of one tool: a server may ask for further scopes again and again. */
const MAX_CALLS = 4

export async function runScenario(
  gatepass: Gatepass,
  { url, scenario, context }: Scenario,
): Promise<unknown> {
  const id = `suite-${randomUUID().slice(0, 8)}`
  const { client_id, client_secret, toolCalls } = context
  const oauth2 = client_id === undefined ? undefined : { client_id, client_secret }
  const registered = await gatepass.call('POST', '/v1/workers', {
    id,
    mcp: { uri: url, timeout: 10, retry: 0, namespace: id.replace('-', '_'), ...(oauth2 && { oauth2 }) },
  })
  const path = `/v1/workers/${id}/authorize?user_id=ada`
  if (registered.body.status === 'unauthorized') {
    const { body } = await gatepass.call('POST', path)
    if (body.url !== undefined) await approve(body.url)
    await gatepass.call('POST', path)
  }
  await gatepass.call('PATCH', `/v1/workers/${id}`, { mcp: { retry: 0 } }) // reads the list again
  const worker = (await gatepass.call('GET', `/v1/workers/${id}`)).body
  const tools: AnyJson[] = (await gatepass.call('GET', `/v1/workers/${id}/tools?limit=100`)).body.items ?? []
  const calls =
    toolCalls ?? tools.map(({ name, input }) => ({ name, arguments: argumentsOf(input?.parameters ?? []) }))
  const results: unknown[] = []
  for (const call of calls) {
    const tool = tools.find(({ name }) => name === call.name)
    if (tool !== undefined)
      results.push(
        await callTool(
          gatepass,
          tool.fully_qualified_name,
          call.arguments,
          /elicitation|request-state/.test(scenario),
        ),
      )
  }
  await gatepass.call('DELETE', `/v1/workers/${id}`)
  return { sync_error: worker.sync_error, tools: tools.map(({ name }) => name), results }
}

async function callTool(
  { broker }: Gatepass,
  name: string,
  input: Record<string, unknown>,
  asks: boolean,
): Promise<ExecutionOutcome[]> {
  const { id: projectId } = await broker.store.projects.ensure('default', broker.now())
  const tool = await getTool(broker, projectId, name)
  const outcomes: ExecutionOutcome[] = []
  while (outcomes.length < MAX_CALLS) {
    const { outcome } = await executeTool(broker, {
      tool,
      input,
      entryPoint: 'mcp',
      userId: 'ada',
      ...(asks && { dialog }),
    })
    outcomes.push(outcome)
    if (outcome.outcome !== 'authorization_required') break
    await approve(outcome.authorization.url)
  }
  return outcomes
}

/** A user who accepts each form with its defaults. */
const dialog: Dialog = {
  modes: ['form', 'url'],
  async elicit(question) {
    if (question.mode === 'url') return { action: 'accept' }
    const fields = Object.entries(question.requestedSchema.properties as Record<string, AnyJson>) // a form has properties
    const content = fields.map(([name, field]) => [name, field.default ?? exampleOf(field)])
    return { action: 'accept', content: Object.fromEntries(content) }
  },
}

function exampleOf({ type, enum: values, oneOf }: AnyJson): unknown {
  if (values !== undefined) return values[0]
  if (oneOf !== undefined) return oneOf[0].const
  return type === 'string' ? 'x' : type === 'boolean' ? true : type === 'array' ? [] : 1
}

function argumentsOf(parameters: readonly AnyJson[]): Record<string, unknown> {
  return Object.fromEntries(
    parameters.map(({ name, value_schema }) => [name, exampleOf({ type: value_schema.val_type })]),
  )
}
