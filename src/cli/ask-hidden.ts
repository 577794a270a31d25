import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { CommandFailure, EXIT } from './failure.ts'

/**
 * A value that must not stand on the command line, where other users of the machine see it: asked for at a terminal
 * without showing what is typed, else the first line of standard input.
 */
export async function askHidden(what: string): Promise<string> {
  const said = process.stdin.isTTY ? await askAtTerminal(what, { isHidden: true }) : await firstLine()
  if (said !== '') return said
  throw new CommandFailure(`The ${what} is empty: type it, or pipe it in.`, EXIT.usage)
}

/** As `askHidden`, and shows what is typed. */
export async function askShown(what: string): Promise<string> {
  const said = process.stdin.isTTY ? await askAtTerminal(what, { isHidden: false }) : ''
  if (said !== '') return said
  throw new CommandFailure(`The ${what} is missing.`, EXIT.usage)
}

async function askAtTerminal(what: string, { isHidden }: { readonly isHidden: boolean }): Promise<string> {
  process.stderr.write(`${what}: `)
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({
    input: process.stdin,
    output: isHidden ? silent : process.stderr,
    terminal: true,
  })
  try {
    return (await lines.question('')).trim()
  } finally {
    lines.close()
    if (isHidden) process.stderr.write('\n')
  }
}

async function firstLine(): Promise<string> {
  return (await text(process.stdin)).split('\n', 1).join('').trim()
}
