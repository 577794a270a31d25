import type { IncomingMessage } from 'node:http'
import { BlockList, isIP } from 'node:net'
import type { Context } from 'hono'
import type { Broker } from '../../broker.ts'
import { requestHeader } from './request-header.ts'

/** The address that limits count by. `undefined` where no server is in between, as in tests. */
export type ClientAddress = (c: Context) => string | undefined

/** More proxies than anybody has in a row: a header of 16 KiB has thousands, each of which would be compared. */
const MOST_HOPS = 32

/**
 * Returns the address of the TCP connection or, where that is a proxy of `GATEPASS_TRUSTED_PROXIES`, the last address of
 * `X-Forwarded-For` that is no such proxy: each proxy appends the address that it was reached from, and what is
 * before that was sent by the client, who may have made it up.
 */
export function createClientAddress({
  trustedProxies,
}: Pick<Broker['settings'], 'trustedProxies'>): ClientAddress {
  const isProxy = matcherOf(trustedProxies)
  return (c) => {
    let address = socketOf(c)?.remoteAddress
    if (address === undefined || !isProxy(address)) return address
    const hops = requestHeader(c, 'x-forwarded-for')?.split(',') ?? []
    for (const hop of hops.slice(-MOST_HOPS).reverse()) {
      const next = hop.trim()
      if (isIP(next) === 0) break
      address = next
      if (!isProxy(address)) break
    }
    return address
  }
}

function socketOf(c: Context): IncomingMessage['socket'] | undefined {
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
