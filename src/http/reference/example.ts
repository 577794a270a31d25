/** A recorded exchange of an operation, which the API reference shows. Nothing in it is secret. */
export interface Example {
  /** With its parameters and its query. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly status: number
  /** Absent: the answer has no body. */
  readonly mediaType?: string
  readonly answer?: unknown
}
