import { describe, expect, test } from 'vitest'
import { isFresh } from '../../src/domain/connection.ts'
import { startGatepass } from '../gatepass.ts'
import { authorize, startScene } from './fixtures.ts'
import { asked, connection, LIFE, row, token } from './refresh-fixtures.ts'

describe('R10: a clock that was set', () => {
  test.each([
    ['back by an hour', -3600],
    ['back by ten minutes', -600],
    ['back by two minutes', -120],
  ])('%s: the end of the token is not believed, and it is refreshed once', async (_, seconds) => {
    await using scene = await startScene()
    const old = (await scene.connect()).body.context.token
    scene.clock.advance(seconds)
    const fresh = await token(scene)
    expect(fresh).not.toBe(old)
    expect(await token(scene)).toBe(fresh)
    expect(asked(scene)).toBe(1)
  })

  test('back by less than the margin: that is what the margin is for', async () => {
    await using scene = await startScene()
    const old = (await scene.connect()).body.context.token
    scene.clock.advance(-50)
    expect(await token(scene)).toBe(old)
    scene.clock.advance(LIFE - 60 + 50)
    expect(await token(scene)).not.toBe(old)
  })

  test('back, while the provider is down: the token there is is given, and it is not asked again at once', async () => {
    await using scene = await startScene({ as: { refresh: 'html-500' } })
    const old = (await scene.connect()).body.context.token
    scene.clock.advance(-3600)
    for (let i = 0; i < 5; i++) expect(await token(scene)).toBe(old)
    expect(asked(scene)).toBe(1)
    expect(await connection(scene)).toMatchObject({ status: 'active' })
  })

  test('forward by an hour: it is refreshed once', async () => {
    await using scene = await startScene()
    await scene.connect()
    scene.clock.advance(LIFE)
    await token(scene)
    await token(scene)
    expect(asked(scene)).toBe(1)
  })

  test('differently on two nodes (10 min): neither gives a token that has run out, and none is lost', async () => {
    await using scene = await startScene({ as: { refresh: 'rotate-strict' } })
    const ahead = () => scene.clock() + 600
    await using second = await startGatepass({ now: ahead, databasePath: scene.gatepass.databasePath })
    await scene.connect()
    for (let round = 0; round < 6; round++) {
      scene.clock.advance(LIFE / 3)
      for (const one of round % 2 === 0 ? [scene.gatepass, second] : [second, scene.gatepass]) {
        const { body } = await authorize(one)
        expect(scene.as.isLive(body.context.token)).toBe(true)
      }
    }
    expect(scene.as.familyRevoked).toBe(false)
    expect(asked(scene)).toBeLessThan(12)
  })

  test.each([
    [3600, 60],
    [600, 60],
    [300, 30],
    [30, 3],
    [1, 0.1],
  ])('a life of %i s has a margin of %f s', (life, margin) => {
    const one = { receivedAt: 1000, expiresAt: 1000 + life }
    expect(isFresh(one, 1000 + life - margin - 0.01)).toBe(true)
    expect(isFresh(one, 1000 + life - margin)).toBe(false)
    expect(isFresh(one, 1000 - margin)).toBe(true)
    expect(isFresh(one, 1000 - margin - 0.01)).toBe(false)
  })
})

describe('R21: an expiry', () => {
  const IN_2039 = 2_180_000_000

  test.each([
    ['past 2038', IN_2039],
    ['on a leap day', Date.UTC(2028, 1, 29, 23, 30) / 1000],
    ['over a change of summer time', Date.UTC(2027, 2, 28, 0, 30) / 1000],
  ])('%s is the moment it says', async (_, moment) => {
    await using scene = await startScene()
    scene.clock.advance(moment - scene.clock())
    const old = (await scene.connect()).body.context.token
    const { expires_at } = await connection(scene)
    expect(Date.parse(expires_at) / 1000).toBe(moment + LIFE)
    scene.clock.advance(LIFE - 61)
    expect(await token(scene)).toBe(old)
    scene.clock.advance(1)
    expect(await token(scene)).not.toBe(old)
    expect((await row(scene)).expiresAt).toBe(moment + LIFE - 60 + LIFE)
  })

  test.each([
    ['ten years', 10 * 365 * 86_400, true],
    ['longer than a timer can be set for', 2 ** 31, false],
    ['longer than a date can be', 1e300, false],
  ])('of %s is no storm and no crash', async (_, accessTokenLifetime, isKnown) => {
    await using scene = await startScene({ as: { accessTokenLifetime } })
    const old = (await scene.connect()).body.context.token
    expect('expires_at' in (await connection(scene))).toBe(isKnown)
    scene.clock.advance(86_400)
    expect(await token(scene)).toBe(old)
    expect(asked(scene)).toBe(0)
  })

  test('of a second is refreshed each time, by one request each', async () => {
    await using scene = await startScene({ as: { accessTokenLifetime: 1, refresh: 'rotate-strict' } })
    await scene.connect()
    for (let i = 1; i <= 5; i++) {
      scene.clock.advance(2)
      const answers = await Promise.all(Array.from({ length: 10 }, () => scene.authorize()))
      expect(new Set(answers.map(({ body }) => body.context.token)).size).toBe(1)
      expect(asked(scene)).toBe(i)
    }
    expect(scene.as.familyRevoked).toBe(false)
  })
})
