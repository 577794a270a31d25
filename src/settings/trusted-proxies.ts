import { isIP } from 'node:net'
import { type AddFault, splitList } from './read.ts'

/**
 * Reads the addresses and networks (CIDR) of the reverse proxies whose `X-Forwarded-For` is trusted. A network of all
 * addresses is refused: every client could then choose the address by which its requests are limited.
 */
export function readTrustedProxies(text: string | undefined, addFault: AddFault): readonly string[] {
  const items = splitList(text)
  for (const item of items) {
    const [address = '', prefix, ...rest] = item.split('/')
    const bits = isIP(address) === 4 ? 32 : 128
    const isRange = prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= bits)
    if (isIP(address) === 0 || !isRange || rest.length > 0)
      addFault(
        'TRUSTED_PROXIES',
        `has "${item}", which is neither an address nor a network such as 10.0.0.0/8.`,
      )
    else if (Number(prefix ?? bits) === 0)
      addFault('TRUSTED_PROXIES', `has "${item}", which is every address: name the proxies alone.`)
  }
  return items
}
