import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { issueApiKey, type NewApiKey } from '../../src/domain/api-key.ts'
import { createCharge, createCountGuess } from '../../src/http/endpoint/rate-limit.ts'
import { type Gatepass, startGatepass, testClock } from '../gatepass.ts'

let gatepass: Gatepass
const clock = testClock()

beforeAll(async () => {
  gatepass = await startGatepass({ now: clock })
})
afterAll(() => gatepass.close())

async function addKey(of: Partial<NewApiKey> = {}) {
  const { store, now } = gatepass.broker
  const { id: projectId } = await store.projects.ensure('default', now())
  const issued = issueApiKey({ projectId, name: 'test', role: 'caller', createdAt: now(), ...of })
  await store.apiKeys.add(issued.record)
  return issued
}

const ask = (key: string, path = '/v1/tools') => gatepass.call('GET', path, undefined, { key })

describe('threat 29: API keys', () => {
  test('have 256 random bits, and only their SHA-256 is stored', async () => {
    const { key, record } = await addKey()
    expect(key).toMatch(/^gp_[\w-]{43}$/)
    expect(JSON.stringify(record)).not.toContain(key.slice(3))
    expect(Buffer.from(record.hash, 'base64url')).toHaveLength(32)
    const { key: another } = await addKey()
    expect(another).not.toBe(key)
  })

  test('that have expired are refused with that reason', async () => {
    const { key } = await addKey({ expiresAt: clock() + 60 })
    expect((await ask(key)).status).toBe(200)
    clock.advance(60)
    expect(await ask(key)).toMatchObject({
      status: 401,
      body: { name: 'invalid_authorization', message: expect.stringContaining('expired') },
    })
  })

  test('are both valid during a rotation, and the old one ends with its grace period', async () => {
    const { key: old, record } = await addKey()
    const { key: fresh, record: rotatedApiKey } = issueApiKey({ ...record, createdAt: clock() })
    const { apiKeys } = gatepass.broker.store
    expect(await apiKeys.rotate(record, clock() + 3600, rotatedApiKey)).toBe(true)
    expect([(await ask(old)).status, (await ask(fresh)).status]).toEqual([200, 200])
    clock.advance(3600)
    expect([(await ask(old)).status, (await ask(fresh)).status]).toEqual([401, 200])
  })

  test('keep when they were last used', async () => {
    const { key, record } = await addKey()
    await ask(key)
    await gatepass.broker.uses.flush()
    const found = (await gatepass.broker.store.apiKeys.list(record.projectId)).find(
      ({ id }) => id === record.id,
    )
    expect(found?.lastUsedAt).toBe(clock())
  })

  test('of the role readonly begin no authorization, run no tool and get no token', async () => {
    const { key } = await addKey({ role: 'readonly' })
    const tries = [
      ['POST', '/v1/auth/authorize'],
      ['GET', '/v1/auth/status?id=x'],
      ['GET', '/v1/auth/x/events'],
      ['POST', '/v1/auth/confirm_user'],
      ['POST', '/v1/tools/authorize'],
      ['POST', '/v1/tools/execute'],
      ['POST', '/v1/connections/x/token'],
    ] as const
    for (const [method, path] of tries) {
      const body = method === 'POST' ? {} : undefined
      expect(await gatepass.call(method, path, body, { key }), path).toMatchObject({
        status: 403,
        body: { name: 'insufficient_role' },
      })
    }
  })
})

describe('the rate of a key', () => {
  test('is limited by the rate limit of the key, and a refusal says when to try again', async () => {
    const { key } = await addKey({ rateLimit: 2 })
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(key)))
    const refused = answers.filter(({ status }) => status === 429)
    expect(refused.length).toBeGreaterThan(0)
    for (const { headers, body } of refused) {
      expect(body).toEqual({ name: 'rate_limited', message: expect.stringContaining('2 requests a second') })
      expect(headers.get('retry-after')).toBe('1')
    }
    const { key: another } = await addKey()
    expect((await ask(another)).status).toBe(200)
  })

  test('is limited by the setting when the key has no limit of its own; 0 means no limit', async () => {
    await using limited = await startGatepass({ environment: { GATEPASS_RATE_LIMIT: '3' } })
    const { store, now } = limited.broker
    const { id: projectId } = await store.projects.ensure('default', now())
    const free = issueApiKey({ projectId, name: '', role: 'caller', createdAt: now(), rateLimit: 0 })
    await store.apiKeys.add(free.record)
    const many = async (key: string) => {
      const all = Array.from({ length: 40 }, () => limited.call('GET', '/v1/tools', undefined, { key }))
      return (await Promise.all(all)).filter(({ status }) => status === 429).length
    }
    expect(await many(limited.apiKey)).toBeGreaterThan(0)
    expect(await many(free.key)).toBe(0)
  })

  test('is refilled evenly, up to one second of requests', () => {
    let now = 0
    const charge = createCharge(2, () => now)
    const { record } = issueApiKey({ projectId: '', name: '', role: 'caller', createdAt: 0 })
    const takes = (count: number) => {
      let taken = 0
      for (let i = 0; i < count; i++)
        try {
          charge(record)
          taken++
        } catch {}
      return taken
    }
    expect(takes(10)).toBe(2)
    now += 499
    expect(takes(10)).toBe(0)
    now += 1
    expect(takes(10)).toBe(1)
    now += 3_600_000
    expect(takes(10)).toBe(2)
  })
})

describe('threat 29: guessing keys', () => {
  test('is refused beyond a hundred guesses a minute; a valid key from the same address is not', async () => {
    await using guessed = await startGatepass()
    const guess = (i: number) => guessed.call('GET', '/v1/tools', undefined, { key: `gp_guess_${i}` })
    const answers = await Promise.all(Array.from({ length: 200 }, (_, i) => guess(i)))
    const statuses = answers.map(({ status }) => status)
    expect(statuses.filter((status) => status === 401).length).toBeGreaterThanOrEqual(100)
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(20)
    // one more guess is allowed every 0.6 s
    const later = await Promise.all(Array.from({ length: 20 }, (_, i) => guess(1000 + i)))
    const last = later.find(({ status }) => status === 429)
    expect(last).toMatchObject({
      status: 429,
      body: { name: 'rate_limited', message: expect.stringContaining('unknown credentials') },
    })
    expect(Number(last?.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await guessed.call('GET', '/v1/tools')).status).toBe(200)
    expect((await guessed.call('GET', '/v1/tools', undefined, { key: null })).status).toBe(401)
  })

  test('is counted by IPv4 address and by IPv6 /64 network', () => {
    const countGuess = createCountGuess(() => 0)
    for (let i = 0; i < 100; i++) countGuess(`2001:db8:1:2::${i.toString(16)}`)
    expect(() => countGuess('2001:db8:1:2:ffff::1')).toThrow('Too many')
    expect(() => countGuess('2001:db8:1:3::1')).not.toThrow()
    expect(() => countGuess('192.0.2.1')).not.toThrow()
  })
})
