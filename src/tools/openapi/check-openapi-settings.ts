import { BrokerError } from '../../domain/errors.ts'
import { quote, Refusal } from '../read-json.ts'
import { checkedServer, serverOf } from './api-url.ts'
import { readDocument } from './openapi-document.ts'
import type { OpenapiSettings } from './openapi-settings.ts'
import { readRequestDescription } from './read-request-description.ts'
import { isHeaderName, isHeaderValue, isReservedHeader } from './request-plan.ts'

/** Checks what can be checked without a request to the API. Throws `invalid_request`. */
export function checkOpenapiSettings(settings: OpenapiSettings): void {
  asInvalidRequest(() => {
    checkHeaders(settings.headers ?? {})
    if (settings.request !== undefined) readRequestDescription(settings.request, settings)
    if (settings.document !== undefined) readDocument(settings.document)
    baseUri(settings)
  })
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
export function baseUri({ document, url, request, serverUrl }: OpenapiSettings): string {
  if (serverUrl !== undefined) return checkedServer(serverUrl, undefined)
  if (request !== undefined) return `${new URL(request.url).origin}/`
  if (url !== undefined) {
    const { origin, pathname } = new URL(url)
    return origin + pathname
  }
  return serverOf([document?.servers], undefined)
}
