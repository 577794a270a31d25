import { ContextRequiredError } from '../../sdk/tools/errors.ts'
import { scrub } from '../scrub/scrub.ts'

const MAX_LENGTH = 2_048

/**
 * Reads the link of a tool's URL elicitation. Gatepass never opens it. Throws `ContextRequiredError` for a link that is
 * not https, that holds a secret, or that leads to this Gatepass, at its public URL or at a project's domain: with such
 * a link a tool could send its user to approve something else.
 */
export function readLink(
  text: string,
  {
    publicOrigin,
    isOwnDomain,
    secrets,
  }: {
    readonly publicOrigin: string
    readonly isOwnDomain: (hostName: string) => boolean
    readonly secrets: readonly string[]
  },
): URL {
  const url = text.length > MAX_LENGTH ? null : URL.parse(text)
  if (url === null || url.protocol !== 'https:' || url.username !== '' || url.password !== '')
    throw refusal(`is not an https URL of at most ${MAX_LENGTH} characters without a user name and password`)
  if (rootless(url.host) === new URL(publicOrigin).host || isOwnDomain(rootless(url.hostname)))
    throw refusal('leads to Gatepass itself')
  if (scrub(url.href, secrets) !== url.href || scrub(text, secrets) !== text)
    throw refusal('holds a token or a secret')
  return url
}

/** `example.com.` and `example.com` are the same host (RFC 1034 section 3.1). */
function rootless(host: string): string {
  return host.replace(/\.+(?=:|$)/, '')
}

function refusal(reason: string): ContextRequiredError {
  return new ContextRequiredError(
    `The tool asks its user to open a link that is not passed on, because it ${reason}.`,
  )
}
