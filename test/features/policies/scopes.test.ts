import { expect, test } from 'vitest'
import { type Scene, startScene } from '../../flows/fixtures.ts'

// Rules by scopes, where a server says otherwise than others which scopes it granted.

async function tokenFor(scene: Scene): Promise<string> {
  const { items } = (await scene.call('GET', '/v1/connections?user_id=u1')).body
  const { status, body } = await scene.call('POST', `/v1/connections/${items[0].id}/token`)
  return status === 200 ? 'released' : body.name
}

const deny = (scene: Scene, scopes: readonly string[]) =>
  scene.call('POST', '/v1/admin/policies', { id: `no-${scopes[0]}`, effect: 'deny', match: { scopes } })

test('a rule by scopes judges those that were asked for, where the token response names none', async () => {
  await using scene = await startScene({ as: { tokenFormat: 'no-scope' } })
  const { browser, callback } = await scene.approve({ scopes: ['read', 'write'] })
  callback.searchParams.set('scope', 'read admin')
  await browser.get(callback.href)
  expect((await deny(scene, ['write'])).status).toBe(201)
  expect(await tokenFor(scene)).toBe('denied_by_policy')
})

test('a server that lists scopes by other names does not pass a rule that denies a scope under one of its names', async () => {
  await using scene = await startScene({
    as: { consent: 'partial', grantedScopes: ['repo'] },
    oauth2: {
      scope_implies: { repo: ['public_repo', 'status'], status: ['deep'] },
      scope_aliases: { everything: 'repo' },
    },
  })
  await scene.connect({ scopes: ['repo'] })
  for (const scope of ['public_repo', 'deep', 'everything', 'repo']) {
    expect((await deny(scene, [scope])).status).toBe(201)
    expect([scope, await tokenFor(scene)]).toEqual([scope, 'denied_by_policy'])
    await scene.call('DELETE', `/v1/admin/policies/no-${scope}`)
  }
  expect(await tokenFor(scene)).toBe('released')
  // what the entry says includes it opens nothing: a rule that allows vouches for what the server has listed
  const allow = { id: 'allow', effect: 'allow', match: { scopes: ['public_repo'] } }
  expect((await scene.call('POST', '/v1/admin/policies', allow)).status).toBe(201)
  expect(await tokenFor(scene)).toBe('denied_by_policy')
})
