import { expect } from 'vitest'
import type { Gatepass } from './gatepass.ts'

type Call = Gatepass['call']

/** Runs every name in any list of tools, at every endpoint, and expects that each is accepted and means one tool. */
export async function expectListedNamesToRun(call: Call): Promise<string[]> {
  const names = await namesToCall(call)
  for (const name of names) {
    const body = { user_id: 'ada', args: {} }
    const answers = {
      get: await call('GET', `/v1/tools/${encodeURIComponent(name)}`),
      execute: await call('POST', '/v1/tools/execute', { tool_name: name, user_id: 'ada', input: {} }),
      run: await call('POST', '/v1/tools/run', { toolId: name, ...body }),
      run_stream: await call('POST', '/v1/tools/run_stream', { toolId: name, ...body }),
      run_chain: await call('POST', '/v1/tools/run_chain', {
        user_id: 'ada',
        steps: [{ toolId: name, args: {}, usePrevious: false }],
      }),
    }
    for (const [way, answer] of Object.entries(answers)) expectTaken(answer, `${name} by ${way}`)
    const { tool_id } = answers.get.body
    const { tool } = answers.run.body
    const ran = tool && [tool.namespace, tool.name, tool.version].filter(Boolean).join(':')
    if (tool) expect(ran, name).toBe(tool_id)
  }
  for (const { id, name } of await items(call, '/oxp/tools'))
    for (const tool_id of [id, name]) {
      const request = { tool_id, input: {}, context: { user_id: 'ada' } }
      expectTaken(await call('POST', '/oxp/tools/call', { request }), `${tool_id} by OXP`)
    }
  await expectCodeToCall(call)
  return names
}

async function namesToCall(call: Call): Promise<string[]> {
  const names = new Set<string>()
  for (const one of await items(call, '/v1/tools?limit=100'))
    for (const name of [one.fully_qualified_name, one.qualified_name, one.tool_id]) names.add(name)
  for (const [format, nameOf] of Object.entries(FORMATS)) {
    const listed = (await items(call, `/v1/formatted_tools?limit=100&format=${format}`)).map(nameOf)
    expect(new Set(listed).size, `${format} gives each name once`).toBe(listed.length)
    for (const name of listed) names.add(name)
  }
  return [...names]
}

interface Listed {
  readonly name: string
  readonly title: string
  readonly id: string
  readonly tool_id: string
  readonly qualified_name: string
  readonly fully_qualified_name: string
  readonly function: { readonly name: string }
}

const FORMATS: Readonly<Record<string, (one: Listed) => string>> = {
  openai: (one) => one.function.name,
  anthropic: (one) => one.name,
  mcp: (one) => one.name,
  jsonschema: (one) => one.title,
  arcade: (one) => one.fully_qualified_name,
}

async function items(call: Call, path: string): Promise<readonly Listed[]> {
  const { status, body } = await call('GET', path)
  expect(status, path).toBe(200)
  expect(body.total_count ?? 0, `${path} is one page`).toBeLessThanOrEqual(body.items.length)
  return body.items
}

function expectTaken({ body }: Awaited<ReturnType<Call>>, what: string): void {
  expect(JSON.stringify(body), what).not.toMatch(/ambiguous_tool|may be any of|There is no (?:tool|version)/)
}

/** A missing consent would end the code, so it calls only tools that need none. `tools.list` in code has ids alone. */
async function expectCodeToCall(call: Call): Promise<void> {
  const all = await items(call, '/v1/tools?limit=100&met=true')
  const free = all.filter((one) => !JSON.stringify(one).includes('"authorization"')).map((one) => one.tool_id)
  const code = `const ids = (await tools.list()).map((one) => one.id)
    const refused = []
    for (const id of ${JSON.stringify(free)}.filter((one) => ids.includes(one)))
      await tools.call(id, {}).catch(({ message }) => /may be any of|There is no/.test(message) && refused.push(id))
    return { missing: ${JSON.stringify(free)}.filter((one) => !ids.includes(one)), refused }`
  const { body } = await call('POST', '/v1/code/execute', { language: 'javascript', code, user_id: 'ada' })
  expect(body, JSON.stringify(body)).toMatchObject({ value: { missing: [], refused: [] } })
}
