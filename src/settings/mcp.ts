import type { McpIssuer, McpSettings, Verifier } from '../broker.ts'
import { isLoopbackHost } from '../domain/confidential-url.ts'
import { DEFAULT_PROJECT } from '../domain/project.ts'
import { parseIssuer } from './issuer.ts'
import { type AddFault, type ReadSetting, splitList } from './read.ts'

interface OtherSettings {
  readonly development: boolean
  readonly host: string
  readonly publicUrl: URL
  readonly verifier: Verifier
}

/** Reads who may call `/mcp`, and for which users. */
export function readMcp(
  setting: ReadSetting,
  others: OtherSettings,
  addFault: AddFault,
): Omit<McpSettings, 'registration' | 'clientDocuments' | 'clientHosts'> {
  const issuer = readIssuer(setting, others, addFault)
  return {
    project: setting('MCP_PROJECT') ?? DEFAULT_PROJECT,
    origins: readOrigins(setting('MCP_ORIGINS'), addFault),
    isLoopbackOnly: isLoopbackHost(others.host === '::1' ? '[::1]' : others.host),
    ...(issuer !== undefined && { issuer }),
  }
}

function readIssuer(
  setting: ReadSetting,
  { development, publicUrl, verifier }: OtherSettings,
  addFault: AddFault,
): McpIssuer | undefined {
  const text = setting('MCP_ISSUER')
  const audience = setting('MCP_AUDIENCE')
  const claimText = setting('MCP_USER_CLAIM')
  if (text === undefined) {
    const without = 'belongs to GATEPASS_MCP_ISSUER, which is not set.'
    if (audience !== undefined) addFault('MCP_AUDIENCE', without)
    if (claimText !== undefined) addFault('MCP_USER_CLAIM', without)
    return undefined
  }
  const url = parseIssuer(text, development)
  if (url === undefined)
    addFault(
      'MCP_ISSUER',
      'must be an https URL without credentials, query, or fragment, exactly as the issuer calls itself, such as https://login.example.com.',
    )
  else if (url.origin === publicUrl.origin)
    addFault('MCP_ISSUER', 'must not be this Gatepass, which always takes the tokens that it issues itself.')
  if (verifier.kind === 'open' && !development)
    addFault(
      'MCP_ISSUER',
      'needs a verifier: /mcp is not served with GATEPASS_USER_VERIFIER=open, because nothing would check that the user who approves is the user of the token.',
    )
  if (claimText !== undefined && !/^[\x21-\x7e]{1,200}$/.test(claimText))
    addFault('MCP_USER_CLAIM', 'must be the name of one claim, such as `sub`.')
  // the issuer also verifies the users, so the same claim identifies them
  const isVerifier = verifier.kind === 'oidc' && verifier.issuer === text
  if (claimText === undefined && !isVerifier && (verifier.kind !== 'open' || development))
    addFault(
      'MCP_USER_CLAIM',
      'is missing: users are not verified by the issuer of GATEPASS_MCP_ISSUER (GATEPASS_USER_VERIFIER), so name the claim of its tokens that holds the same user id as the verifier confirms. With another meaning, one person would use the connections of another.',
    )
  return {
    issuer: text,
    ...(audience !== undefined && { audience }),
    userClaim: claimText ?? (isVerifier ? verifier.claim : 'sub'),
  }
}

/**
 * Origins as browsers send them: with the host in lower case, without the default port. Those of browser extensions
 * have their own schemes and are taken unchanged.
 */
function readOrigins(text: string | undefined, addFault: AddFault): ReadonlySet<string> {
  const origins = splitList(text).map((origin) => {
    const isWeb = /^https?:/.test(origin)
    const isOrigin = /^[a-z][a-z0-9+.-]*:\/\/[^/?#\s@]+$/.test(origin) && (!isWeb || URL.canParse(origin))
    if (!isOrigin)
      addFault('MCP_ORIGINS', `has "${origin}", which is not an origin such as https://app.example.com.`)
    return isOrigin && isWeb ? new URL(origin).origin : origin
  })
  return new Set(origins)
}
