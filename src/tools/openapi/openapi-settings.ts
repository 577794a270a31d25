import { BrokerError } from '../../domain/errors.ts'
import type { JsonSchema, ToolAnnotations } from '../../domain/tool.ts'
import type { Worker } from '../../domain/worker.ts'
import { type JsonRecord, quote, Refusal } from '../read-json.ts'
import { readDocument } from './openapi-document.ts'
import { readRequestDescription } from './read-request-description.ts'
import { isHeaderName, isHeaderValue, isReservedHeader } from './request-plan.ts'
import { checkedServer, serverOf } from './server-url.ts'

/** What an operator says of an HTTP API: kept as the worker's settings. Nothing in it is secret. */
export interface OpenapiSettings {
  /** Exactly one of the three. */
  readonly document?: JsonRecord
  /** Where the document is read anew at each sync. */
  readonly url?: string
  readonly request?: RequestDescription
  /** In place of all servers that the document names. */
  readonly serverUrl?: string
  /** The worker's id unless said. */
  readonly namespace?: string
  /** By the names of the document's security schemes. */
  readonly authorization?: Readonly<Record<string, SchemeMapping>>
  readonly operations?: OperationChoice
  /** Sent with every request, such as an API's version. */
  readonly headers?: Readonly<Record<string, string>>
  /** Whether the tools are held to the answers that the document describes. */
  readonly checkOutput?: boolean
}

/** Which provider's token, or which secret, a security scheme stands for. */
export type SchemeMapping =
  | {
      readonly id?: string
      readonly providerId?: string
      /** For schemes that name none. */
      readonly scopes?: readonly string[]
      /** Where the document says nothing of security: `authorization` unless said. */
      readonly header?: string
    }
  | { readonly secret: string; readonly header?: string }

/** By operationId, tag or the name of the tool; of both, what is excluded stays out. */
export interface OperationChoice {
  readonly include?: readonly string[]
  readonly exclude?: readonly string[]
}

/** One tool that is one request. `{name}` stands for that property of the tool's input. */
export interface RequestDescription {
  readonly name: string
  readonly version?: string
  readonly title?: string
  readonly description: string
  readonly method: string
  /** Absolute; placeholders stand in its path alone. */
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  /** Absent: nothing is sent. */
  readonly body?: unknown
  readonly contentType?: 'application/json' | 'application/x-www-form-urlencoded'
  readonly inputSchema: JsonSchema
  readonly outputSchema?: JsonSchema
  readonly tags?: readonly string[]
  readonly annotations?: ToolAnnotations
  readonly authorization?: readonly RequestAuthorization[]
}

/** All of them are put in. The header is `authorization` unless said. */
export type RequestAuthorization =
  | {
      readonly id?: string
      readonly providerId?: string
      readonly scopes: readonly string[]
      readonly header?: string
    }
  | { readonly secret: string; readonly in: 'header' | 'query'; readonly name: string }

/** Throws `invalid_request` for what can be known to be wrong without asking anybody. */
export function checkSettings(settings: OpenapiSettings): void {
  asInvalidRequest(() => {
    checkHeaders(settings.headers ?? {})
    if (settings.request !== undefined) readRequestDescription(settings.request, settings)
    if (settings.document !== undefined) readDocument(settings.document)
    baseUri(settings)
  })
}

/** What is refused of settings is their sender's fault: throws `invalid_request` for a `Refusal`. */
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
        `headers has ${quote(name)}, which cannot be set: tokens and keys are said in authorization.`,
      )
    if (!isHeaderValue(value))
      throw new Refusal(`headers has a value for ${quote(name)} that no header may have.`)
  }
}

/**
 * The worker's URL: where its requests go, or where its document comes from when only that can be known beforehand.
 * Throws `Refusal`.
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

export function openapiSettings({ settings }: Pick<Worker, 'settings'>): OpenapiSettings {
  return settings as OpenapiSettings // a worker of this type is registered with nothing else
}
