import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { packIds, shippedPack } from '../../../src/features/packs/wire-library.ts'
import { openaiTools } from '../../../src/sdk/adapters/openai.ts'
import { Gatepass } from '../../../src/sdk/client/gatepass.ts'
import { connect } from '../../mcp/clients.ts'
import { type ScriptedModel, startScriptedModel } from '../../sdk/adapters/scripted-model.ts'
import { defined } from '../../store/fixtures.ts'
import {
  comparable,
  type Example,
  type PacksWorld,
  promisedValue,
  startPacksWorld,
} from './simulated-world.ts'

// Every tool of every pack runs its example against the simulated service of its pack, with the consent of a user at the
// simulated authorization server: by the API, by MCP, and by OpenAI's library.

const BUDGET = 8_000
const packs = packIds().map((id) => defined(shippedPack(id)))

let world: PacksWorld
let model: ScriptedModel
beforeAll(async () => {
  model = await startScriptedModel()
  world = await startPacksWorld(packIds())
  // approvals have tests of their own: ten-jobs.test.ts
  const { body } = await world.call('GET', '/v1/admin/policies?limit=100')
  for (const { id } of body.items) await world.call('DELETE', `/v1/admin/policies/${id}`)
})
afterAll(async () => {
  await model.close()
  await world[Symbol.asyncDispose]()
})

/** The tool's value; a consent that is missing is given first. */
async function execute(user: string, tool: string, input: object): Promise<unknown> {
  const run = () =>
    world.call('POST', '/v1/tools/execute', { tool_name: tool, user_id: user, input: { ...input } })
  let { body } = await run()
  const { requires_authorization: need } = body.output ?? {}
  if (need !== undefined) {
    await world.consent(need.url)
    body = (await run()).body
  }
  if (body.success !== true) throw new Error(JSON.stringify(body))
  return body.output.value
}

function withoutRepetitions(examples: readonly Example[]): readonly Example[] {
  const inputs = examples.map(({ input }) => JSON.stringify(input))
  return examples.filter((_, index) => inputs.indexOf(inputs[index] ?? '') === index)
}

/** The login sends the same request to learn which site a connection is for, and the simulated login answers one site. */
const OF_THE_LOGIN = 'Jira_ListSites'

test('the list of sites is the one from which the login takes the site of the connection', async () => {
  const value = await execute('user of sites', OF_THE_LOGIN, {})
  expect(value).toEqual({ items: [expect.objectContaining({ id: expect.any(String) })] })
})

describe.each(packs)('the pack $id', (pack) => {
  const tools = pack.tools.filter(({ name }) => `${pack.namespace}_${name}` !== OF_THE_LOGIN)
  const calls = tools.flatMap((tool) =>
    // the service answers one input always the same: the first example of those with equal inputs
    withoutRepetitions(tool.examples ?? []).map((example, index) => ({
      name: tool.name,
      tool: `${pack.namespace}_${tool.name}`,
      example,
      index,
    })),
  )
  const user = `user of ${pack.id}`

  test.each(calls)('$name runs by the API and by MCP (example $index)', async ({ name, tool, example }) => {
    const promised = await promisedValue(pack, name, example)
    const value = await execute(user, tool, example.input)
    expect(comparable(value)).toEqual(promised)
    expect(JSON.stringify(value).length).toBeLessThan(BUDGET)
    await using connected = await connect(world, { era: 'modern', path: `/mcp/${pack.id}`, user })
    const answered = await connected.client.callTool({ name: tool, arguments: example.input })
    const [content] = answered.content as { text: string }[]
    const read = typeof promised === 'string' ? content?.text : JSON.parse(content?.text ?? 'null')
    expect([answered.isError ?? false, comparable(read)]).toEqual([false, promised])
  })

  test('all tools run by the library of OpenAI, and no call of another pack does', async () => {
    const gatepass = new Gatepass({ baseUrl: world.url, apiKey: world.apiKey })
    const other = `other ${user}`
    const { tools: offered, runCalls } = await openaiTools(gatepass, {
      user: other,
      tools: [...new Set(calls.map(({ tool }) => tool))],
      consent: ({ url }) => world.consent(url),
    })
    expect(offered.length).toBe(tools.length)
    model.calls = calls.map(({ tool, example }) => ({ name: tool, input: example.input }))
    const openai = new OpenAI({ baseURL: `${model.url}/v1`, apiKey: 'scripted' })
    const { output } = await openai.responses.create({
      model: 'scripted',
      tools: offered,
      input: 'Do it all.',
    })
    const { outputs, pending } = await runCalls(output)
    expect(pending).toEqual([])
    const promised = await Promise.all(calls.map(({ name, example }) => promisedValue(pack, name, example)))
    const values = outputs.map((one, index) =>
      comparable(typeof promised[index] === 'string' ? one.output : JSON.parse(one.output)),
    )
    expect(values).toEqual(promised)
  })
})
