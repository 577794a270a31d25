import { execFile, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Gatepass, startGatepass } from '../gatepass.ts'
import { onDemand } from '../on-demand/ask.ts'
import { UserAgent } from '../user-agent.ts'

// docs/start/agent-builder.md, as its reader follows it. The test does what the reader does in the browser.

const page = readFileSync('docs/start/agent-builder.md', 'utf8')
const blocks = (language: string) =>
  [...page.matchAll(/```(\w+)\n([\s\S]*?)```/g)]
    .filter(([, is]) => is === language)
    .map(([, , text = '']) => text)

const folder = mkdtempSync(join(tmpdir(), 'gatepass-start-'))
let gatepass: Gatepass
beforeAll(async () => {
  await onDemand('sdk')
  gatepass = await startGatepass({ mode: 'development' })
  mkdirSync(join(folder, 'node_modules/@gatepass'), { recursive: true })
  symlinkSync(resolve('src/sdk'), join(folder, 'node_modules/@gatepass/sdk'))
  writeFileSync(join(folder, 'package.json'), '{"type": "module"}')
  writeFileSync(join(folder, 'gatepass.db.api-key'), gatepass.apiKey)
})
afterAll(async () => {
  await gatepass.close()
  rmSync(folder, { recursive: true })
})

test('its program asks for consent once, goes on, and needs none the second time', async () => {
  const [, settings = '', imported = '', runIt = '', proxied = '', list = ''] = blocks('sh')
  const [program = ''] = blocks('ts')
  mkdirSync(join(folder, 'examples'))
  writeFileSync(join(folder, 'examples/start.ts'), program)
  expect(readFileSync('examples/start.ts', 'utf8')).toBe(program)
  const here = settings.replace('http://localhost:8400', gatepass.url)
  const [, file = '', worker] = /import (\S+) --worker (\S+)/.exec(imported) ?? []
  const document = JSON.parse(readFileSync(file, 'utf8').replaceAll('http://localhost:8400', gatepass.url))
  const { body } = await gatepass.call('POST', `/v1/tools/import?worker_id=${worker}`, document)
  expect(body.items).toMatchObject([{ result: 'created' }])
  const env = { PATH: `${resolve('node_modules/.bin')}:${process.env.PATH}`, HOME: folder }
  const command = runIt.replace('npm exec -- ', '') // npm would look for the clone's Node, which PATH has here
  for (const time of ['first', 'second']) {
    const agent = spawn('bash', ['-euo', 'pipefail', '-c', here + command], {
      cwd: folder,
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let printed = ''
    for await (const piece of agent.stdout) {
      printed += piece
      const [, link] = /Please open (\S+) and approve/.exec(String(piece)) ?? []
      if (link !== undefined) await approveAtSandbox(link)
    }
    expect(printed, time).toContain('local_Sandbox_Profile Greets')
    expect(printed, time).toContain('Good morning')
    expect(printed.includes('Please open'), time).toBe(time === 'first')
  }
  const answerOf = async (command: string) =>
    (await promisify(execFile)('bash', ['-euc', here + command], { cwd: folder, env })).stdout
  expect(JSON.parse(await answerOf(proxied))).toMatchObject({ greeting: 'Hello Ada Lovelace' })
  const [, call = ''] = /`(ada\.fetch\([^`]*\))`/.exec(page) ?? []
  writeFileSync(
    join(folder, 'examples/fetch.ts'),
    `import { Gatepass } from '@gatepass/sdk'
    const ada = new Gatepass().as('ada')
    console.log(await (await ${call}).text())`,
  )
  expect(await answerOf('node examples/fetch.ts')).toContain('Hello Ada Lovelace')
  const stdout = await answerOf(list)
  expect(stdout).toContain('"name":"local_Sandbox_Profile"')
})

async function approveAtSandbox(link: string): Promise<void> {
  const browser = new UserAgent()
  const consent = await browser.submitForm(await browser.get(link))
  await browser.submitForm(consent, { decision: 'allow' })
}
