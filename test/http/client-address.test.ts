import type { Context } from 'hono'
import { describe, expect, test } from 'vitest'
import { createClientAddress } from '../../src/http/endpoint/client-address.ts'
import { startGatepass } from '../gatepass.ts'

const PROXIES = ['10.0.0.0/8', '192.0.2.7', 'fd00::/8']

function addressOf(remoteAddress: string, forwarded?: string, trustedProxies = PROXIES) {
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }
  return createClientAddress({ trustedProxies })({
    env: { incoming: { socket: { remoteAddress }, headers } },
  } as Context)
}

describe('the address that limits count by', () => {
  test.each<[string, string, string | undefined, string]>([
    ['a client', '203.0.113.1', undefined, '203.0.113.1'],
    ['a client that names another', '203.0.113.1', '198.51.100.9', '203.0.113.1'],
    ['a client of a proxy', '10.1.2.3', '203.0.113.1', '203.0.113.1'],
    ['a client of a proxy with an IPv6 address', 'fd00::2', '2001:db8::1', '2001:db8::1'],
    ['a client of a proxy that listens on both families', '::ffff:10.1.2.3', '203.0.113.1', '203.0.113.1'],
    ['a client of a proxy that names another', '10.1.2.3', '198.51.100.9, 203.0.113.1', '203.0.113.1'],
    ['a client of two proxies', '192.0.2.7', '198.51.100.9,203.0.113.1, 10.9.9.9', '203.0.113.1'],
    ['a neighbour of the proxy', '192.0.2.8', '203.0.113.1', '192.0.2.8'],
    ['a proxy itself', '10.1.2.3', undefined, '10.1.2.3'],
    ['a chain of proxies alone', '10.1.2.3', '10.3.3.3, 10.2.2.2', '10.3.3.3'],
    ['more proxies than are looked at', '10.1.2.3', `203.0.113.1${', 10.9.9.9'.repeat(40)}`, '10.9.9.9'],
    ['a proxy that names no address', '10.1.2.3', '203.0.113.1, unknown', '10.1.2.3'],
    ['a proxy with an empty header', '10.1.2.3', '', '10.1.2.3'],
  ])('of %s', (_, remote, forwarded, expected) => {
    expect(addressOf(remote, forwarded)).toBe(expected)
  })

  test('is that of the connection where no proxy is trusted', () => {
    expect(addressOf('10.1.2.3', '203.0.113.1', [])).toBe('10.1.2.3')
  })

  test('keeps the guesses of one client of a proxy from counting against the others', async () => {
    await using gatepass = await startGatepass({ environment: { GATEPASS_TRUSTED_PROXIES: '127.0.0.1' } })
    const guess = async (from: string) => {
      const headers = { 'x-forwarded-for': from }
      return (await gatepass.call('GET', '/v1/tools', undefined, { key: 'gp_guess', headers })).status
    }
    const guesses = await Promise.all(Array.from({ length: 120 }, () => guess('203.0.113.1')))
    expect(guesses).toContain(429)
    // several, because each second allows another one or two
    const further = Array.from({ length: 40 }, () => guess('198.51.100.9, 203.0.113.1'))
    expect(await Promise.all(further)).toContain(429)
    expect(await guess('203.0.113.2')).toBe(401)
  })
})
