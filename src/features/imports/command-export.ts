import { createWriteStream, existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { Command } from 'commander'
import { CommandFailure, EXIT } from '../../cli/failure.ts'
import { dim, MARKS, print, printJson, quantity, sanitize } from '../../cli/print.ts'
import { jsonOption, parseId, projectOption, type Shell } from '../../cli/shell.ts'
import {
  discard,
  discardUnfinished,
  flushToDisk,
  moveIntoPlace,
  unfinishedName,
} from '../../copying/durable-file.ts'
import { toTimestamp } from '../../domain/clock.ts'
import { readExportKey } from './command-export-key.ts'
import { encryptRows } from './encrypted-rows.ts'
import { type ExportCounts, exportConnections } from './export-connections.ts'

interface ExportOptions {
  readonly to: string
  readonly user?: string
  readonly provider?: string
  readonly keyFile?: string
  readonly project?: string
  readonly json?: true
}

/** The command works on the database only, because no API returns the refresh tokens of an installation. */
export function defineConnectionsExport(command: Command, shell: Shell): void {
  command
    .requiredOption('--to <path>', 'the file to write; it must not exist yet', parseId)
    .option('--user <id>', 'only for this user', parseId)
    .option('--provider <id>', 'only at this provider', parseId)
    .option(
      '--key-file <path>',
      'encrypt with the 32 bytes in this file (base64) instead of a passphrase',
      parseId,
    )
    .addOption(projectOption())
    .addOption(jsonOption())
    .addHelpText('after', EXAMPLES)
    .action(async ({ to, user, provider, keyFile, project, json }: ExportOptions) => {
      if (existsSync(to)) throw alreadyExists(to)
      const key = await readExportKey(keyFile)
      await shell.withBroker(shell, { project }, async ({ broker, project: { id } }) => {
        const counts: ExportCounts = { written: 0, leftOut: 0 }
        const filter = {
          ...(user !== undefined && { userId: user }),
          ...(provider !== undefined && { providerId: provider }),
        }
        const rows = exportConnections(broker, id, filter, counts)
        await writeLines(to, encryptRows(rows, key, { createdAt: toTimestamp(broker.now()) }))
        if (json) return printJson({ path: to, written: counts.written, left_out: counts.leftOut })
        print(`${MARKS.ok} ${sanitize(to)}: ${quantity(counts.written, 'connection')}.`)
        if (counts.leftOut > 0) print(`  ${counts.leftOut} left out: their users must approve again.`)
        print(
          dim(
            `  Only the ${key.kind} opens it. A refresh on either side may invalidate the tokens on the other, so stop using these here once they are imported elsewhere.`,
          ),
        )
      })
    })
}

/** Writes to a file with a temporary name, and renames it once it is complete. */
async function writeLines(path: string, lines: AsyncIterable<string>): Promise<void> {
  const partial = unfinishedName(path)
  try {
    discardUnfinished(path)
    await pipeline(withLineEnds(lines), createWriteStream(partial, { mode: 0o600, flags: 'wx' }))
    flushToDisk(partial)
    if (!(await moveIntoPlace(partial, path))) throw alreadyExists(path)
    flushToDisk(dirname(resolve(path)))
  } catch (error) {
    discard(partial)
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (typeof code === 'string' && /^E[A-Z]+$/.test(code))
      throw new CommandFailure(`The file "${path}" cannot be written (${code}).`)
    throw error
  }
}

function alreadyExists(path: string): CommandFailure {
  return new CommandFailure(`The file "${path}" already exists.`, EXIT.usage)
}

async function* withLineEnds(lines: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const line of lines) yield `${line}\n`
}

const EXAMPLES = `
Examples:
  $ gatepass connections export --to connections.gatepass            prompts for a passphrase
  $ openssl rand -base64 32 > export.key
  $ gatepass connections export --to ada.gatepass --user ada --key-file export.key

It needs the database and the master key; \`gatepass connections import\` reads the file elsewhere.`
