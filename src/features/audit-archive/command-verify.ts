import { CommandFailure } from '../../cli/failure.ts'
import { MARKS, print, printJson, sanitize } from '../../cli/print.ts'
import type { Shell } from '../../cli/shell.ts'
import type { InsteadOptions, TrailCheck } from '../../cli/trail-check.ts'

/** `gatepass audit verify --archive` */
export const archiveCheck: TrailCheck = {
  kind: 'instead',
  option: 'archive',
  flags: '--archive <file...>',
  description: 'check these archives, and that they join up, instead of the trail',
  example: 'gatepass audit verify --archive /var/archive/gatepass/*.audit.jsonl',
  run: verifyFiles,
}

async function verifyFiles(shell: Shell, files: readonly string[], options: InsteadOptions): Promise<void> {
  const { verifyArchives } = await import('./verify-archives.ts')
  return shell.withBroker(shell, options, async ({ broker }) => {
    const verdicts = await verifyArchives(broker, files, options.head)
    if (options.json)
      printJson({
        items: verdicts.map(({ file, project, firstSeq, lastSeq, faults }) => ({
          file,
          ...(project !== undefined && { project, first_seq: firstSeq, last_seq: lastSeq }),
          faults,
        })),
      })
    else
      for (const { file, project = '', firstSeq, lastSeq, faults } of verdicts)
        if (faults.length === 0)
          print(
            `${MARKS.ok} ${sanitize(file)}: entries ${firstSeq} to ${lastSeq} of ${sanitize(project)}, none altered.`,
          )
        else
          print(
            [`${MARKS.failed} ${sanitize(file)}:`, ...faults.map((fault) => `    ${sanitize(fault)}`)].join(
              '\n',
            ),
          )
    if (verdicts.some(({ faults }) => faults.length > 0))
      throw new CommandFailure('The archives do not match what was recorded.')
  })
}
