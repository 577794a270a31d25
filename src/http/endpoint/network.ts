/** The network of one client: the IPv4 address, or the /64 of an IPv6 address, because one client usually has a whole /64. */
export function clientNetwork(address: string): string {
  return isIpv6(address) ? groupsOf(address).slice(0, 4).join(':') : address
}

/** The network of one site, such as a company or a customer of a hoster: the /24 of an IPv4 address, the /48 of an IPv6 one. */
export function siteNetwork(address: string): string {
  if (isIpv6(address)) return groupsOf(address).slice(0, 3).join(':')
  return address
    .replace(/^::ffff:/, '')
    .split('.')
    .slice(0, 3)
    .join('.')
}

function isIpv6(address: string): boolean {
  return address.includes(':') && !address.startsWith('::ffff:')
}

function groupsOf(address: string): readonly string[] {
  const [head = '', tail] = address.split('::', 2)
  const groups = head.split(':').filter(Boolean)
  const missing = tail === undefined ? 0 : 8 - groups.length - tail.split(':').filter(Boolean).length
  return [...groups, ...Array<string>(Math.max(missing, 0)).fill('0')]
}
