import { statSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { type Command, InvalidArgumentError } from 'commander'
import type { Broker } from '../../broker.ts'
import { CommandFailure, EXIT } from '../../cli/failure.ts'
import { dim, MARKS, print, printJson, sanitize } from '../../cli/print.ts'
import { refuseServer } from '../../cli/refuse-server.ts'
import { type CommonOptions, jsonOption, parseId, projectOption, type Shell } from '../../cli/shell.ts'
import { type EpochSeconds, toTimestamp } from '../../domain/clock.ts'
import { BrokerError } from '../../domain/errors.ts'
import type { Project } from '../../domain/project.ts'
import { parseDuration } from '../../settings/duration.ts'
import type { Archived, ArchiveRequest } from './archive-trail.ts'

interface ArchiveOptions extends CommonOptions {
  readonly before: (now: EpochSeconds) => EpochSeconds
  readonly to: string
  readonly all?: true
}

/** How long to wait for another process: longer than the lease of a process that was killed. */
const WAIT_MS = 90_000
const TRY_AGAIN_MS = 500

/** `gatepass audit archive` */
export function defineArchive(archive: Command, shell: Shell): void {
  archive
    .requiredOption(
      '--before <time>',
      'entries before this time: a date (2026-01-01), or an age (400d, 12h)',
      parseBefore,
    )
    .requiredOption('--to <folder>', 'where the files are written', parseId)
    .option('--all', 'all projects, not only the one in --project')
    .addOption(projectOption())
    .addOption(jsonOption())
    .addHelpText('after', HELP)
    .action(async (options: ArchiveOptions) => {
      refuseServer(shell, options, 'audit archive')
      const { to, json, all } = options
      if (statSync(to, { throwIfNoEntry: false })?.isDirectory() !== true)
        throw new CommandFailure(`${to} is not a folder. Create it first.`, EXIT.usage)
      const { archiveTrail } = await import('./archive-trail.ts')
      return shell.withBroker(shell, options, async ({ broker, project }) => {
        const before = options.before(broker.now())
        const items: { readonly project: string; readonly archived: readonly Archived[] }[] = []
        for (const exported of all ? await broker.store.projects.list() : [project]) {
          const archived = await archiveWhenFree(archiveTrail, broker, exported, { before, folder: to })
          items.push({ project: exported.name, archived })
          if (!json) printArchived(exported.name, archived, before)
        }
        if (json)
          printJson({
            items: items.map(({ project: name, archived }) => ({
              project: name,
              archived: archived.map(({ file, firstSeq, lastSeq }) => ({
                file,
                first_seq: firstSeq,
                last_seq: lastSeq,
                entries: lastSeq - firstSeq + 1,
              })),
            })),
          })
      })
    })
}

/**
 * Archives the trail, once no other process indexes or archives it. Throws `CommandFailure` if another process still does
 * after `WAIT_MS`.
 */
async function archiveWhenFree(
  archive: (
    broker: Broker,
    project: Project,
    request: ArchiveRequest,
  ) => Promise<readonly Archived[] | undefined>,
  broker: Broker,
  project: Project,
  request: ArchiveRequest,
): Promise<readonly Archived[]> {
  const endsAt = performance.now() + WAIT_MS
  let isReported = false
  for (;;) {
    const archived = await archive(broker, project, request).catch((error: unknown) => {
      throw toFailure(error)
    })
    if (archived !== undefined) return archived
    if (performance.now() > endsAt)
      throw new CommandFailure(
        `Another process indexes or archives the audit trail of ${project.name}: try again later.`,
        EXIT.unreachable,
      )
    if (!isReported)
      process.stderr.write(
        `Waiting for the process that indexes or archives the trail of ${project.name} …\n`,
      )
    isReported = true
    await pause(TRY_AGAIN_MS)
  }
}

/**
 * Converts an error that a retry alone does not solve, such as an invalid trail or a full disk. The exit code of the
 * result does not ask for a retry.
 */
function toFailure(error: unknown): unknown {
  if (error instanceof BrokerError) {
    const reason = error.cause instanceof Error ? ` (${sanitize(error.cause.message)})` : ''
    return new CommandFailure(`${error.message}${reason}`)
  }
  if (error instanceof Error && 'code' in error && 'syscall' in error)
    return new CommandFailure(
      `The archive cannot be written (${error.message}). Run the command again to continue.`,
    )
  return error
}

function printArchived(name: string, archived: readonly Archived[], before: EpochSeconds): void {
  if (archived.length === 0) print(`${MARKS.ok} ${name}: no entries before ${toTimestamp(before)}.`)
  for (const { file = '', firstSeq, lastSeq } of archived)
    print(`${MARKS.ok} ${name}: entries ${firstSeq} to ${lastSeq} are in ${sanitize(file)}.`)
  if (archived.length > 0)
    print(dim('  Keep a copy elsewhere too: the database no longer has these entries.'))
}

function parseBefore(text: string): ArchiveOptions['before'] {
  const seconds = parseDuration(text)
  if (seconds !== undefined) return (now) => now - seconds
  const at = Date.parse(text)
  if (!/^\d{4}-\d\d-\d\d/.test(text) || Number.isNaN(at))
    throw new InvalidArgumentError('Write a date such as 2026-01-01, or an age such as 400d or 12h.')
  return () => Math.floor(at / 1000)
}

const HELP = `
Each file is verified before the entries are removed, and the trail continues from a signed anchor. An
interrupted run loses nothing: run the command again. The trail always keeps its newest entry.

Examples:
  $ gatepass audit archive --before 400d --to /var/archive/gatepass
  $ gatepass audit archive --before 2026-01-01 --to /var/archive/gatepass --all --json
  $ gatepass audit verify --archive /var/archive/gatepass/*.audit.jsonl`
