import { BrokerError } from '../../domain/errors.ts'
import type { Worker } from '../../domain/worker.ts'

/**
 * How an OXP server authenticates its caller: not at all, by the header `OXP-API-Key`, or by a JWT as bearer token
 * (HS256).
 */
const OXP_AUTHENTICATIONS = ['none', 'api_key', 'jwt'] as const
export type OxpAuthentication = (typeof OXP_AUTHENTICATIONS)[number]

/** The settings of an OXP worker; its secret is the API key or the JWT's key. */
export interface OxpSettings {
  readonly auth: OxpAuthentication
  /** The JWT's `aud`, if the server checks one. */
  readonly audience?: string | undefined
  /** Whether a call is the member `request` of the body or the whole body. The documents of OXP 1.0 describe both. */
  readonly envelope: 'request' | 'none'
}

export function oxpSettings({ settings }: Pick<Worker, 'settings'>): OxpSettings {
  const { auth, audience, envelope } = settings
  return {
    auth: OXP_AUTHENTICATIONS.find((known) => known === auth) ?? 'none',
    ...(typeof audience === 'string' && { audience }),
    envelope: envelope === 'none' ? 'none' : 'request',
  }
}

export const AUDIENCE_ALONE = 'an `audience` needs a `jwt_secret`'

/** What an operator gives of an OXP worker. `null` removes it. */
interface GivenSettings {
  readonly apiKey: string | null | undefined
  readonly jwtSecret: string | null | undefined
  readonly audience: string | null | undefined
}

export function newOxpSettings({
  envelope,
  ...given
}: GivenSettings & Pick<OxpSettings, 'envelope'>): StoredSettings {
  return toStored(authOf(given), given.audience ?? undefined, envelope)
}

/** The changed settings, and the secret if it changes. Throws `invalid_request` for an audience without a JWT. */
export function changedOxpSettings(
  before: OxpSettings,
  {
    envelope = before.envelope,
    ...given
  }: GivenSettings & { readonly envelope: OxpSettings['envelope'] | undefined },
): { readonly settings: StoredSettings; readonly secret?: string } {
  const { apiKey, jwtSecret, audience } = given
  const isCleared =
    (apiKey === null && before.auth === 'api_key') || (jwtSecret === null && before.auth === 'jwt')
  const secret = apiKey ?? jwtSecret ?? (isCleared ? '' : undefined)
  const auth = secret === undefined ? before.auth : authOf(given)
  if (audience != null && auth !== 'jwt') throw new BrokerError('invalid_request', `oxp: ${AUDIENCE_ALONE}.`)
  return {
    settings: toStored(auth, audience === undefined ? before.audience : (audience ?? undefined), envelope),
    ...(secret !== undefined && { secret }),
  }
}

type StoredSettings = Readonly<Record<string, unknown>>

function authOf({ apiKey, jwtSecret }: GivenSettings): OxpAuthentication {
  if (apiKey != null) return 'api_key'
  return jwtSecret == null ? 'none' : 'jwt'
}

/** Only a JWT has an audience. */
function toStored(
  auth: OxpAuthentication,
  audience: string | undefined,
  envelope: OxpSettings['envelope'],
): StoredSettings {
  return { auth, envelope, ...(auth === 'jwt' && audience !== undefined && { audience }) }
}
