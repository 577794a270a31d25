import type {
  ElicitResult,
  GetPromptResult,
  Prompt,
  Resource,
  ResourceContents,
  ResourceTemplate,
} from './content.ts'
import type { LogLevel } from './context.ts'
import type { Form } from './elicit.ts'

/** What an app offers besides tools, to its own handlers and to MCP clients. */
export interface AppParts {
  /** Log lines below this level are dropped. */
  readonly logLevel: LogLevel
  readonly resources: {
    list(): Resource[]
    listTemplates(): ResourceTemplate[]
    /** Returns `undefined` for a URI that no resource has. */
    read(uri: string, request: PartRequest): Promise<ResourceContents[] | undefined>
    /** Returns the author's suggestions for a variable of a template. */
    complete(template: string, variable: string, value: string): Promise<readonly string[]>
  }
  readonly prompts: {
    list(): Prompt[]
    /** Returns `undefined` for an unknown name. Throws `ArgumentsRefusedError` if the prompt refuses the arguments. */
    get(
      name: string,
      args: Readonly<Record<string, string>>,
      request: PartRequest,
    ): Promise<GetPromptResult | undefined>
    /** Returns the author's suggestions for an argument. */
    complete(name: string, argument: string, value: string): Promise<readonly string[]>
  }
}

/** The request for a resource or a prompt: its user, and how to show them a form. */
export interface PartRequest {
  readonly userId: string | null
  readonly signal?: AbortSignal
  elicit?(form: Form): Promise<ElicitResult<unknown>>
}
