import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { CommandFailure, EXIT } from './failure.ts'
import { sanitize } from './print.ts'

/**
 * Reads a secret, which must not be a command-line argument because other users of the machine can see those. At a
 * terminal it prompts without echo; otherwise the secret is the first line of standard input.
 */
export async function promptSecret(what: string): Promise<string> {
  const answer = process.stdin.isTTY ? await promptAtTerminal(what, { isHidden: true }) : await firstLine()
  if (answer !== '') return answer
  throw new CommandFailure(`The ${what} is empty: type it or pipe it in.`, EXIT.usage)
}

interface TextPrompt {
  /** The value that is in use, which an empty answer keeps. */
  readonly kept?: string | undefined
  /** The option that has the value without a terminal. */
  readonly option?: string
}

/** Prompts for a value that is no secret, with echo. Without a terminal it is `kept`, or `CommandFailure` is thrown. */
export async function promptText(what: string, { kept, option }: TextPrompt = {}): Promise<string> {
  const shown = kept === undefined ? what : `${what} (Enter keeps ${sanitize(kept)})`
  const answer = process.stdin.isTTY ? await promptAtTerminal(shown, { isHidden: false }) : ''
  if (answer !== '') return answer
  if (kept !== undefined) return kept
  throw new CommandFailure(
    `The ${what} is missing${option === undefined ? '.' : `: give it with ${option}.`}`,
    EXIT.usage,
  )
}

/** Asks for a word that confirms an action. Returns whether it was typed. Needs a terminal. */
export async function promptConfirmation(question: string, word: string): Promise<boolean> {
  return (await promptAtTerminal(question, { isHidden: false, named: 'answer' })) === word
}

/**
 * Asks a question until it is answered by y or n. Without a terminal the first line of standard input is the answer, and any
 * other than y or yes is a no.
 */
export async function promptYesOrNo(question: string): Promise<boolean> {
  const isTerminal = process.stdin.isTTY === true
  if (!isTerminal) process.stderr.write(`${question} (y/n)\n`)
  for (;;) {
    const asked = `${question} (y/n)`
    const answer = isTerminal
      ? await promptAtTerminal(asked, { isHidden: false, named: 'answer' })
      : await firstLine()
    if (/^(?:y|yes)$/i.test(answer)) return true
    if (!isTerminal || /^(?:n|no)$/i.test(answer)) return false
  }
}

async function promptAtTerminal(
  what: string,
  { isHidden, named = what }: { readonly isHidden: boolean; readonly named?: string },
): Promise<string> {
  process.stderr.write(`${what}: `)
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({
    input: process.stdin,
    output: isHidden ? silent : process.stderr,
    terminal: true,
  })
  try {
    return (await lines.question('')).trim()
  } catch {
    throw new CommandFailure(`No ${named} was typed.`, EXIT.usage) // Ctrl+C or Ctrl+D
  } finally {
    lines.close()
    if (isHidden) process.stderr.write('\n')
  }
}

async function firstLine(): Promise<string> {
  return (await text(process.stdin)).split('\n', 1).join('').trim()
}
