import { type Command, InvalidArgumentError } from 'commander'
import type { AuditHead } from '../domain/audit.ts'
import { toTimestamp } from '../domain/clock.ts'
import type { AuditVerdict } from '../flows/audit/verify-audit.ts'
import { CommandFailure, EXIT } from './failure.ts'
import { dim, MARKS, print, printJson, sanitize } from './print.ts'
import { refuseServer } from './refuse-server.ts'
import { type CommonOptions, jsonOption, projectOption, type Shell } from './shell.ts'

interface VerifyOptions extends CommonOptions {
  readonly head?: AuditHead
  readonly index?: true
  readonly all?: true
  readonly archive?: readonly string[]
}

interface ProjectVerdict extends AuditVerdict {
  readonly id: string
  readonly name: string
  /** The faults of the search index; absent without `--index`. */
  readonly index?: readonly string[]
}

export function defineVerify(audit: Command, shell: Shell): void {
  audit
    .command('verify')
    .description('check that no entry of the trail was altered, removed or cut off')
    .option(
      '--head <seq:hash>',
      'the head of the chain at an earlier time, as this command printed it',
      parseHead,
    )
    .option('--index', 'check too that the search index has every entry')
    .option('--archive <file...>', 'check these archives, and that they join, in place of the trail')
    .option('--all', 'all projects, not only that of --project')
    .addOption(projectOption())
    .addOption(jsonOption())
    .addHelpText('after', EXAMPLES)
    .action(async (options: VerifyOptions) => {
      refuseServer(shell, options, 'audit verify')
      if (options.archive !== undefined) return verifyFiles(shell, options, options.archive)
      return verifyTrails(shell, options)
    })
}

async function verifyTrails(shell: Shell, options: VerifyOptions): Promise<void> {
  if (options.all && options.head !== undefined)
    throw new CommandFailure('--head is of one project: name it with --project, without --all.', EXIT.usage)
  const [{ withBroker }, { verifyAudit }, { verifyIndex }, { findAlteredRows, nameOfRow }] =
    await Promise.all([
      import('./with-broker.ts'),
      import('../flows/audit/verify-audit.ts'),
      import('../flows/audit/verify-index.ts'),
      import('../services/altered-rows.ts'),
    ])
  return withBroker(shell, options, async ({ broker, project }) => {
    const projects = options.all ? await broker.store.projects.list() : [project]
    const verdicts: ProjectVerdict[] = await Promise.all(
      projects.map(async ({ id, name }) => ({
        id,
        name,
        ...(await verifyAudit(broker, id, options.head)),
        ...(options.index && { index: await verifyIndex(broker, id) }),
      })),
    )
    const altered = await findAlteredRows(broker)
    const rowsOf = (id: string) => altered.filter(({ projectId }) => projectId === id).map(nameOfRow)
    if (options.json)
      printJson({
        items: verdicts.map((verdict) => ({ ...toWire(verdict), altered_rows: rowsOf(verdict.id) })),
      })
    else
      for (const verdict of verdicts) {
        printVerdict(verdict)
        for (const row of rowsOf(verdict.id))
          print(
            `${MARKS.failed} ${verdict.name}: ${row} was written by another program than Gatepass, and is ignored.`,
          )
      }
    const broken = verdicts.filter(({ faults }) => faults.length > 0).map(({ name }) => name)
    if (broken.length > 0)
      throw new CommandFailure(`The audit trail of ${broken.join(', ')} does not match what was recorded.`)
    if (verdicts.some(({ index = [] }) => index.length > 0))
      throw new CommandFailure(
        'Searches of the audit trail may miss entries: make the index again with `gatepass audit reindex`.',
      )
    if (projects.some(({ id }) => rowsOf(id).length > 0))
      throw new CommandFailure('Rows that grant access were written by another program than Gatepass.')
  })
}

function toWire({ name, entries, head, anchor, faults, index }: ProjectVerdict) {
  return {
    project: name,
    entries,
    ...(head && { head: `${head.lastSeq}:${head.hash}` }),
    ...(anchor && {
      anchor: { seq: anchor.lastSeq, hash: anchor.hash, archived_at: toTimestamp(anchor.at) },
    }),
    faults,
    ...(index && { index_faults: index }),
  }
}

function printVerdict({ name, entries, head, anchor, faults, index = [] }: ProjectVerdict): void {
  const end = head ? dim(`  head ${head.lastSeq}:${head.hash}`) : ''
  const begin = anchor
    ? ` Checked from the anchor at entry ${anchor.lastSeq}, up to which all was archived on ${toTimestamp(anchor.at).slice(0, 10)}.`
    : ''
  if (faults.length === 0) print(`${MARKS.ok} ${name}: ${entries} entries, none altered.${begin}${end}`)
  else print([`${MARKS.failed} ${name}:`, ...faults.map((fault) => `    ${fault}`)].join('\n'))
  for (const fault of index) print(`${MARKS.failed} ${name}: ${fault}.`)
}

async function verifyFiles(shell: Shell, options: VerifyOptions, files: readonly string[]): Promise<void> {
  if (options.index || options.all)
    throw new CommandFailure('--archive checks archives: leave --index and --all out.', EXIT.usage)
  const [{ withBroker }, { verifyArchives }] = await Promise.all([
    import('./with-broker.ts'),
    import('../flows/audit/verify-archives.ts'),
  ])
  return withBroker(shell, options, async ({ broker }) => {
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
            [`${MARKS.failed} ${sanitize(file)}:`, ...faults.map((one) => `    ${sanitize(one)}`)].join('\n'),
          )
    if (verdicts.some(({ faults }) => faults.length > 0))
      throw new CommandFailure('The archives do not match what was recorded.')
  })
}

function parseHead(text: string): AuditHead {
  const [, lastSeq, hash] = /^(\d{1,15}):([\w-]{43})$/.exec(text) ?? []
  if (lastSeq === undefined || hash === undefined)
    throw new InvalidArgumentError('Write it as `gatepass audit verify` printed it: <number>:<hash>.')
  return { lastSeq: Number(lastSeq), hash }
}

const EXAMPLES = `
Examples:
  $ gatepass audit verify --all
  $ gatepass audit verify --head 1042:6mYvT0cVb2Zc0X6zBqk2sVw5f3W4Q1p8u9r7t6y5e4w
  $ gatepass audit verify --archive /var/archive/gatepass/*.audit.jsonl`
