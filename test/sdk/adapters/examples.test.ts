import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { newPerson, openBrowser } from '../../browser.ts'
import type { Loopback } from '../../loopback.ts'
import { type AgentWorld, ASK_FIRST, askBeforeEcho, startAgentWorld } from './agent-world.ts'
import { startConsentMcpServer } from './consent-mcp-server.ts'
import { inAnotherProcess } from './in-another-process.ts'
import { type ScriptedModel, startScriptedModel } from './scripted-model.ts'

// Every program of examples/agents, as its reader starts it: it prints the link, waits for the user, and goes on.

const FOLDER = new URL('../../../examples/agents/', import.meta.url)

let agents: AgentWorld
let model: ScriptedModel
let mcp: Loopback
let browser: Browser
let user = ''
let person: Awaited<ReturnType<typeof askBeforeEcho>>

beforeAll(async () => {
  agents = await startAgentWorld()
  model = await startScriptedModel()
  model.calls = [{ name: 'Demo_WhoAmI', input: {} }]
  person = await askBeforeEcho(agents)
  browser = await openBrowser()
  agents.world.as.behaviour.consent = 'page'
  mcp = await startConsentMcpServer(agents.gatepass, () => user)
})

afterAll(async () => {
  await browser.close()
  await mcp.close()
  await model.close()
  await agents[Symbol.asyncDispose]()
})

/** What a user does in a browser, from the link to the page that says that it is done. */
async function approveInChromium(url: string): Promise<void> {
  await using person = await newPerson(browser)
  const { page } = person
  await page.goto(url)
  await page.getByRole('button', { name: /^Continue to/ }).click()
  await page.getByRole('button', { name: 'Approve' }).click()
  await page.getByRole('heading', { name: /connected/i }).waitFor()
}

const EXAMPLES = ['fetch', 'openai', 'anthropic', 'ai-sdk', 'langchain', 'mcp-client'].map(
  (name) => `${name}.ts`,
)

describe('examples/agents', () => {
  test.each([...EXAMPLES, 'run_tool.py'])('%s shows the link, waits and goes on', async (name) => {
    user = agents.newUser()
    const printed = await inAnotherProcess(new URL(name, FOLDER), agents, model, {
      arguments: name === 'mcp-client.ts' ? ['who_am_i'] : [user, 'Demo_WhoAmI'],
      environment: { MCP_URL: mcp.url },
      approve: approveInChromium,
    })
    expect(printed).toMatch(/Please approve: http\S+\/connect\/auth_/)
    expect(printed).toContain(`"user_id":"${user}"`)
    expect(agents.runsOf(user, 'WhoAmI')).toBe(1)
  })

  test.each([
    ['approved', 'approveCall', '"text":"ask first"', 1],
    ['denied', 'denyCall', 'Not on a Sunday.', 0],
  ] as const)(
    'approval.ts shows the link of a call, waits, and goes on when it is %s',
    async (_, decide, said, runs) => {
      user = agents.newUser()
      model.calls = [ASK_FIRST]
      onTestFinished(() => {
        model.calls = [{ name: 'Demo_WhoAmI', input: {} }]
      })
      const printed = await inAnotherProcess(new URL('approval.ts', FOLDER), agents, model, {
        arguments: [user, 'Demo_Echo'],
        approve: person[decide],
      })
      expect(printed).toMatch(/May I call Demo_Echo\? Please decide: http\S+\/approve\/appr_/)
      expect(printed).toContain(said)
      expect(agents.runsOf(user, 'Echo')).toBe(runs)
    },
  )

  test('openai-agents stores its run at a missing consent, and another process goes on', async () => {
    user = agents.newUser()
    const folder = await mkdtemp(join(tmpdir(), 'gatepass-agents-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const start = () =>
      inAnotherProcess(new URL('openai-agents.ts', FOLDER), agents, model, {
        arguments: [join(folder, 'run.json'), user, 'Demo_WhoAmI'],
        approve: approveInChromium,
      })
    expect(await start()).toMatch(/Please approve: http\S+\/connect\/auth_/)
    expect(await start()).toContain(`Answer: {"user_id":"${user}"`)
    expect(agents.runsOf(user, 'WhoAmI')).toBe(1)
  })

  test('are all run here, and each has less than 60 lines', () => {
    const files = readdirSync(FOLDER)
    expect(files.sort()).toEqual([...EXAMPLES, 'approval.ts', 'openai-agents.ts', 'run_tool.py'].sort())
    for (const file of files)
      expect(readFileSync(new URL(file, FOLDER), 'utf8').split('\n').length).toBeLessThan(60)
  })

  test('are where docs/guides/agents.md takes its code from', () => {
    const page = readFileSync(new URL('../../docs/guides/agents.md', FOLDER), 'utf8')
    const blocks = [...page.matchAll(/```(?:ts|py)\n([\s\S]*?)\n```/g)].map(([, code = '']) => code)
    expect(blocks.length).toBeGreaterThan(5)
    const programs = readdirSync(FOLDER).map((file) => readFileSync(new URL(file, FOLDER), 'utf8'))
    for (const block of blocks)
      expect(
        programs.some((program) => program.includes(block)),
        block,
      ).toBe(true)
  })
})
