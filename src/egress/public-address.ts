import { BlockList, isIP, isIPv6 } from 'node:net'

// Which hosts and addresses an outgoing request may reach. Addresses are judged in the form that the WHATWG URL parser
// or the resolver gave them, never in the form in which the caller wrote them.

/** Each address family has its own list, because Node's BlockList matches IPv4 addresses against IPv6 subnets too. */
const SPECIAL_IPV4 = blockList('ipv4', [
  '0.0.0.0/8', // this network
  '10.0.0.0/8', // private
  '100.64.0.0/10', // carrier-grade NAT; Alibaba's metadata service
  '127.0.0.0/8', // loopback
  '168.63.129.16/32', // Azure's host agent, reachable from inside only
  '169.254.0.0/16', // link-local; metadata services
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments
  '192.0.2.0/24', // documentation
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16', // private
  '198.18.0.0/15', // benchmarks
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, broadcast
])

/**
 * Only 2000::/3 is global unicast, so the first three rows cover loopback, mapped, NAT64, unique local, link-local,
 * site-local and multicast addresses.
 */
const SPECIAL_IPV6 = blockList('ipv6', [
  '::/3',
  '4000::/2',
  '8000::/1',
  '2001::/23', // Teredo, benchmarks, ORCHID
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4
  '3fff::/20', // documentation
])

/** Whether the address is public: an IP address without a zone that is in none of the special ranges. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address)
  if (family === 0 || address.includes('%')) return false
  return family === 4 ? !SPECIAL_IPV4.check(address, 'ipv4') : !SPECIAL_IPV6.check(address, 'ipv6')
}

/** One item of `GATEPASS_ALLOWED_HOSTS`. A `host` is compared with a URL's host, a `range` with the resolved address. */
export type AllowedHost =
  | { readonly kind: 'host'; readonly hostname: string; readonly port?: number }
  | {
      readonly kind: 'range'
      readonly family: 'ipv4' | 'ipv6'
      readonly network: string
      readonly prefix: number
    }

/** `host` (all its ports), `host:port`, `[v6]`, `[v6]:port`, a bare IPv6 address, or a CIDR; `undefined` for anything else. */
export function parseAllowedHost(text: string): AllowedHost | undefined {
  const range = /^([0-9a-f.:]+)\/(\d{1,3})$/i.exec(text)
  if (range) return parseRange(range[1] ?? '', Number(range[2]))
  const parts = /^(\[[^\]]+\]|[^:[\]/?#@\\\s]+)(?::(\d{1,5}))?$/.exec(isIPv6(text) ? `[${text}]` : text)
  if (!parts?.[1] || !URL.canParse(`http://${parts[1]}`)) return undefined
  const hostname = bareHostname(withBareHost(new URL(`http://${parts[1]}`)).hostname)
  const port = parts[2] === undefined ? undefined : Number(parts[2])
  if (!(isIPv6(hostname) || /^[a-z0-9_.-]+$/.test(hostname))) return undefined
  if (port !== undefined && (port < 1 || port > 65535)) return undefined
  return { kind: 'host', hostname, ...(port === undefined ? {} : { port }) }
}

function parseRange(network: string, prefix: number): AllowedHost | undefined {
  const family = isIP(network)
  if (family === 0 || prefix > (family === 4 ? 32 : 128)) return undefined
  return { kind: 'range', family: family === 4 ? 'ipv4' : 'ipv6', network, prefix }
}

/** The host name without the brackets of an IPv6 literal and without the trailing dots of an absolute name (`localhost.`). */
export function bareHostname(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '').replace(/\.+$/, '')
}

/**
 * The URL that is dialled: without the trailing dots of an absolute name. Assigning the shorter host makes
 * the URL parser read it again, so `0x7f.1..` becomes 127.0.0.1. A host that is invalid without its dot keeps the dot.
 */
export function withBareHost(url: URL): URL {
  if (!url.hostname.endsWith('.')) return url
  const bare = new URL(url)
  let before: string
  do {
    before = bare.hostname
    bare.hostname = before.replace(/\.+$/, '')
  } while (bare.hostname !== before)
  return bare
}

/** The target of a socket. The port is a string, empty for the scheme's default port. */
export interface Endpoint {
  readonly protocol: string
  readonly hostname: string
  readonly port: string
}

/** Decides which hosts and addresses outgoing requests may reach. */
export interface ReachRules {
  /** Judged before the name is resolved: a name that passes may still resolve to an address that is refused. */
  allowsUrl(url: URL): boolean
  /** Whether `GATEPASS_ALLOWED_HOSTS` names the host. If so, every address that the name resolves to may be dialled. */
  isNamed(endpoint: Endpoint): boolean
  /** `https:` may reach public and allowed addresses, `http:` only allowed ones. */
  allowsAddress(protocol: string, address: string): boolean
}

export function reachRules(allowed: readonly AllowedHost[]): ReachRules {
  const hosts = allowed.filter((entry) => entry.kind === 'host')
  const ranges = allowed.filter((entry) => entry.kind === 'range')
  const inRange = {
    ipv4: blockList('ipv4', ranges.filter((range) => range.family === 'ipv4').map(toCidr)),
    ipv6: blockList('ipv6', ranges.filter((range) => range.family === 'ipv6').map(toCidr)),
  }

  const rules: ReachRules = {
    allowsUrl(given) {
      const url = withBareHost(given)
      if ((url.protocol !== 'https:' && url.protocol !== 'http:') || url.username || url.password)
        return false
      if (url.hostname === '' || url.hostname.endsWith('.') || url.port === '0') return false
      const hostname = bareHostname(url.hostname)
      if (rules.isNamed(url)) return true
      if (isIP(hostname)) return rules.allowsAddress(url.protocol, hostname)
      if (ranges.length > 0) return true // the resolved address decides, for http too
      return url.protocol === 'https:' && !/(^|\.)localhost$/.test(hostname)
    },
    isNamed({ protocol, hostname, port }) {
      const bare = bareHostname(hostname)
      const number = Number(port || (protocol === 'https:' ? 443 : 80))
      return hosts.some((host) => host.hostname === bare && (host.port ?? number) === number)
    },
    allowsAddress(protocol, address) {
      const family = isIP(address) === 4 ? 'ipv4' : 'ipv6'
      if (isIP(address) && !address.includes('%') && inRange[family].check(address, family)) return true
      return protocol === 'https:' && isPublicAddress(address)
    },
  }
  return rules
}

function toCidr(range: { readonly network: string; readonly prefix: number }): string {
  return `${range.network}/${range.prefix}`
}

function blockList(family: 'ipv4' | 'ipv6', cidrs: readonly string[]): BlockList {
  const list = new BlockList()
  for (const cidr of cidrs) {
    const [network = '', prefix] = cidr.split('/')
    list.addSubnet(network, Number(prefix), family)
  }
  return list
}
