import { definitionsOnSite } from './definition-index.ts'
import { builtIn } from './registry.ts'

// A form that asks for the password of a service whose users can consent, such as one of Google, teaches people to give
// their passwords away.

/**
 * The service of the catalogue whose users consent at a site to which typed credentials would be sent. `addresses`: URLs and
 * hosts, which may name `{{fields}}`. `undefined`: none is known there.
 */
export function consentedServiceAt(addresses: readonly string[]): { id: string; name: string } | undefined {
  for (const address of addresses) {
    const site = siteOf(address)
    const [id] = site === undefined ? [] : definitionsOnSite(site)
    const known = id === undefined ? undefined : builtIn(id)
    if (known !== undefined) return { id: known.id, name: known.provider.displayName }
  }
  return undefined
}

/** The last two labels of the host, three where the second is as short as that of `co.uk`; `undefined` for another host. */
function siteOf(address: string): string | undefined {
  const host = /^(?:https?:\/\/)?([^/?#]+)/.exec(address)?.[1]?.replace(/:\d+$/, '') ?? ''
  const literal = host.slice(host.lastIndexOf('}') + 1).replace(/^[.*]+/, '')
  const labels = literal.toLowerCase().split('.')
  const isPublicEnd = (labels.at(-2)?.length ?? 0) <= 3 && labels.at(-1)?.length === 2
  const site = labels.slice(isPublicEnd ? -3 : -2)
  return /^[a-z0-9-]+(?:\.[a-z0-9-]+)+$/.test(site.join('.')) && /[a-z]/.test(site.at(-1) ?? '')
    ? site.join('.')
    : undefined
}
