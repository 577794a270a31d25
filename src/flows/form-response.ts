import type { Broker } from '../broker.ts'
import { type Authorization, currentStep } from '../domain/authorization.ts'
import { ownedTokenHash } from '../domain/ids.ts'
import { factsOf } from '../providers/known-facts.ts'
import type { Provider } from '../providers/provider.ts'
import { ofStep } from '../store/protected-tables.ts'
import { carriedContext } from '../store/protection.ts'
import { only, withStandardState } from './authorization-response.ts'
import { openCarried } from './carried-seal.ts'
import { findProviderByUid } from './get-provider.ts'

// An authorization response as a form that the browser posts from the provider's site (OAuth 2.0 Form Post Response Mode;
// Apple). Such a request comes without this server's cookies, so the browser cannot be checked. The browser is redirected
// to the same address by GET, with its cookies, and carries the response sealed in the URL: the code is in no log and no
// history. The GET is then checked like every other response.

/** The parameter that has the sealed response. */
const CARRIED = 'form_response'
/** The longest response, as a query. Sealed it is a third longer, and Node accepts request heads of 16 KiB. */
const MOST_CHARACTERS = 6_000

interface CarriedResponse {
  readonly state: string
  readonly query: string
}

/**
 * The query for the redirect to the same address by GET. `undefined` when no live attempt has the form's `state`, its entry
 * does not request `response_mode=form_post`, or the form is too long.
 */
export async function carryFormResponse(
  broker: Broker,
  { providerUid, form: given }: { readonly providerUid: string; readonly form: URLSearchParams },
): Promise<URLSearchParams | undefined> {
  const form = await withStandardState(broker, { providerUid }, given)
  const state = only(form, 'state')
  if (state === undefined) return undefined
  const found = await broker.store.authorizations.findByState(ownedTokenHash(state))
  if (found === undefined || currentStep(found).providerUid !== providerUid) return undefined
  const entry = await findProviderByUid(broker, found.projectId, providerUid)
  if (entry === undefined || !asksForForm(entry.provider)) return undefined
  const query = used(entry.provider, form).toString()
  if (query.length > MOST_CHARACTERS) return undefined
  const carried: CarriedResponse = { state, query }
  return new URLSearchParams({
    state,
    [CARRIED]: broker.sealer.seal(JSON.stringify(carried), carriedContext('form_response', ofStep(found))),
  })
}

/** The response, opened if the browser carries it sealed in the URL. If it cannot be opened, only `state` remains. */
export function carriedResponse(
  { sealer }: Pick<Broker, 'sealer'>,
  authorization: Authorization,
  query: URLSearchParams,
): URLSearchParams {
  const sealed = only(query, CARRIED)
  if (sealed === undefined) return query
  const carried = openCarried<CarriedResponse>(
    sealer,
    sealed,
    carriedContext('form_response', ofStep(authorization)),
  )
  const state = query.get('state') ?? ''
  return carried?.state === state ? new URLSearchParams(carried.query) : new URLSearchParams({ state })
}

function asksForForm({ authorizationRequest }: Provider): boolean {
  return authorizationRequest?.params.response_mode === 'form_post'
}

/** Only the parameters of a response that Gatepass reads. An ID token beside the code, which may be long, is not read. */
function used(provider: Provider, form: URLSearchParams): URLSearchParams {
  const { codeParameter = 'code', keptValues = {} } = provider
  const { callbackMembers = {} } = factsOf(provider)
  const kept = Object.values(keptValues).flatMap(({ from, at }) =>
    from === 'authorization_response' ? [at] : [],
  )
  const names = new Set([
    'state',
    codeParameter,
    'iss',
    'error',
    'error_description',
    'scope',
    ...Object.keys(callbackMembers),
    ...kept,
  ])
  return new URLSearchParams([...form].filter(([name]) => names.has(name)))
}
