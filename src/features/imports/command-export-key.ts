import { readFileSync } from 'node:fs'
import { CommandFailure, EXIT } from '../../cli/failure.ts'
import { promptSecret } from '../../cli/prompt.ts'
import type { ExportKey } from './encrypted-rows.ts'

const SHORTEST_PASSPHRASE = 12

/** The key of `--key-file`, else a passphrase from the terminal or the first line of standard input. */
export async function readExportKey(keyFile: string | undefined): Promise<ExportKey> {
  if (keyFile !== undefined) return { kind: 'key', key: readKey(keyFile) }
  const passphrase = await promptSecret('passphrase of the file')
  if (passphrase.length >= SHORTEST_PASSPHRASE) return { kind: 'passphrase', passphrase }
  throw new CommandFailure(
    `The passphrase has fewer than ${SHORTEST_PASSPHRASE} characters; \`openssl rand -base64 24\` makes a good one.`,
    EXIT.usage,
  )
}

function readKey(path: string): Uint8Array {
  let text: string
  try {
    text = readFileSync(path, 'utf8').trim()
  } catch {
    throw new CommandFailure(`The file "${path}" cannot be read.`, EXIT.notFound)
  }
  const key = Buffer.from(text, 'base64')
  if (key.length === 32) return key
  throw new CommandFailure(
    `The file "${path}" must contain 32 bytes in base64, as \`openssl rand -base64 32\` makes them.`,
    EXIT.usage,
  )
}
