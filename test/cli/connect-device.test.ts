import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { pollDevices } from '../../src/flows/device/poll-devices.ts'
import { startFakeDeviceServer } from '../fake-device-server.ts'
import { type Gatepass, startGatepass, testClock } from '../gatepass.ts'
import { startOidcProvider } from '../oidc-provider.ts'
import { UserAgent } from '../user-agent.ts'
import { type Installation, install, type Started } from './gatepass.ts'

// `gatepass connect --device`: the terminal takes the place of the user's browser (RFC 8628).

let cli: Installation
beforeAll(async () => {
  cli = await install()
})
afterAll(() => cli[Symbol.asyncDispose]())

interface World extends AsyncDisposable {
  readonly gatepass: Gatepass
  readonly clock: ReturnType<typeof testClock>
  /** Runs the command, which reads these lines from standard input. */
  connect(stdin: string, ...more: readonly string[]): Started
  connections(): Promise<readonly { readonly account: { readonly name: string } }[]>
}

async function startWorld(oauth2: object, environment: Record<string, string> = {}): Promise<World> {
  const clock = testClock(Math.floor(Date.now() / 1000))
  const gatepass = await startGatepass({ now: clock, environment })
  const added = await gatepass.call('POST', '/v1/admin/auth_providers', { id: 'tv', oauth2 })
  expect(added.status, JSON.stringify(added.body)).toBe(201)
  return {
    gatepass,
    clock,
    connect: (stdin, ...more) =>
      cli.startWith(
        { stdin, env: { GATEPASS_API_KEY: gatepass.apiKey } },
        ...['connect', 'tv', '--user', 'u1', '--no-open', '--url', gatepass.url, ...more],
      ),
    connections: async () => (await gatepass.call('GET', '/v1/connections?user_id=u1')).body.items,
    [Symbol.asyncDispose]: () => gatepass.close(),
  }
}

/** Lets the interval pass, after which the provider is asked for the tokens. */
async function later({ clock, gatepass }: World): Promise<void> {
  clock.advance(6)
  await pollDevices(gatepass.broker)
}

test('a person without a browser enters the code of a certified server elsewhere', async () => {
  const oidc = await startOidcProvider({
    redirectUris: [],
    deviceFlow: true,
    clientAuth: 'client_secret_basic',
  })
  try {
    await using world = await startWorld({
      client_id: oidc.clientId,
      client_secret: oidc.clientSecret,
      issuer: oidc.issuer,
      grant: { type: 'device_code' },
    })
    const command = world.connect('y\n', '--device', '--scopes', 'openid,email,offline_access')
    const [, code = ''] = await command.prints(/on any device:\s+(\S+)\s/)
    const [page = ''] = await command.prints(/http\S+\/device/)
    const atProvider = new UserAgent()
    const confirm = await atProvider.submitForm(await atProvider.get(page), { user_code: code })
    expect((await atProvider.submitForm(confirm)).body).toBe('Approved')
    expect(await world.connections()).toEqual([])
    await later(world)
    const { code: exit, stdout, stderr } = await command.ended
    expect(stderr).toContain('Connected as grace@example.test. Is this your account? (y/n)')
    expect(stdout).toContain('u1 is connected to tv as grace@example.test')
    expect(exit).toBe(0)
    expect(await world.connections()).toMatchObject([{ account: { name: 'grace@example.test' } }])
  } finally {
    await oidc.close()
  }
})

describe('with a server whose answers are known', () => {
  test.each([
    ['n\n', 'an answer'],
    ['', 'no answer'],
  ])('%j: the account is not theirs, so nothing is stored (%s)', async (stdin) => {
    const server = await startFakeDeviceServer({ answers: ['approved'] })
    await using world = await startWorld(server.oauth2())
    const command = world.connect(stdin, '--device', '--json')
    const [line] = await command.prints(/\{.*\n/)
    const { id, user_code, verification_uri, status, ...rest } = JSON.parse(line)
    expect({ user_code, verification_uri, status }).toEqual({
      user_code: server.codes[0]?.userCode,
      verification_uri: `${server.url}/enter`,
      status: 'pending',
    })
    expect(rest.url).toBeUndefined()
    // the code is for the terminal alone
    const seen = await world.gatepass.call('GET', `/v1/auth/status?id=${id}`)
    expect(JSON.stringify(seen.body)).not.toContain(user_code)
    const other = await fetch(`${world.gatepass.url}/connect/${id}/device`)
    expect(await other.json()).toEqual({ kind: 'click' })
    expect(other.headers.get('cache-control')).toContain('no-store')
    await later(world)
    const ended = await command.ended
    expect(ended.code).toBe(5)
    expect(ended.stderr).toContain('account_mismatch')
    expect(await world.connections()).toEqual([])
    expect(server.revoked).toHaveLength(2)
    await server.close()
  })

  test('a refusal at the provider ends the command', async () => {
    const server = await startFakeDeviceServer({ answers: [{ error: 'access_denied' }] })
    await using world = await startWorld(server.oauth2())
    const command = world.connect('y\n', '--device')
    await command.prints(/on any device/)
    await later(world)
    expect(await command.ended).toMatchObject({
      code: 5,
      stderr: expect.stringContaining('access_denied'),
    })
    await server.close()
  })

  test.each<[string, Record<string, string>, object | undefined, RegExp]>([
    [
      'users log in at a page of the caller',
      { GATEPASS_USER_VERIFIER: 'https://app.example.com/verify' },
      undefined,
      /Users of this installation log in/,
    ],
    [
      'the provider has no codes',
      {},
      {
        authorize_request: { endpoint: 'https://p.example/a' },
        token_request: { endpoint: 'https://p.example/t' },
      },
      /no codes that are entered on another device/,
    ],
  ])('%s: the command names the link', async (_, environment, other, sentence) => {
    const server = await startFakeDeviceServer()
    await using world = await startWorld(
      other === undefined ? server.oauth2() : { client_id: 'c', client_secret: 's', ...other },
      environment,
    )
    const { code, stderr } = await world.connect('', '--device').ended
    expect(stderr).toMatch(sentence)
    expect(stderr).toContain(`${world.gatepass.url}/connect/`)
    expect(code).toBe(2)
    expect(server.codes).toEqual([])
    await server.close()
  })

  test('without the option, the link is shown as for other providers', async () => {
    const server = await startFakeDeviceServer()
    await using world = await startWorld(server.oauth2())
    const command = world.connect('')
    await command.prints(/Open this link and approve:\s+\S+\/connect\//)
    await command.stop()
    expect(server.codes).toEqual([])
    await server.close()
  })
})
