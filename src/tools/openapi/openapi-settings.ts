import type { JsonSchema, ToolAnnotations } from '../../domain/tool.ts'
import type { Worker } from '../../domain/worker.ts'
import type { JsonRecord } from '../../parsing/json-record.ts'
import type { AnswerPlan, ErrorPlan, PagesPlan } from './answers/answer-plan.ts'

/** The operator's settings of an HTTP API, stored as the worker's settings. Nothing in them is secret. */
export interface OpenapiSettings {
  /** Exactly one of `document`, `url`, `request` and `requests` is set. */
  readonly document?: JsonRecord
  /** The URL from which the document is fetched at each synchronization. */
  readonly url?: string
  readonly request?: RequestDescription
  /** A tool for each. */
  readonly requests?: readonly RequestDescription[]
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

/**
 * One tool that makes one request. `{name}` is replaced by that property of the tool's input; an object whose first member
 * begins with `$` converts a value (templates/conversion-names.ts).
 */
export interface RequestDescription extends RequestParts {
  readonly name: string
  readonly version?: string
  readonly title?: string
  readonly description: string
  readonly inputSchema: JsonSchema
  readonly outputSchema?: JsonSchema
  readonly tags?: readonly string[]
  readonly annotations?: ToolAnnotations
  readonly authorization?: readonly RequestAuthorization[]
  readonly answer?: Omit<AnswerPlan, 'pages' | 'errors'>
  readonly errors?: ErrorPlan
  readonly pages?: DescribedPages
}

/** What is sent. */
export interface RequestParts {
  readonly method: string
  /**
   * Absolute, or a path below `serverUrl`. Placeholders are allowed in its path only: `{name}` for the input, `{{name}}` for a
   * value of the connection.
   */
  readonly url: string
  /** The values of placeholders of the path that are not simply properties of the input. */
  readonly path?: Readonly<Record<string, unknown>>
  readonly headers?: Readonly<Record<string, unknown>>
  readonly query?: Readonly<Record<string, unknown>>
  /** Absent: the request has no body. */
  readonly body?: unknown
  /** A media type, or `{name}` for one that the input names. JSON unless given. */
  readonly contentType?: string
  /** Whether redirects are followed, without the credentials. For GET alone. */
  readonly followRedirects?: boolean
}

export interface DescribedPages extends PagesPlan {
  /** What differs in the request for the pages after the first. */
  readonly request?: Partial<RequestParts>
}

/** A credential of the request; all listed ones are sent. Default header: `authorization`. */
export type RequestAuthorization =
  | {
      readonly id?: string
      readonly providerId?: string
      readonly scopes: readonly string[]
      /** Other sets of scopes that suffice. Only where this is the single credential. */
      readonly alternatives?: readonly (readonly string[])[]
      readonly header?: string
    }
  | { readonly secret: string; readonly in: 'header' | 'query'; readonly name: string }

export function openapiSettings({ settings }: Pick<Worker, 'settings'>): OpenapiSettings {
  return settings as OpenapiSettings // only this broker writes the settings of such workers
}
