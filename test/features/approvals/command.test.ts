import { PassThrough } from 'node:stream'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { runHere } from '../../cli/gatepass.ts'
import { metadata, startWorld, type World } from '../../http/world.ts'

const TOOL = 'Demo.EchoWithToken'

let world: World
let approver: string
beforeAll(async () => {
  world = await startWorld({ gatepass: { mode: 'development' } })
  approver = await world.gatepass.makeKey('approver')
  await world.connect('ada', ['read'])
  const policy = {
    id: 'ask',
    effect: 'approve',
    match: { tools: [TOOL] },
    approve: { remember: ['once', 'hour'] },
  }
  expect(await world.call('POST', '/v1/admin/policies', policy)).toMatchObject({ status: 201 })
})
afterAll(() => world[Symbol.asyncDispose]())
afterEach(() => {
  vi.restoreAllMocks()
})

let asked = 0
/** The question about a call that was not made before. */
async function ask(text = 'hello'): Promise<{ readonly id: string; readonly again: () => Promise<unknown> }> {
  const args = { text: `${text} ${++asked}` }
  const run = () => world.call('POST', '/v1/tools/run', { tool_id: TOOL, user_id: 'ada', args })
  const { id } = (await run()).body.requires_authorization
  return { id, again: async () => (await run()).body.requires_authorization?.status }
}

const gatepass = (...args: readonly string[]) =>
  runHere({ GATEPASS_URL: world.gatepass.url, GATEPASS_API_KEY: approver }, ...args)
const stateOf = async (id: string) => JSON.parse((await gatepass('approvals', 'show', id, '--json')).stdout)

/** Runs the command at a terminal at which this is typed. */
function typing(typed: string, ...args: readonly string[]) {
  const terminal = Object.assign(new PassThrough(), { isTTY: true })
  vi.spyOn(process, 'stdin', 'get').mockReturnValue(terminal as unknown as typeof process.stdin)
  terminal.write(typed)
  return gatepass(...args)
}

test('show draws what hides itself, and no line of a program passes for one of Gatepass', async () => {
  const { id } = await ask('pay \u202e10\u200b to p\u0430ypal.com\n  digest      forged \u001b[2Jend')
  const { code, stdout } = await gatepass('approvals', 'show', id)
  expect(code).toBe(0)
  const { digest } = await stateOf(id)
  for (const shown of ['[U+202E]10[U+200B]', 'U+0430', '[U+001B][2Jend', 'ada', 'ask', digest])
    expect(stdout).toContain(shown)
  expect(stdout).not.toMatch(/[\u202e\u200b]/)
  expect(stdout).toMatch(/^.{0,4} {2}│ .{0,4} {2}digest {6}forged/m)
  expect(stdout.match(/^ {2}\S{0,4}digest/gm)).toHaveLength(1)
})

test('no name of an argument passes for a line of Gatepass', async () => {
  const parameters = { type: 'object', properties: { text: { type: 'string' } }, required: [] }
  await world.call('POST', '/v1/tools/import?worker_id=demo', metadata('Echo', { parameters }))
  const policy = { id: 'ask-names', effect: 'approve', match: { tools: ['local.Echo'] } }
  expect(await world.call('POST', '/v1/admin/policies', policy)).toMatchObject({ status: 201 })
  const forged = 'It has no arguments: nothing is sent.'
  const sent = { tool_id: 'local.Echo', user_id: 'ada', args: { text: 'seen', [forged]: '' } }
  const { id } = (await world.call('POST', '/v1/tools/run', sent)).body.requires_authorization
  const { stdout } = await gatepass('approvals', 'show', id)
  expect(stdout).toContain(forged)
  expect(stdout).not.toMatch(new RegExp(`^${forged}`, 'm'))
  await world.call('DELETE', '/v1/admin/policies/ask-names')
})

test('a value that the tool hides is neither printed nor in the answer', async () => {
  const password = { type: 'string', format: 'password' }
  const parameters = { type: 'object', properties: { text: { type: 'string' }, pin: password }, required: [] }
  await world.call('POST', '/v1/tools/import?worker_id=demo', metadata('Echo', { parameters }))
  const policy = { id: 'ask-pin', effect: 'approve', match: { tools: ['local.Echo'] } }
  expect(await world.call('POST', '/v1/admin/policies', policy)).toMatchObject({ status: 201 })
  const sent = { tool_id: 'local.Echo', user_id: 'ada', args: { text: 'seen', pin: '4711-secret' } }
  const { id } = (await world.call('POST', '/v1/tools/run', sent)).body.requires_authorization
  expect((await stateOf(id)).call).toMatchObject({ arguments: { text: 'seen' }, hidden: ['pin'] })
  const { stdout } = await gatepass('approvals', 'show', id)
  expect(stdout).toMatch(/pin\n +•+ hidden by the tool/)
  expect(stdout + JSON.stringify(await stateOf(id))).not.toContain('4711')
})

test('a long value is shown whole', async () => {
  const { id } = await ask('x'.repeat(50_000))
  expect((await gatepass('approvals', 'show', id)).stdout).toContain('x'.repeat(50_000))
})

test('approve shows the call, asks, and sends the digest of what was shown', async () => {
  const { id, again } = await ask('show me')
  const declined = await typing('yes\n', 'approvals', 'approve', id, '--approver', 'ada')
  expect(declined).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringContaining('Nothing was decided.'),
  })
  expect(declined.stderr).toContain('show me')
  expect(await stateOf(id)).toMatchObject({ status: 'pending' })

  const approved = await typing('approve\n', 'approvals', 'approve', id, '--approver', 'ada')
  expect(approved).toMatchObject({ code: 0, stdout: expect.stringContaining('is approved') })
  expect(await again()).toBeUndefined()
  expect(await stateOf(id)).toMatchObject({
    status: 'used',
    decisions: [{ approver: 'ada', proof: 'api_key' }],
  })
})

test('a script names the digest that was read', async () => {
  const { id } = await ask()
  const { digest } = await stateOf(id)
  const approve = (...more: readonly string[]) =>
    gatepass('approvals', 'approve', id, '--approver', 'ada', ...more)
  expect(await approve()).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes and --digest') })
  expect(await approve('--yes')).toMatchObject({ code: 2, stderr: expect.stringContaining('--digest') })
  expect(await approve('--yes', '--digest', 'other')).toMatchObject({ code: 1, stdout: '' })
  expect(await stateOf(id)).toMatchObject({ status: 'pending' })
  const remembered = ['--remember', 'hour', '--fixed', 'text']
  const done = await approve('--yes', '--digest', digest, ...remembered, '--json')
  expect(JSON.parse(done.stdout)).toMatchObject({ id, status: 'approved', digest })

  const admin = { GATEPASS_URL: world.gatepass.url, GATEPASS_API_KEY: world.gatepass.apiKey }
  const listed = await runHere(admin, 'standing-approvals', '--user', 'ada')
  const [standing = ''] = /stap_\w+/.exec(listed.stdout) ?? []
  expect(listed.stdout).toMatch(/approved +ada .*text/)
  expect(await runHere(admin, 'standing-approvals', 'remove', standing)).toMatchObject({ code: 0 })
  expect(await runHere(admin, 'standing-approvals', 'remove', standing)).toMatchObject({ code: 3 })
  expect((await runHere(admin, 'standing-approvals')).stdout).toMatch(/^No approvals/)
})

test('deny tells the caller why, and the list has each state', async () => {
  const { id } = await ask()
  const deny = ['approvals', 'deny', id, '--approver', 'ada', '--reason', 'Not on a Sunday.']
  expect(await typing('deny\n', ...deny)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('is denied'),
  })
  expect((await gatepass('approvals', '--status', 'denied')).stdout).toMatch(
    new RegExp(`${id} +denied .* ada `),
  )
  const pending = JSON.parse((await gatepass('approvals', '--status', 'pending', '--json')).stdout)
  expect(pending.items.map((one: { id: string }) => one.id)).not.toContain(id)
})

test.each([
  ['another key', ['approvals', '--key', 'gp_none'], 4, /key/],
  ['an unknown approval', ['approvals', 'show', 'appr_none'], 3, /appr_none/],
])('%s is refused', async (_, args, code, said) => {
  expect(await gatepass(...args)).toMatchObject({ code, stderr: expect.stringMatching(said) })
})

test('the key of an administrator decides nothing, nor does a command on the database', async () => {
  const url = world.gatepass.url
  expect(
    await runHere({ GATEPASS_URL: url, GATEPASS_API_KEY: world.gatepass.apiKey }, 'approvals'),
  ).toMatchObject({
    code: 4,
  })
  expect(await runHere({}, 'approvals')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--role approver'),
  })
})
