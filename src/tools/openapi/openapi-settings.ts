import type { JsonSchema, ToolAnnotations } from '../../domain/tool.ts'
import type { Worker } from '../../domain/worker.ts'
import type { JsonRecord } from '../../parsing/json-record.ts'

/** The operator's settings of an HTTP API, stored as the worker's settings. Nothing in them is secret. */
export interface OpenapiSettings {
  /** Exactly one of `document`, `url` and `request` is set. */
  readonly document?: JsonRecord
  /** The URL from which the document is fetched at each synchronization. */
  readonly url?: string
  readonly request?: RequestDescription
  /** Replaces all servers that the document names. */
  readonly serverUrl?: string
  /** Default: the worker's id. */
  readonly namespace?: string
  /** The keys are the names of the document's security schemes. */
  readonly authorization?: Readonly<Record<string, SchemeMapping>>
  readonly operations?: OperationChoice
  /** Headers sent with every request, such as an API version. */
  readonly headers?: Readonly<Record<string, string>>
  /** Whether answers are validated against the schemas in the document. */
  readonly checkOutput?: boolean
}

/** The credential for a security scheme: the token of a provider, or a secret. */
export type SchemeMapping = {
  /**
   * Whether it is sent with operations for which the document requires no credential, too. Absent: it is not, and a
   * remark names these operations.
   */
  readonly always?: boolean
} & MappedCredential

type MappedCredential =
  | {
      readonly id?: string
      readonly providerId?: string
      /** Requested for schemes that name no scopes. */
      readonly scopes?: readonly string[]
      /** The header, if the document declares no security. Default: `authorization`. */
      readonly header?: string
    }
  | { readonly secret: string; readonly header?: string }

/** Operations by operationId, tag or tool name; `exclude` takes precedence. */
export interface OperationChoice {
  readonly include?: readonly string[]
  readonly exclude?: readonly string[]
}

/** One tool that makes one request. `{name}` is replaced by that property of the tool's input. */
export interface RequestDescription {
  readonly name: string
  readonly version?: string
  readonly title?: string
  readonly description: string
  readonly method: string
  /** Absolute; placeholders are allowed in its path only. */
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  /** Absent: the request has no body. */
  readonly body?: unknown
  readonly contentType?: 'application/json' | 'application/x-www-form-urlencoded'
  readonly inputSchema: JsonSchema
  readonly outputSchema?: JsonSchema
  readonly tags?: readonly string[]
  readonly annotations?: ToolAnnotations
  readonly authorization?: readonly RequestAuthorization[]
}

/** A credential of the request; all listed ones are sent. Default header: `authorization`. */
export type RequestAuthorization =
  | {
      readonly id?: string
      readonly providerId?: string
      readonly scopes: readonly string[]
      readonly header?: string
    }
  | { readonly secret: string; readonly in: 'header' | 'query'; readonly name: string }

export function openapiSettings({ settings }: Pick<Worker, 'settings'>): OpenapiSettings {
  return settings as OpenapiSettings // only this broker writes the settings of such workers
}
