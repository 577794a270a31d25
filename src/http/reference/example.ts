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
  /** The same by `@gatepass/sdk`, where that has a method for it. */
  readonly sdk?: string
}

/** What the pages of the API reference show beside the document. */
export interface DocsOptions {
  /** Each operation gets a form that sends its request. */
  readonly development: boolean
  /** By the ids of operations. */
  readonly examples: Readonly<Record<string, Example>>
}
