import { isApiHost, isHostOfConnection, proofOfUse } from '../../providers/api-host.ts'
import type { ProofUse } from '../../providers/dpop-proofs.ts'
import { keptValuesOf } from '../../providers/kept-values.ts'
import { pathWithCredential, placeCredential } from '../../providers/place-credential.ts'
import { typeOf } from '../../providers/provider.ts'
import { fixedValues } from '../../providers/variables.ts'
import type { Release } from '../../services/release.ts'
import type { BackendCall, GivenAuthorization } from '../backend.ts'
import type { ToolError } from '../tool-error.ts'
import type { BuiltRequest } from './build-request.ts'
import { type Credential, isHeaderValue } from './request-plan.ts'
import { encode } from './write-parameter.ts'

export type Placed =
  | {
      readonly outcome: 'placed'
      readonly request: BuiltRequest
      /** Sent instead of the URL's path and query, which have no key. */
      readonly path?: string | undefined
      /** The proof that the request needs for its token. */
      readonly proof?: ProofUse | undefined
      /** The token that signs the request (OAuth 1.0a). */
      readonly signer?: Release | undefined
    }
  | { readonly outcome: 'refused'; readonly error: ToolError }

/** Headers that every request has, so that those of the entry are the more definite ones. */
const NEGOTIATED = new Set(['accept', 'content-type'])

/**
 * Adds credentials to a request. A token is sent only to the hosts that its own provider entry names, and a secret,
 * which has no entry, only to the origin that the operator registered.
 */
export function placeCredentials(
  request: BuiltRequest,
  alternatives: readonly (readonly Credential[])[],
  call: Pick<BackendCall, 'authorizations' | 'secrets' | 'tool'>,
  workerUri: string,
  /** Headers that the worker's settings fix, by name in lower case: an administrator wrote them, no caller. */
  fixed: Readonly<Record<string, string>> = {},
): Placed {
  if (alternatives.length === 0) return { outcome: 'placed', request }
  const met = alternatives.find((all) =>
    all.every((credential) =>
      credential.kind === 'secret'
        ? call.secrets.some(({ key }) => key === credential.key)
        : givenFor(call.authorizations, credential) !== undefined,
    ),
  )
  if (met === undefined)
    return refused(
      `The tool "${call.tool.title}" received none of the authorizations and secrets that its request needs.`,
    )
  const headers: Record<string, string> = { ...request.headers }
  const url = new URL(request.url)
  let proof: ProofUse | undefined
  let signer: Release | undefined
  let before = ''
  for (const credential of met) {
    const refusal = credential.kind === 'token' ? putToken(credential) : putSecret(credential)
    if (refusal !== undefined) return refusal
  }
  if (before === '') return { outcome: 'placed', request: { ...request, url, headers }, proof, signer }
  if (proof !== undefined || signer !== undefined)
    return refused('A key in the path cannot be sent with a token that proves or signs the URL.')
  const path = pathWithCredential(url.pathname + url.search, { path: before, query: [] })
  return { outcome: 'placed', request: { ...request, url, headers }, path }

  function putToken(credential: Extract<Credential, { kind: 'token' }>): Placed | undefined {
    const release = givenFor(call.authorizations, credential)?.release
    if (release === undefined) return refused('A token is missing.')
    const { entry, accessToken, clientId, kept, dpopKey } = release
    if (!isApiHost(entry.provider, url))
      return refused(
        `The provider "${entry.id}" does not name ${url.host} as a host of its API, so its token is not sent there. An administrator can allow it: PATCH /v1/admin/auth_providers/${entry.id} {"${typeOf(entry.provider)}": {"api": {"hosts": ["${url.host}"]}}}.`,
      )
    const known = { accessToken, clientId, kept: keptValuesOf(entry.provider, kept), dpopKey }
    if (!isHostOfConnection(entry.provider, url, known.kept))
      return refused(
        `The user typed the key of "${entry.id}" for another host than ${url.host}, so it is not sent there.`,
      )
    const ofToken = proofOfUse(known)
    if (ofToken !== undefined && (proof !== undefined || credential.header !== 'authorization'))
      return refused(
        `The token of "${entry.id}" is bound to a key (DPoP), so it can only be sent in the header Authorization, and alone.`,
      )
    proof = ofToken ?? proof
    const placed = placeCredential(entry.provider, known)
    const own = placed.headers
    url.search = pathWithCredential(url.search, { query: placed.query })
    before += placed.path ?? ''
    if (entry.provider.oauth1 !== undefined) {
      if (signer !== undefined || credential.header !== 'authorization')
        return refused(
          `The token of "${entry.id}" signs requests (OAuth 1.0a): the signature is in the header Authorization, and alone.`,
        )
      signer = release
    }
    // the entry decides where a typed credential goes, and not the API's document
    if (entry.provider.credentials !== undefined) Object.assign(headers, own)
    else {
      const { authorization, ...others } = own
      for (const [name, value] of Object.entries(others))
        if (!isOfTool(name, entry.provider.api?.headers)) headers[name] = value
      if (credential.header !== 'authorization') headers[credential.header] = accessToken
      else if (authorization !== undefined) headers.authorization = authorization
    }
    return undefined
  }

  /** A version of the API that the tool was written for counts before the constant that the entry sends with all requests. */
  function isOfTool(name: string, ofEntry: Readonly<Record<string, string>> = {}): boolean {
    return Object.hasOwn(fixed, name) && !NEGOTIATED.has(name) && ofEntry[name]?.includes('{{') === false
  }

  function putSecret({
    key,
    in: place,
    name,
    scheme,
  }: Extract<Credential, { kind: 'secret' }>): Placed | undefined {
    const secret = call.secrets.find((available) => available.key === key)?.value
    if (secret === undefined) return refused(`The tool "${call.tool.title}" needs the secret ${key}.`)
    if (new URL(workerUri).origin !== url.origin)
      return refused(
        `The secret ${key} is sent only to ${new URL(workerUri).origin}, but the request goes to ${url.origin}. To send it there, register the API with server_url.`,
      )
    if (place === 'query') {
      url.search = [
        ...(url.search === '' ? [] : [url.search.slice(1)]),
        `${encode(name)}=${encode(secret)}`,
      ].join('&')
      return undefined
    }
    const written =
      scheme === 'basic'
        ? `Basic ${Buffer.from(secret).toString('base64')}`
        : scheme === 'bearer'
          ? `Bearer ${secret}`
          : secret
    if (!isHeaderValue(written))
      return refused(`The secret ${key} contains characters that a header must not contain. Set it again.`)
    headers[name] = written
    return undefined
  }
}

/**
 * The values of the user's connection by their names, for URLs: those that the entry fixes, those that the provider told, and
 * those that the user gave.
 */
export function valuesOfConnection(
  alternatives: readonly (readonly Credential[])[],
  authorizations: readonly GivenAuthorization[],
): Record<string, string> {
  const values = alternatives.flat().flatMap((credential) => {
    const release = credential.kind === 'token' ? givenFor(authorizations, credential)?.release : undefined
    if (release === undefined) return []
    const { provider } = release.entry
    return [{ ...fixedValues(provider), ...keptValuesOf(provider, release.kept) }]
  })
  return Object.assign({}, ...values)
}

/**
 * Finds the token for a credential by the requirement, or else by the names of the provider entry: a metadata tool
 * that is bound to this tool has requirements of its own.
 */
function givenFor(
  authorizations: readonly GivenAuthorization[],
  { requirement: { id, providerId } }: Extract<Credential, { kind: 'token' }>,
): GivenAuthorization | undefined {
  const name = (id ?? providerId ?? '').toLowerCase()
  const isNamed = (other: string | undefined) => other?.toLowerCase() === name
  return (
    authorizations.find(({ requirements }) =>
      requirements.some((requirement) => requirement.id === id && requirement.providerId === providerId),
    ) ??
    authorizations.find(({ release: { entry } }) => isNamed(entry.id)) ??
    authorizations.find(({ release: { entry } }) => isNamed(entry.wellKnownId) || isNamed(entry.name))
  )
}

function refused(message: string): Placed {
  return { outcome: 'refused', error: { kind: 'TOOL_REQUIREMENTS_NOT_MET', message, canRetry: false } }
}
