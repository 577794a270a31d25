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

/** What else than tools an app offers, to its own handlers and to MCP clients. */
export interface AppParts {
  /** Log lines below this level are dropped. */
  readonly logLevel: LogLevel
  readonly resources: {
    list(): Resource[]
    listTemplates(): ResourceTemplate[]
    /** Returns `undefined` for a URI that no resource has. */
    read(uri: string, request: RequestOf): Promise<ResourceContents[] | undefined>
    /** What the author suggests for a variable of a template. */
    complete(template: string, variable: string, value: string): Promise<readonly string[]>
  }
  readonly prompts: {
    list(): Prompt[]
    /** Returns `undefined` for an unknown name. Throws `TypeError` for arguments that the prompt does not take. */
    get(
      name: string,
      args: Readonly<Record<string, string>>,
      request: RequestOf,
    ): Promise<GetPromptResult | undefined>
    /** What the author suggests for an argument. */
    complete(name: string, argument: string, value: string): Promise<readonly string[]>
  }
}

/** Whose request it is. */
export interface RequestOf {
  readonly userId: string | null
  readonly signal?: AbortSignal
  elicit?(form: Form): Promise<ElicitResult<unknown>>
}
