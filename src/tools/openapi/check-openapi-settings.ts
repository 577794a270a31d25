import { BrokerError } from '../../domain/errors.ts'
import { quote, Refusal } from '../read-json.ts'
import { checkedServer, serverOf } from './api-url.ts'
import { readDocument } from './openapi-document.ts'
import type { OpenapiSettings, RequestDescription } from './openapi-settings.ts'
import { withoutConnectionValues } from './plan-request.ts'
import { readRequestDescription } from './read-request-description.ts'
import { isHeaderName, isHeaderValue, isReservedHeader } from './request-plan.ts'

/** In place of the server that each user's connection names. No host of this name exists (RFC 6761 section 6.4). */
const HOST_OF_CONNECTION = 'https://host-of-connection.invalid'

/** Checks what can be checked without a request to the API. Throws `invalid_request`. */
export function checkOpenapiSettings(settings: OpenapiSettings): void {
  asInvalidRequest(() => {
    checkHeaders(settings.headers ?? {})
    if (settings.request !== undefined) readRequestDescription(settings.request, settings)
    for (const request of settings.requests ?? []) readNamed(request, settings)
    checkNamesDiffer(settings.requests ?? [])
    if (settings.document !== undefined) readDocument(settings.document)
    baseUri(settings)
  })
}

/** Reads one of several requests. Its refusal says which it is. */
function readNamed(request: RequestDescription, settings: OpenapiSettings): void {
  try {
    readRequestDescription(request, settings)
  } catch (error) {
    if (error instanceof Refusal) throw new Refusal(`${quote(request.name)}: ${error.message}`)
    throw error
  }
}

function checkNamesDiffer(requests: readonly RequestDescription[]): void {
  const names = requests.map(({ name }) => name.toLowerCase())
  const twice = requests.find(({ name }, index) => names.indexOf(name.toLowerCase()) !== index)
  if (twice !== undefined) throw new Refusal(`requests has the name ${quote(twice.name)} twice.`)
}

/** Turns a `Refusal` into `invalid_request`, because settings come from the caller. */
export function asInvalidRequest<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof Refusal) throw new BrokerError('invalid_request', error.message)
    throw error
  }
}

function checkHeaders(headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) {
    if (!isHeaderName(name) || isReservedHeader(name))
      throw new Refusal(
        `headers has ${quote(name)}, which cannot be set: tokens and keys are set in authorization.`,
      )
    if (!isHeaderValue(value))
      throw new Refusal(`headers has a value for ${quote(name)} that no header may have.`)
  }
}

/**
 * The worker's URL: the server of its requests, or the document's own URL if the server is only known from the
 * document. Throws `Refusal`.
 */
export function baseUri({ document, url, request, requests, serverUrl }: OpenapiSettings): string {
  if (serverUrl !== undefined) return checkedServer(serverUrl, undefined)
  const [first = request] = requests ?? []
  if (first !== undefined) return `${withoutConnectionValues(first.url)?.origin ?? HOST_OF_CONNECTION}/`
  if (url !== undefined) {
    const { origin, pathname } = new URL(url)
    return origin + pathname
  }
  return serverOf([document?.servers], undefined)
}
