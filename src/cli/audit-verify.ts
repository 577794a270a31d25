import { type Command, InvalidArgumentError } from 'commander'
import type { AuditHead } from '../domain/audit.ts'
import { toTimestamp } from '../domain/clock.ts'
import { loadFeatures } from '../features/load-features.ts'
import type { AuditVerdict } from '../flows/audit/verify-audit.ts'
import { CommandFailure, EXIT } from './failure.ts'
import { dim, MARKS, print, printJson } from './print.ts'
import { refuseServer } from './refuse-server.ts'
import { type CommonOptions, jsonOption, projectOption, type Shell } from './shell.ts'
import type { TrailCheck } from './trail-check.ts'

interface VerifyOptions extends CommonOptions {
  readonly head?: AuditHead
  readonly all?: true
}

interface ProjectVerdict extends AuditVerdict {
  readonly id: string
  readonly name: string
  /** The faults that the chosen checks have found. */
  readonly also: readonly { readonly check: AlsoCheck; readonly faults: readonly string[] }[]
}

type AlsoCheck = Extract<TrailCheck, { readonly kind: 'also' }>

const checksOfFeatures = await loadFeatures('trailCheck')

export function defineVerify(audit: Command, shell: Shell): void {
  const verify = audit
    .command('verify')
    .description('check that no entry of the trail was altered, removed, or cut off')
    .option(
      '--head <seq:hash>',
      'the head of the chain at an earlier time, as this command printed it',
      parseHead,
    )
    .option('--all', 'all projects, not only the one in --project')
    .addOption(projectOption())
    .addOption(jsonOption())
    .addHelpText('after', examples())
    .action(async (options: VerifyOptions) => {
      refuseServer(shell, options, 'audit verify')
      const given = new Map<string, unknown>(Object.entries(options))
      const chosen = checksOfFeatures.filter(({ option }) => given.has(option))
      const also = chosen.filter((check) => check.kind === 'also')
      const instead = chosen.find((check) => check.kind === 'instead')
      if (instead === undefined) return verifyTrails(shell, options, also)
      if (options.all || also.length > 0)
        throw new CommandFailure(
          `--${instead.option} takes the place of the trails: leave ${also.map(({ option }) => `--${option}`)[0] ?? '--all'} out.`,
          EXIT.usage,
        )
      // commander gives an array for an option that takes several values
      return instead.run(shell, given.get(instead.option) as readonly string[], options)
    })
  for (const { flags, description } of checksOfFeatures) verify.option(flags, description)
}

async function verifyTrails(shell: Shell, options: VerifyOptions, also: readonly AlsoCheck[]): Promise<void> {
  if (options.all && options.head !== undefined)
    throw new CommandFailure(
      '--head belongs to one project: name it with --project, and leave out --all.',
      EXIT.usage,
    )
  const [{ withBroker }, { verifyAudit }, { findAlteredRows, nameOfRow }] = await Promise.all([
    import('./with-broker.ts'),
    import('../flows/audit/verify-audit.ts'),
    import('../services/altered-rows.ts'),
  ])
  return withBroker(shell, options, async ({ broker, project }) => {
    const projects = options.all ? await broker.store.projects.list() : [project]
    const verdicts: ProjectVerdict[] = await Promise.all(
      projects.map(async ({ id, name }) => ({
        id,
        name,
        ...(await verifyAudit(broker, id, options.head)),
        also: await Promise.all(
          also.map(async (check) => ({ check, faults: await check.faultsOf(broker, id) })),
        ),
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
            `${MARKS.failed} ${verdict.name}: ${row} was written by a program other than Gatepass and is ignored.`,
          )
      }
    const broken = verdicts.filter(({ faults }) => faults.length > 0).map(({ name }) => name)
    if (broken.length > 0)
      throw new CommandFailure(`The audit trail of ${broken.join(', ')} does not match what was recorded.`)
    for (const check of also)
      if (
        verdicts.some((verdict) =>
          verdict.also.some((found) => found.check === check && found.faults.length > 0),
        )
      )
        throw new CommandFailure(check.failure)
    if (projects.some(({ id }) => rowsOf(id).length > 0))
      throw new CommandFailure('Rows that grant access were written by a program other than Gatepass.')
  })
}

function toWire({ name, entries, head, anchor, faults, also }: ProjectVerdict) {
  return {
    project: name,
    entries,
    ...(head && { head: `${head.lastSeq}:${head.hash}` }),
    ...(anchor && {
      anchor: { seq: anchor.lastSeq, hash: anchor.hash, archived_at: toTimestamp(anchor.at) },
    }),
    faults,
    ...Object.fromEntries(also.map((found) => [found.check.member, found.faults])),
  }
}

function printVerdict({ name, entries, head, anchor, faults, also }: ProjectVerdict): void {
  const end = head ? dim(`  head ${head.lastSeq}:${head.hash}`) : ''
  const begin = anchor
    ? ` Checked from the anchor at entry ${anchor.lastSeq}, up to which everything was archived on ${toTimestamp(anchor.at).slice(0, 10)}.`
    : ''
  if (faults.length === 0) print(`${MARKS.ok} ${name}: ${entries} entries, none altered.${begin}${end}`)
  else print([`${MARKS.failed} ${name}:`, ...faults.map((fault) => `    ${fault}`)].join('\n'))
  for (const fault of also.flatMap((found) => found.faults)) print(`${MARKS.failed} ${name}: ${fault}.`)
}

function parseHead(text: string): AuditHead {
  const [, lastSeq, hash] = /^(\d{1,15}):([\w-]{43})$/.exec(text) ?? []
  if (lastSeq === undefined || hash === undefined)
    throw new InvalidArgumentError('Write it as `gatepass audit verify` printed it: <number>:<hash>.')
  return { lastSeq: Number(lastSeq), hash }
}

const examples = () => `
Examples:
  $ gatepass audit verify --all
  $ gatepass audit verify --head 1042:6mYvT0cVb2Zc0X6zBqk2sVw5f3W4Q1p8u9r7t6y5e4w${checksOfFeatures
    .flatMap(({ example }) => example ?? [])
    .map((command) => `\n  $ ${command}`)
    .join('')}`
