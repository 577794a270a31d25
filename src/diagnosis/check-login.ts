import type { Config } from '../config.ts'
import { systemClock } from '../domain/clock.ts'
import { createOutgoing } from '../egress/outgoing.ts'
import { loginRedirectUri } from '../flows/identify-user.ts'
import { createDiscovery } from '../providers/discovery.ts'
import { ProviderRefusal } from '../providers/provider-refusal.ts'
import type { Check } from './check.ts'

/** Checks that the issuer at which users log in answers, and says which redirect URI to register there. */
export async function checkLogin({ verifier, publicUrl, allowedHosts }: Config): Promise<Check[]> {
  if (verifier.kind !== 'oidc') return []
  const name = 'login'
  const { issuer, claim, client } = verifier
  const where = `redirect URI ${loginRedirectUri(publicUrl)}`
  const register = `At ${issuer}, register that redirect URI for the client "${client.clientId}".`
  const outgoing = createOutgoing({ allowedHosts })
  try {
    const { jwks_uri: keys } = await createDiscovery(outgoing, systemClock)(issuer)
    if (keys === undefined)
      throw new ProviderRefusal(
        'provider_bad_response',
        `${issuer} names no keys for its ID tokens (jwks_uri).`,
      )
    const kind = client.clientSecret === undefined ? 'a public client' : 'a client with a secret'
    const message = `users log in at ${issuer}, which answers, as ${kind}; the claim "${claim}" must equal user_id; ${where}`
    return [{ name, status: 'ok', message }]
  } catch (error) {
    if (!(error instanceof ProviderRefusal)) throw error
    const fix = error.message.includes('GATEPASS_ALLOWED_HOSTS')
      ? `If ${issuer} is yours, list its host in GATEPASS_ALLOWED_HOSTS.`
      : `GATEPASS_USER_VERIFIER must name the issuer exactly as it calls itself.`
    return [{ name, status: 'failed', message: `${error.message} ${where}`, fix: `${fix} ${register}` }]
  } finally {
    await outgoing.close()
  }
}
