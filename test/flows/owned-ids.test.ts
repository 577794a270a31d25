import { expect, test } from 'vitest'
import {
  newOwnedId,
  ownedTokenHash,
  ownerBits,
  ownerBitsOf,
  ownerBitsOfHash,
  randomToken,
  sha256,
} from '../../src/domain/ids.ts'
import { approve, startWorld } from '../http/world.ts'
import { startScene } from './fixtures.ts'

// Ids of a user's rows carry bits of a hash of project and user, for databases that are partitioned by them.

test('of authorizations and connections are alike in their last bits for one user of a project', async () => {
  await using world = await startWorld()
  const idsOf = async (user: string) => {
    const need = { auth_requirement: { id: 'demo', oauth2: { scopes: ['read'] } }, user_id: user }
    const begun = (await world.call('POST', '/v1/auth/authorize', need)).body
    await approve(begun.url)
    const { items } = (await world.call('GET', `/v1/connections?user_id=${user}`)).body
    return [begun.id, items[0].id]
  }
  const project = await world.gatepass.broker.store.projects.ensure('default', 0)
  for (const user of ['ada', 'grace']) {
    const bits = ownerBits(project.id, user)
    expect((await idsOf(user)).map(ownerBitsOf)).toEqual([bits, bits])
  }
})

test('are in `state` and the flow id too, and in what is stored of them', async () => {
  const verifier = 'https://app.example/verify'
  await using scene = await startScene({ gatepass: { environment: { GATEPASS_USER_VERIFIER: verifier } } })
  const { id, browser, callback } = await scene.approve()
  const page = await browser.get(callback)
  const flow = new URL(page.response.headers.get('location') ?? '').searchParams.get('flow_id')
  const { store } = scene.gatepass.broker
  const { id: projectId } = await store.projects.ensure('default', 0)
  for (const [token, find] of [
    [callback.searchParams.get('state'), store.authorizations.findByState],
    [flow, store.authorizations.findByFlow],
  ] as const) {
    const hash = ownedTokenHash(String(token))
    expect(ownerBitsOfHash(hash)).toBe(ownerBits(projectId, 'u1'))
    expect(await find(hash)).toMatchObject({ id })
  }
})

test('are not taken from tokens that have none: those of an older release and forged ones', () => {
  for (const token of [randomToken(), `flow_${randomToken()}`, '', 'x'.repeat(47), `${randomToken()}7BC7`]) {
    expect(ownedTokenHash(token), token).toBe(sha256(token))
    expect(ownerBitsOfHash(ownedTokenHash(token))).toBeUndefined()
  }
})

test('are made as ever, since rows keep them: what is stored is found by the same bits in each release', () => {
  expect(ownerBits('proj_1', 'ada')).toBe('7bc7')
  expect(ownerBits('proj_1', 'grace')).not.toBe(ownerBits('proj_1', 'ada'))
})

test('are sorted by time among those without the bits, and differ for one owner', () => {
  const ids = Array.from({ length: 1_000 }, () => newOwnedId('conn', 'proj_1', 'ada'))
  expect(new Set(ids).size).toBe(1_000)
  expect(ids.toSorted()).toEqual(ids)
  const [id = ''] = ids
  expect(id).toMatch(/^conn_[0-9a-f]{12}8[0-9a-f]{3}[89ab][0-9a-f]{15}$/)
})

test('of an older release have no such bits', () => {
  expect(ownerBitsOf('conn_01a20392c7927f2aa6e8819b3a701c2e')).toBeUndefined()
})
