import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { checkMcpApprovals } from '../../src/diagnosis/check-mcp.ts'
import { migratedFile } from '../migrated-file.ts'
import { freePort } from '../ports.ts'
import { UserAgent } from '../user-agent.ts'
import { allow, codeIn, redeem, refresh, startAuthorizationServer } from './authorization-server-world.ts'

test('an approval that another verifier made possible permits nothing, and a new one does not revive it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'gatepass-'))
  const databasePath = join(folder, 'gatepass.db')
  await writeFile(databasePath, await migratedFile())
  const port = await freePort()
  const former = await startAuthorizationServer({ databasePath, port })
  const client = await former.connect()
  await former[Symbol.asyncDispose]()

  // another issuer, where `ada` may be another person
  await using world = await startAuthorizationServer({ databasePath, port })
  const { verify, resource, gatepass } = world
  expect(await verify(client.accessToken, resource)).toEqual({ outcome: 'refused', reason: 'other_verifier' })
  const { status, headers } = await gatepass.call(
    'POST',
    '/mcp',
    {},
    {
      key: null,
      headers: { authorization: `Bearer ${client.accessToken}` },
    },
  )
  expect([status, headers.get('www-authenticate')]).toEqual([
    401,
    expect.stringContaining('resource_metadata'),
  ])
  expect(await world.token(refresh(client))).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })

  const { broker, config } = gatepass
  const [found] = await checkMcpApprovals({ broker, config })
  expect(found?.message).toContain('Test client of ada')
  const { body } = await gatepass.call('GET', '/v1/admin/diagnosis')
  expect(JSON.stringify(body)).toContain('Test client of ada')

  const request = world.request(client.clientId)
  const browser = new UserAgent()
  const listed = async () => {
    const { items } = (await gatepass.call('GET', '/v1/admin/mcp_clients')).body
    const pages = ['/me', '/me/clients'].map((path) => new UserAgent().follow(`${gatepass.url}${path}`))
    return { items, pages: (await Promise.all(pages)).map(({ body: text }) => text) }
  }
  const before = await listed()
  expect(before.items).toMatchObject([{ client_name: 'Test client', has_access: false }])
  for (const text of before.pages) {
    expect(text).toContain('It has no access until you allow it again')
    expect(text).not.toContain('It can see and use your tools')
  }
  const page = await browser.follow(request.url)
  expect(page.body).toContain('Test client')
  const { body: tokens } = await world.token(
    redeem(client.clientId, request, codeIn(await allow(browser, request))),
  )
  expect(await verify(tokens.access_token, resource)).toMatchObject({ outcome: 'valid' })
  const after = await listed()
  expect(after.items).toMatchObject([{ client_name: 'Test client', has_access: true }])
  for (const text of after.pages) expect(text).toContain('It can see and use your tools')
  expect(await verify(client.accessToken, resource)).toMatchObject({ outcome: 'refused' })
  expect((await world.token(refresh(client))).status).toBe(400)
  expect(await checkMcpApprovals({ broker, config })).toEqual([])
  expect(
    (await world.token(refresh({ clientId: client.clientId, refreshToken: tokens.refresh_token }))).status,
  ).toBe(200)
  await rm(folder, { recursive: true })
})
