import type { Verifier } from '../broker.ts'
import { isConfidential } from '../domain/confidential-url.ts'
import { parseIssuer, readLoginScopes } from './issuer.ts'
import type { AddFault, ReadSetting } from './read.ts'

/** Reads who verifies users: a page of the caller, an OpenID provider, or only the binding to the browser. */
export function readVerifier(setting: ReadSetting, development: boolean, addFault: AddFault): Verifier {
  const open: Verifier = { kind: 'open' }
  const text = setting('USER_VERIFIER')
  if (text === undefined) {
    if (!development)
      addFault(
        'USER_VERIFIER',
        "is missing: the URL of your application's page that confirms users, `oidc:<issuer>` to let users log in there, or `open` to rely on the binding to the browser alone.",
      )
    return open
  }
  if (text === 'open') return open
  if (text.startsWith('oidc:'))
    return readOidcVerifier(text.slice('oidc:'.length), setting, development, addFault)
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !isConfidential(url, development)) {
    addFault(
      'USER_VERIFIER',
      'must be `open`, `oidc:<issuer>`, or an https URL of your application (http for a loopback host).',
    )
    return open
  }
  if (url.username !== '' || url.password !== '') {
    addFault('USER_VERIFIER', 'must not contain credentials: every browser that comes back is sent there.')
    return open
  }
  if (url.search !== '' || url.hash !== '') {
    addFault(
      'USER_VERIFIER',
      'must not have a query or a fragment: the page is visited with flow_id as its only parameter.',
    )
    return open
  }
  return { kind: 'caller', url }
}

function readOidcVerifier(
  issuer: string,
  setting: ReadSetting,
  development: boolean,
  addFault: AddFault,
): Verifier {
  if (parseIssuer(issuer, development) === undefined)
    addFault(
      'USER_VERIFIER',
      'must have an https URL without credentials, query, or fragment after `oidc:`, exactly as the issuer calls itself, such as oidc:https://accounts.google.com.',
    )
  const clientId = setting('OIDC_CLIENT_ID')
  const clientSecret = setting('OIDC_CLIENT_SECRET')
  const claim = setting('OIDC_USER_CLAIM') ?? 'sub'
  if (clientId === undefined)
    addFault(
      'OIDC_CLIENT_ID',
      'is missing: the client id that the issuer of GATEPASS_USER_VERIFIER gave this Gatepass, registered with the redirect URI <public URL>/login/callback.',
    )
  if (!/^[\x21-\x7e]{1,200}$/.test(claim))
    addFault('OIDC_USER_CLAIM', 'must be the name of one claim, such as `sub`.')
  const needsEmail = claim === 'email'
  const scopes = readLoginScopes(setting('OIDC_SCOPES'), 'OIDC_SCOPES', { needsEmail }, addFault)
  return {
    kind: 'oidc',
    issuer,
    client: { clientId: clientId ?? '', ...(clientSecret !== undefined && { clientSecret }) },
    scopes,
    claim,
  }
}
