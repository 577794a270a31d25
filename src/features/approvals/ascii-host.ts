import { domainToASCII } from 'node:url'

/** The host of a URL or an address as DNS has it, where that differs from what is drawn. */
export function asciiHost(value: string): string | undefined {
  const [, host = URL.parse(value.trim())?.host] = /^[^\s@]+@([^\s@>,;]+)$/.exec(value.trim()) ?? []
  const ascii = host && domainToASCII(host)
  const isDrawn = ascii === undefined || ascii === '' || value.toLowerCase().includes(ascii)
  return isDrawn ? undefined : ascii
}
