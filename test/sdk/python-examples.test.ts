import { execFile } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { needsPython, runPython } from '../python.ts'
import { type AgentWorld, giveConsent, startAgentWorld } from './adapters/agent-world.ts'
import { type ScriptedModel, startScriptedModel } from './adapters/scripted-model.ts'

// Every program of examples/python, as its reader starts it, where python3 has the packages that it imports.

const FOLDER = 'examples/python'
const MOST_LINES = 40

let agents: AgentWorld
let model: ScriptedModel
beforeAll(async () => {
  agents = await startAgentWorld()
  model = await startScriptedModel()
  model.calls = [{ name: 'Demo_WhoAmI', input: {} }]
})
afterAll(async () => {
  await model.close()
  await agents[Symbol.asyncDispose]()
})

/** Starts a program of the examples; the user approves the link that it prints. */
function start(name: string, given: readonly string[]): Promise<string> {
  const { url, apiKey } = agents.world.gatepass
  return runPython({
    arguments: [`${FOLDER}/${name}`, ...given],
    environment: {
      GATEPASS_URL: url,
      GATEPASS_API_KEY: apiKey,
      OPENAI_BASE_URL: `${model.url}/v1`,
      OPENAI_API_KEY: 'scripted',
      OPENAI_AGENTS_DISABLE_TRACING: '1',
    },
    approve: giveConsent,
  })
}

const PROGRAMS = { 'with_arcadepy.py': ['arcadepy'], 'with_httpx.py': ['httpx'] }
const AGENTS = {
  'mcp_langchain.py': ['langchain', 'langchain_openai', 'langchain_mcp_adapters'],
  'mcp_openai_agents.py': ['agents'],
}
/** docs/start/python.md runs it with the tool of the sandbox. */
const OF_THE_PAGE = 'main_job.py'

test.for(Object.entries(PROGRAMS))(
  '%s shows the link, waits and goes on',
  async ([name, packages], context) => {
    await needsPython(context, packages)
    const user = agents.newUser()
    const printed = await start(name, [user, 'Demo_WhoAmI'])
    expect(printed).toMatch(/Please approve: http\S+\/connect\/auth_/)
    expect(printed).toContain(user)
    expect(agents.runsOf(user, 'WhoAmI')).toBe(1)
  },
)

test.for(Object.entries(AGENTS))(
  '%s answers with the link, and with the tool’s answer after the consent',
  async ([name, packages], context) => {
    await needsPython(context, packages)
    const user = agents.newUser()
    expect(await start(name, [user, 'Who am I?'])).toMatch(/http\S+\/connect\/auth_/)
    expect(await start(name, [user, 'Who am I?'])).toContain(user)
    expect(agents.runsOf(user, 'WhoAmI')).toBe(1)
  },
)

test('are all run, have less than 40 lines, and name their packages', () => {
  const files = globSync(`${FOLDER}/*.py`).map((file) => basename(file))
  expect(files.sort()).toEqual([...Object.keys({ ...PROGRAMS, ...AGENTS }), OF_THE_PAGE].sort())
  const required = readFileSync(`${FOLDER}/requirements.txt`, 'utf8')
  for (const file of files) {
    const text = readFileSync(`${FOLDER}/${file}`, 'utf8')
    expect(text.split('\n').length, file).toBeLessThan(MOST_LINES)
    const [, named = ''] = /^pip install (.+)$/m.exec(text) ?? []
    for (const name of named.split(' ').filter(Boolean)) expect(required).toContain(`\n${name}>=`)
  }
})

test('are where docs/start/python.md takes its code from', () => {
  const page = readFileSync('docs/start/python.md', 'utf8')
  const [[, code] = []] = page.matchAll(/```py\n([\s\S]*?)```/g)
  expect(code).toBe(readFileSync(`${FOLDER}/${OF_THE_PAGE}`, 'utf8'))
})

test('are programs of Python, whatever this machine has of their packages', async (context) => {
  await needsPython(context)
  const program =
    'import ast, sys\nfor name in sys.argv[1:]: ast.parse(open(name).read(), name, feature_version=(3, 9))'
  await promisify(execFile)('python3', ['-c', program, ...globSync(`${FOLDER}/*.py`)])
})
