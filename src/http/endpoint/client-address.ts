import type { IncomingMessage } from 'node:http'
import { BlockList, isIP } from 'node:net'
import type { Broker } from '../../broker.ts'
import { type Received, requestHeader } from './request-header.ts'

/**
 * Returns the client's IP address, by which requests are limited; `undefined` if the app is called without a server,
 * as in tests.
 */
export type ClientAddress = (c: Received) => string | undefined

/**
 * How many addresses of `X-Forwarded-For` are read, from its end. A header of 16 KiB can list thousands, each of which is
 * compared with the trusted proxies; real installations have a few proxies in a row.
 */
const MAX_HOPS = 32

/**
 * Takes the address of the TCP connection. If that is a proxy of `GATEPASS_TRUSTED_PROXIES`, takes the last address in
 * `X-Forwarded-For` that is not a trusted proxy. Each proxy appends the address of its client, so addresses further to
 * the left come from the client itself and may be forged.
 */
export function createClientAddress({
  trustedProxies,
}: Pick<Broker['settings'], 'trustedProxies'>): ClientAddress {
  const isProxy = matcherOf(trustedProxies)
  return (c) => {
    let address = socketOf(c)?.remoteAddress
    if (address === undefined || !isProxy(address)) return address
    const hops = requestHeader(c, 'x-forwarded-for')?.split(',') ?? []
    for (const hop of hops.slice(-MAX_HOPS).reverse()) {
      const next = hop.trim()
      if (isIP(next) === 0) break
      address = next
      if (!isProxy(address)) break
    }
    return address
  }
}

function socketOf(c: Received): IncomingMessage['socket'] | undefined {
  return (c.env?.incoming as IncomingMessage | undefined)?.socket
}

/** Each address family has its own list, because Node's BlockList matches IPv4 addresses against IPv6 subnets too. */
function matcherOf(ranges: readonly string[]): (address: string) => boolean {
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() }
  for (const range of ranges) {
    const [network = '', prefix] = range.split('/')
    const family = familyOf(network)
    lists[family].addSubnet(network, Number(prefix ?? (family === 'ipv4' ? 32 : 128)), family)
  }
  return (address) => {
    // a server that listens on :: sees IPv4 clients as ::ffff:192.0.2.1
    const plain = address.replace(/^::ffff:(?=\d+\.)/i, '')
    return isIP(plain) !== 0 && lists[familyOf(plain)].check(plain, familyOf(plain))
  }
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 4 ? 'ipv4' : 'ipv6'
}
