/** Whether TLS or the loopback interface protects requests to the URL. Development allows plain HTTP everywhere. */
export function isConfidential(url: URL, development: boolean): boolean {
  const plain = development || isLoopbackHost(url.hostname)
  return url.protocol === 'https:' || (url.protocol === 'http:' && plain)
}

/** The hosts that browsers trust without TLS (Secure Contexts section 3.1), as `URL` spells them. */
export function isLoopbackHost(hostname: string): boolean {
  return /^(?:(?:.+\.)?localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname)
}
