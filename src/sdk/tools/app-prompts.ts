import { withoutUndefined } from '../without-undefined.ts'
import type { AppParts } from './app-parts.ts'
import type { GetPromptResult, JsonSchema, PromptArgument, PromptMessage } from './content.ts'
import type { ToolContext } from './context.ts'
import { type ElicitOptions, elicit } from './elicit.ts'
import { ContextRequiredError } from './errors.ts'
import { jsonSchemaOf, parseValue, type TypedSchema } from './schema.ts'

export interface PromptOptions<TInput = Readonly<Record<string, string>>> {
  readonly title?: string
  readonly description?: string
  /** The arguments, an object whose members are given as text. Absent: the prompt takes none. */
  readonly input?: TypedSchema<TInput> | JsonSchema
  /** Returns the text of one message of the user, or the messages. */
  handler(request: {
    readonly input: TInput
    readonly userId: string | null
    /** Its `elicit` throws `ContextRequiredError` where no form can be shown to the user. */
    readonly ui: ToolContext['ui']
  }): PromptValue | Promise<PromptValue>
  /** Suggests values for an argument (MCP `completion/complete`). */
  complete?(argument: string, value: string): readonly string[] | Promise<readonly string[]>
}

export type PromptValue = string | PromptMessage[] | GetPromptResult

export type AnyPromptOptions = PromptOptions<never>

type AppPrompts = AppParts['prompts'] & {
  add(name: string, options: AnyPromptOptions): Promise<void>
  remove(name: string): Promise<boolean>
}

/** The prompt refuses its arguments. The message speaks only of the arguments, so the caller may see it. */
export class ArgumentsRefusedError extends TypeError {}

/** Makes the prompts of an app, with `changed` to be called after each change. */
export function appPrompts(changed: () => Promise<void>): AppPrompts {
  const prompts = new Map<string, { readonly options: AnyPromptOptions; readonly args: PromptArgument[] }>()
  return {
    add(name, options) {
      if (typeof options.handler !== 'function')
        throw new TypeError(`The prompt ${JSON.stringify(name)} has no handler.`)
      prompts.set(name, { options, args: promptArguments(options) })
      return changed()
    },
    async remove(name) {
      const wasThere = prompts.delete(name)
      if (wasThere) await changed()
      return wasThere
    },
    list: () =>
      [...prompts].map(([name, { options, args }]) =>
        withoutUndefined({
          name,
          title: options.title,
          description: options.description,
          arguments: args.length > 0 ? args : undefined,
        }),
      ),
    async get(name, given, { userId, elicit: ask }) {
      const prompt = prompts.get(name)
      if (prompt === undefined) return undefined
      const { options, args } = prompt
      const absent = args.find((arg) => arg.required === true && given[arg.name] === undefined)
      if (absent !== undefined)
        throw new ArgumentsRefusedError(`The prompt "${name}" needs the argument "${absent.name}".`)
      const parsed = await parseValue(options.input ?? {}, given)
      if (parsed.outcome === 'refused')
        throw new ArgumentsRefusedError(`The prompt "${name}" refuses its arguments: ${parsed.reason}`)
      const ui = {
        elicit: <Schema extends TypedSchema>(message: string, schema: Schema, form?: ElicitOptions) => {
          if (ask !== undefined) return elicit(ask, message, schema, form)
          throw new ContextRequiredError(`The prompt "${name}" needs a form for the user (ui.elicit).`)
        },
      }
      // the prompt's schema has parsed the input
      const value = await options.handler({ input: parsed.value as never, userId, ui })
      return toResult(value, options.description)
    },
    async complete(name, argument, value) {
      return (await prompts.get(name)?.options.complete?.(argument, value)) ?? []
    },
  }
}

function promptArguments({ input }: AnyPromptOptions): PromptArgument[] {
  if (input === undefined) return []
  const { properties = {}, required = [] } = jsonSchemaOf(input, 'input') as {
    properties?: Readonly<Record<string, { readonly description?: string }>>
    required?: readonly string[]
  } // JSON Schema 2020-12
  return Object.entries(properties).map(([name, { description }]) =>
    withoutUndefined({ name, description, required: required.includes(name) }),
  )
}

function toResult(value: PromptValue, description: string | undefined): GetPromptResult {
  if (typeof value !== 'string' && !Array.isArray(value)) return value
  const messages: PromptMessage[] =
    typeof value === 'string' ? [{ role: 'user', content: { type: 'text', text: value } }] : value
  return withoutUndefined({ description, messages })
}
