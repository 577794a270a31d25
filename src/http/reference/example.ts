import { readFileSync } from 'node:fs'

/** A recorded exchange of an operation, which the API reference shows. Nothing in it is secret. */
export interface Example {
  /** The path of the request, with the values of its parameters, and its query. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly status: number
  /** The media type of the answer; absent if the answer has no body. */
  readonly mediaType?: string
  readonly answer?: unknown
  /** The same request in TypeScript, if `@gatepass/sdk` has a method for it. */
  readonly sdk?: string
}

/** The examples by the id of the operation, which `npm run docs-examples` writes by requests to a real Gatepass. */
export function readExamples(): Readonly<Record<string, Example>> {
  const text = readFileSync(new URL('./generated/examples.json', import.meta.url), 'utf8')
  return JSON.parse(text) // a test compares the file with what is written
}

/** What the pages of the API reference show in addition to the OpenAPI document. */
export interface DocsOptions {
  /** Whether each operation gets a form that sends its request. */
  readonly development: boolean
  /** The examples by the id of the operation. */
  readonly examples: Readonly<Record<string, Example>>
}
