import type { AllowsHttp } from '../../egress/endpoint.ts'
import type { Provider } from '../provider.ts'
import { urlTemplatesOf, withVariables } from '../variables.ts'
import { checkClientKey, checkRequestObject } from './client-assertion.ts'
import { checkDevice } from './device-settings.ts'
import { checkDpop } from './dpop-settings.ts'
import { checkExchange } from './exchange-subject.ts'
import { checkGrantAssertion } from './grant-assertion.ts'
import { checkUserless, withoutCode } from './grant-settings.ts'
import { checkInstalled } from './installation-grant.ts'
import { checkChoice } from './kept-values.ts'
import { leaveToIssuer, withIssuerAsEndpoint } from './left-to-issuer.ts'
import { type Found, readMembers } from './member.ts'
import { OAUTH2_MEMBERS, type OAuth2Input } from './oauth2-settings.ts'
import type { KnownAt, OAuth2Context } from './requests.ts'
import { checkRefresh } from './token-settings.ts'
import { checkVariables, readVariables } from './url-variables.ts'

export interface ReadOptions {
  /** Plain-http endpoints that are allowed; none by default. */
  readonly allowsHttp?: AllowsHttp | undefined
  /** Finds the catalogue's provider with these endpoints; by default it finds none. */
  readonly knownAt?: KnownAt
  /** The provider is read for a catalogue, where variables need no values. */
  readonly isDefinition?: boolean
}

/**
 * Reads the provider that `sent` describes. Members that it leaves out are those of `start.base`, if there is one.
 * Throws `invalid_request` with the faults of all members.
 */
export function readProvider(
  displayName: string,
  sent: OAuth2Input,
  start: Pick<OAuth2Context, 'base' | 'blocksBefore'>,
  { allowsHttp = () => false, knownAt = () => undefined, isDefinition = false }: ReadOptions,
): Provider {
  const urls = [...urlsIn(sent), ...(start.base ? urlTemplatesOf(start.base).map(([, url]) => url) : [])]
  const variables = readVariables(sent.variables, start.base, { allowsHttp, isDefinition, urls })
  const base = start.base && withVariables(start.base, variables)
  const completed = base === undefined ? withIssuerAsEndpoint(sent) : sent
  const contextOf = (read: Found<Provider>): OAuth2Context => ({
    ...start,
    base,
    allowsHttp,
    knownAt,
    variables,
    read,
  })
  const read = readMembers(OAUTH2_MEMBERS, completed, contextOf)
  // OAUTH2_MEMBERS has all required members
  const provider = withoutCode({ displayName: base?.displayName ?? displayName, ...read } as Provider)
  checkVariables(provider)
  checkUserless(provider)
  checkExchange(provider)
  checkDevice(provider)
  checkClientKey(provider)
  checkGrantAssertion(provider)
  checkInstalled(provider, { allowsHttp })
  checkChoice(provider)
  checkRequestObject(provider)
  checkDpop(provider)
  checkRefresh(provider)
  const { authorizationRequest, tokenRequest } = provider
  const isOfCatalogue =
    authorizationRequest !== undefined &&
    tokenRequest !== undefined &&
    knownAt(authorizationRequest.endpoint, tokenRequest.endpoint) !== undefined
  return leaveToIssuer(provider, sent, base, { isOfCatalogue })
}

/** The URLs of the requests and of the API, as they were sent. */
function urlsIn({ api, ...members }: OAuth2Input): string[] {
  const requests: readonly unknown[] = Object.values(members)
  const endpoints = requests.map((request) => Object(request).endpoint)
  return [...endpoints, api?.base_url].filter((url) => typeof url === 'string')
}
