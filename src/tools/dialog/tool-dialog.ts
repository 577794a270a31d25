import { ContextRequiredError } from '../../sdk/tools/errors.ts'
import { checkValue } from '../check-value.ts'
import { scrub } from '../scrub/scrub.ts'
import type { ToolLog } from '../tool-answer.ts'
import type { ToolError } from '../tool-error.ts'
import { asksForSecret } from './asks-for-secret.ts'
import type { Dialog, Elicitation, ElicitationAnswer, ElicitationMode } from './dialog.ts'
import { rateLimit } from './rate-limit.ts'
import { plainWords, readForm } from './read-form.ts'
import { readLink } from './read-link.ts'

// The questions of a tool are untrusted. Before the caller's client sees one, this file limits its size, removes secrets,
// adds the name of the tool, and refuses what MCP forbids to ask.

/** The dialog of one call, as its worker's backend uses it. */
export interface ToolDialog {
  readonly modes: readonly ElicitationMode[]
  /**
   * Asks the user. Throws `ContextRequiredError`, whose message the tool may show, for a question that is not passed
   * on.
   */
  elicit(question: ToolQuestion, signal: AbortSignal): Promise<ElicitationAnswer>
  log(line: ToolLog): void
}

/** A question as the tool wrote it. */
export type ToolQuestion =
  | {
      readonly mode: 'form'
      readonly message: string
      readonly requestedSchema: unknown
      /** A check of the answer besides its schema. */
      accepts?(content: unknown): Promise<boolean>
    }
  | { readonly mode: 'url'; readonly message: string; readonly url: string }

export interface DialogOptions {
  /** The tool's title. */
  readonly tool: string
  /** The project. */
  readonly owner: string
  /** The host that the tool runs on. Absent: it runs in this process. */
  readonly host?: string
  /** The origin of this Gatepass, which a tool's link must not lead to. */
  readonly publicOrigin: string
  /** Whether a project has proved this host name, so that this Gatepass answers there too. */
  readonly isOwnDomain: (hostName: string) => boolean
  /** Removed from questions and log lines. Entries may be added while the tool runs. */
  readonly secrets: readonly string[]
}

/** The limit for one call. */
const MAX_QUESTIONS = 20
/** How often a form is shown when the answers do not fit its schema. */
const MAX_ASKS = 3
/** In characters. */
const MAX_MESSAGE = 2_000
/** In characters. A longer title would push the rest of the message out of sight. */
const MAX_TITLE = 100
const MAX_LOG_LINE = 10_000

/** Makes the dialog of one call. The caller's client sees only questions and log lines that this file has checked. */
export function createToolDialog(dialog: Dialog, options: DialogOptions): ToolDialog {
  const mayLog = rateLimit()
  let asked = 0
  let last: Promise<unknown> = Promise.resolve()

  async function ask(written: ToolQuestion, signal: AbortSignal): Promise<ElicitationAnswer> {
    if (!dialog.modes.includes(written.mode))
      throw new ContextRequiredError(
        `The tool asks its user by a ${written.mode === 'form' ? 'form' : 'link'}, which the caller’s MCP client does not show: it does not declare elicitation with the mode "${written.mode}".`,
      )
    if (asked++ >= MAX_QUESTIONS)
      throw new ContextRequiredError(`The tool asks its user more than ${MAX_QUESTIONS} questions.`)
    const question = toElicitation(written, options)
    signal.throwIfAborted()
    for (let asks = 0; asks < MAX_ASKS; asks++) {
      const answer = await dialog.elicit(question, signal)
      if (answer.action !== 'accept') return { action: answer.action }
      if (question.mode === 'url') return { action: 'accept' }
      const content = await fitting(question.requestedSchema, answer.content, options.owner)
      const isTaken =
        written.mode === 'url' || written.accepts === undefined || (await written.accepts(content))
      if (content !== undefined && isTaken) return { action: 'accept', content }
    }
    throw new ContextRequiredError('The caller’s MCP client sent answers that do not fit the tool’s form.')
  }

  return {
    modes: dialog.modes,
    elicit(question, signal) {
      // people answer one question at a time
      const answer = last.then(() => ask(question, signal))
      last = answer.catch(() => undefined)
      return answer
    },
    log(line) {
      if (dialog.log === undefined || !mayLog()) return
      const { level, message, subtype } = scrub(line, options.secrets) as ToolLog // `scrub` keeps the shape
      dialog.log({ level, message: message.slice(0, MAX_LOG_LINE), subtype })
    },
  }
}

function toElicitation(question: ToolQuestion, options: DialogOptions): Elicitation {
  const { host, secrets } = options
  const tool = plainWords(options.tool, MAX_TITLE).replaceAll('\n', ' ')
  const message = plainWords(String(scrub(question.message, secrets)), MAX_MESSAGE)
  if (question.mode === 'url') {
    const link = readLink(question.url, options)
    const who = host === undefined ? `The tool ${tool}` : `The server ${host} of the tool ${tool}`
    return {
      mode: 'url',
      url: link.href,
      message: `${who} asks you to open its own page at ${link.host}. Gatepass did not make this link and learns nothing from it. The tool says: ${message}`,
    }
  }
  const requestedSchema = readForm(scrub(question.requestedSchema, secrets))
  const secret = asksForSecret(message, requestedSchema)
  if (secret !== undefined)
    throw new ContextRequiredError(
      `The tool’s form asks for ${secret}. A form must not ask for passwords, tokens or payment data (MCP, Elicitation): the tool must send the user to a page of its own, or declare the secret.`,
    )
  return {
    mode: 'form',
    requestedSchema,
    message: host === undefined ? message : `The tool ${tool} (${host}) asks: ${message}`,
  }
}

/** Removes members that the form does not have; `undefined` if the rest does not fit the form's schema. */
async function fitting(
  schema: Readonly<Record<string, unknown>>,
  content: ElicitationAnswer['content'] = {},
  owner: string,
): Promise<ElicitationAnswer['content'] | undefined> {
  const properties = schema.properties as Readonly<Record<string, unknown>> // `readForm` made it
  const known = Object.fromEntries(
    Object.entries(content).filter(([name]) => Object.hasOwn(properties, name)),
  )
  return (await checkValue(schema, known, owner)).outcome === 'valid' ? known : undefined
}

/** The error of a tool that asks its user in a call without a dialog. */
export const ASKS_ITS_USER: ToolError = {
  kind: 'TOOL_RUNTIME_CONTEXT_REQUIRED',
  message:
    'The tool asks its user while it runs, which only MCP clients can show: call it over MCP (/mcp) with a client that declares elicitation.',
  canRetry: false,
}
