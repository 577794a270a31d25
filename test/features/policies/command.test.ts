import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sampleMetadata } from '../../../src/dev-provider/sample-metadata.ts'
import { type Installation, install, type Started } from '../../cli/gatepass.ts'
import { UserAgent } from '../../user-agent.ts'

let gatepass: Installation
let server: Started
let apiKey: string
beforeAll(async () => {
  gatepass = await install()
  server = gatepass.start('dev', '--commands')
  apiKey = (await server.prints(/\b(gp_[\w-]{43})\b/))[1] ?? ''
  const file = join(gatepass.directory, 'sandbox-profile.json')
  writeFileSync(file, JSON.stringify(sampleMetadata(new URL(gatepass.url))))
  expect(await gatepass.runHere('import', file, '--worker', 'sandbox')).toMatchObject({ code: 0 })
  const connecting = gatepass.start('connect', 'sandbox', '--user', 'ada', '--no-open', '--json')
  const [line] = await connecting.prints(/^\{.*\}$/m)
  const agent = new UserAgent()
  const consent = await agent.submitForm(await agent.follow(JSON.parse(line).url))
  await agent.submitForm(consent, {}, { button: 'allow' })
  expect(await connecting.ended).toMatchObject({ code: 0 })
})
afterAll(() => gatepass[Symbol.asyncDispose]())

const token = () => gatepass.runHere('token', 'sandbox', '--user', 'ada')

async function askServer(): Promise<number> {
  const headers = { authorization: apiKey, 'content-type': 'application/json' }
  const listed = await fetch(`${gatepass.url}/v1/connections?user_id=ada`, { headers })
  const { items } = (await listed.json()) as { items: { id: string }[] }
  const answer = await fetch(`${gatepass.url}/v1/connections/${items[0]?.id}/token`, {
    method: 'POST',
    headers,
  })
  return answer.status
}

test('a policy of the command line holds for the command line and the running server', async () => {
  expect(await token()).toMatchObject({ code: 0 })
  const empty = await gatepass.runHere('policies', '--json')
  expect(JSON.parse(empty.stdout)).toEqual({ items: [] })

  const policies = [
    { id: 'no-tokens', effect: 'deny', match: { uses: ['token'] } },
    { id: 'off', effect: 'deny', enabled: false, match: {} },
  ]
  const stdin = JSON.stringify(policies)
  const set = await gatepass.runWith({ stdin }, 'policies', 'set', '-', '--json')
  expect(JSON.parse(set.stdout)).toMatchObject({ items: policies })
  const refused = await token()
  expect(refused).toMatchObject({ code: 4, stdout: '' })
  expect(refused.stderr).toMatch(/^The policy "no-tokens" refuses this\. [^\n]+\n$/)
  expect(await askServer()).toBe(403)

  const listed = await gatepass.runHere('policies')
  expect(listed.stdout).toMatch(/no-tokens +deny +\{"uses":\["token"\]\}\n.*off +deny \(off\)/)
  expect(await gatepass.runHere('policies', 'delete', 'no-tokens')).toMatchObject({ code: 0, stderr: '' })
  expect(await token()).toMatchObject({ code: 0 })
  expect(await askServer()).toBe(200)
})

test('set replaces a policy as a whole: what the file leaves out is removed or as by default', async () => {
  const set = async (policy: object) => {
    const stdin = JSON.stringify({ id: 'whole', effect: 'deny', ...policy })
    return JSON.parse((await gatepass.runHereWith({ stdin }, 'policies', 'set', '-', '--json')).stdout)
      .items[0]
  }
  const hook = { url: 'https://hooks.example.com/', timeout_ms: 500, on_failure: 'allow' }
  const match = { users: ['eve'], tools: ['Demo.*'] }
  const first = await set({ effect: 'hook', description: 'asks', enabled: false, match, hook })
  expect(first).toMatchObject({ effect: 'hook', description: 'asks', enabled: false, match, hook })
  const { created_at, updated_at, ...second } = await set({ match: { users: ['eve'] } })
  expect(second).toEqual({ id: 'whole', effect: 'deny', enabled: true, match: { users: ['eve'] } })
  expect(await gatepass.runHere('policies', 'delete', 'whole')).toMatchObject({ code: 0 })
})

test('a dry run says what a policy would have refused', async () => {
  const stdin = JSON.stringify({ id: 'no-ada', effect: 'deny', match: { users: ['ada'] } })
  const tried = await gatepass.runHereWith({ stdin }, 'policies', 'dry-run', '-')
  expect(tried).toMatchObject({ code: 0, stderr: '' })
  expect(tried.stdout).toMatch(/(\d+) uses of tokens [^\n]+\n {2}✗ \1 would have been refused, 0 permitted\n/)
  expect(tried.stdout).toMatch(/\nno-ada +\d+ uses\n/)
  expect(tried.stdout).toMatch(/ ada +token +sandbox +denied +no-ada\n/)
  const approve = { by: { group: 'security' } }
  const asking = JSON.stringify({ id: 'ask', effect: 'approve', match: { users: ['ada'] }, approve })
  const asked = await gatepass.runHereWith({ stdin: asking }, 'policies', 'dry-run', '-')
  expect(asked.stdout).toMatch(/\n {2}! \d+ would have waited for a person\n/)
  expect(asked.stdout).toMatch(/\nask +one of the group security +\d+ uses\n/)
  expect(asked.stdout).toMatch(/ ada +token +sandbox +asked +ask\n/)
  const json = await gatepass.runHereWith({ stdin }, 'policies', 'dry-run', '-', '--json')
  expect(JSON.parse(json.stdout)).toMatchObject({ permitted: 0, undecided: 0, complete: true })
  expect((await gatepass.runHere('policies', 'dry-run')).stdout).toMatch(/✓ 0 would have been refused/)
  const none = await gatepass.runHere('policies', 'dry-run', '--until', '2020-01-01')
  expect(none).toMatchObject({ code: 0, stdout: 'No token was used in that time.\n' })
  expect(await gatepass.runHere('policies', 'dry-run', '--without', 'nope')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('"nope"'),
  })
})

test.each([
  ['no JSON', '{', /JSON/],
  [
    'a misspelled member',
    '[{"id":"a","effect":"deny","match":{}},{"id":"b","effect":"deny","match":{"user":["ada"]}}]',
    /2 of 2.*user/,
  ],
  ['a rule that contradicts itself', '{"id":"a","effect":"hook","match":{}}', /hook/],
])('%s sets nothing', async (_, stdin, said) => {
  const refused = await gatepass.runHereWith({ stdin }, 'policies', 'set', '-')
  expect(refused).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(/^[^\n]+\n$/) })
  expect(refused.stderr).toMatch(said)
  const { items } = JSON.parse((await gatepass.runHere('policies', '--json')).stdout)
  expect(items.map(({ id }: { id: string }) => id)).toEqual(['off'])
})
