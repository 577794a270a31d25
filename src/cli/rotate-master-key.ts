import { type Command, InvalidArgumentError } from 'commander'
import { DEFAULT_PROJECT } from '../domain/project.ts'
import { type Rotation, type RotationProgress, rotateMasterKey } from '../flows/rotate-master-key.ts'
import { liveServers } from '../services/sealing-keys.ts'
import type { EnvelopeCount } from '../store/envelopes.ts'
import { CommandFailure } from './failure.ts'
import type { LocalInstallation } from './installation.ts'
import { dim, MARKS, print, printJson, table } from './print.ts'
import { commandLine, jsonOption, type Shell } from './shell.ts'
import { withBroker } from './with-broker.ts'

interface RotateOptions {
  readonly batch: number
  readonly status?: true
  readonly json?: true
}

/** Interval of progress lines where standard error is not a terminal. */
const REPORT_INTERVAL_MS = 10_000

export function defineRotateMasterKey(command: Command, shell: Shell): void {
  command
    .option('--batch <count>', 'how many values to re-encrypt in one transaction', parseBatch, 100)
    .option('--status', 'only show how many values each key encrypts')
    .addOption(jsonOption())
    .addHelpText('after', HELP)
    .action(async (options: RotateOptions) =>
      withBroker(shell, { project: DEFAULT_PROJECT }, (opened) =>
        options.status ? status(shell, opened, options) : rotate(shell, opened, options),
      ),
    )
}

async function rotate(
  shell: Shell,
  { broker, project }: LocalInstallation,
  { batch, json }: RotateOptions,
): Promise<void> {
  const [newest, ...older] = broker.sealer.keyIds
  const interruption = new AbortController()
  const end = () => interruption.abort()
  process.once('SIGINT', end).once('SIGTERM', end)
  const report = progressReporter()
  const started = performance.now()
  const rotation = await rotateMasterKey(broker, {
    batch,
    onProgress: report,
    signal: interruption.signal,
  }).finally(() => {
    process.off('SIGINT', end).off('SIGTERM', end)
    if (process.stderr.isTTY) process.stderr.write('\r\u001b[K')
  })
  const { complete, resealed, unreadable, removableKeys } = rotation
  if (complete && older.length > 0)
    await broker.audit.record(project.id, { action: 'master_key.rotated', subject: newest })
  if (json)
    printJson({
      complete,
      key: newest,
      resealed,
      removable_keys: removableKeys,
      unreadable: unreadable.map(({ context, reason }) => ({
        table: context.table,
        column: context.column,
        row: context.rowId,
        reason,
      })),
    })
  else printResult(rotation, { newest, older, seconds: (performance.now() - started) / 1000 })
  if (!complete)
    throw new CommandFailure(
      interruption.signal.aborted
        ? `Interrupted before everything was sealed with the new key. ${commandLine(shell, 'rotate-key')} continues with the rest.`
        : `Something was sealed with an older key again: a server of an older release, or a command, still uses that key. Restart all servers with key ${newest} in front, then run ${commandLine(shell, 'rotate-key')} again.`,
    )
}

function printResult(
  { complete, resealed, unreadable }: Rotation,
  { newest, older, seconds }: { newest: string; older: readonly string[]; seconds: number },
): void {
  if (resealed === 0 && older.length === 0)
    print(
      `${MARKS.ok} Everything is sealed with the only key (${newest}). To move to a new one, put it in front: GATEPASS_MASTER_KEY=<new>,<old>.`,
    )
  else if (complete)
    print(
      resealed === 0
        ? `${MARKS.ok} Everything is already sealed with key ${newest}.`
        : `${MARKS.ok} ${formatCount(resealed)} re-sealed with key ${newest} (${seconds.toFixed(1)} s).`,
    )
  for (const { context, reason } of unreadable.slice(0, 20))
    print(
      `${MARKS.warning} ${context.table}.${context.column} of ${context.rowId} ${reason === 'altered' ? 'was altered and does not open' : 'is sealed with a key that is not set here'}: not changed.`,
    )
  if (unreadable.length > 20)
    print(`${MARKS.warning} and ${formatCount(unreadable.length - 20)} more (--json lists all).`)
  if (complete && older.length > 0)
    print(
      [
        `Nothing needs ${older.length === 1 ? 'key' : 'the keys'} ${older.join(', ')} anymore: remove ${older.length === 1 ? 'it' : 'them'} from GATEPASS_MASTER_KEY and restart each server.`,
        dim('Keep old keys elsewhere for as long as you keep older backups: only the old keys open those.'),
      ].join('\n'),
    )
}

async function status(shell: Shell, { broker }: LocalInstallation, { json }: RotateOptions): Promise<void> {
  const [newest] = broker.sealer.keyIds
  const counts = await broker.store.envelopes.countByKey()
  const ids = [...new Set([...broker.sealer.keyIds, ...counts.map(({ keyId }) => keyId)])]
  const keys = ids.map((id) => ({
    id,
    role: id === newest ? 'seals' : broker.sealer.keyIds.includes(id) ? 'opens' : 'missing',
    envelopes: sum(counts.filter(({ keyId }) => keyId === id)),
  }))
  const left = sum(counts.filter(({ keyId }) => keyId !== newest))
  const servers = await liveServers(broker.store)
  if (json)
    return printJson({
      complete: left === 0,
      key: newest,
      left,
      keys,
      servers: servers.map(({ name, keyIds }) => ({ name, keys: keyIds })),
    })
  print(
    table(
      ['key', 'here', 'sealed with it'],
      keys.map(({ id, role, envelopes }) => [id, role, formatCount(envelopes)]),
    ),
  )
  if (servers.length > 0) {
    print()
    print(
      table(
        ['running server', 'its keys'],
        servers.map(({ name, keyIds }) => [name, keyIds.join(', ')]),
      ),
    )
  }
  if (left > 0)
    print(
      `\n${MARKS.warning} ${formatCount(left)} to be sealed with key ${newest}: ${commandLine(shell, 'rotate-key')}`,
    )
  else print(`\n${MARKS.ok} Everything is sealed with key ${newest}.`)
}

/** Reports progress on standard error: on a terminal one line that changes, elsewhere a line every ten seconds. */
function progressReporter(): (progress: RotationProgress) => void {
  const started = performance.now()
  let last = started
  return ({ done, total }) => {
    const now = performance.now()
    if (total === 0 || (!process.stderr.isTTY && now - last < REPORT_INTERVAL_MS)) return
    last = now
    const seconds = done === 0 ? undefined : (((now - started) / done) * (total - done)) / 1000
    const eta = seconds === undefined ? '' : `, ${Math.ceil(seconds)} s to go`
    const line = `${formatCount(done)} of ${formatCount(total)} re-sealed (${Math.floor((100 * done) / total)} %${eta})`
    process.stderr.write(process.stderr.isTTY ? `\r\u001b[K${line}` : `${line}\n`)
  }
}

function sum(counts: readonly EnvelopeCount[]): number {
  return counts.reduce((all, { count }) => all + count, 0)
}

function formatCount(count: number): string {
  return count.toLocaleString('en')
}

function parseBatch(text: string): number {
  const count = Number(text)
  if (/^\d+$/.test(text) && count >= 1 && count <= 10_000) return count
  throw new InvalidArgumentError('Give a whole number from 1 to 10000.')
}

const HELP = `
To change the master key without failing any request:
  1. Make a new key: openssl rand -base64 32
  2. Several servers: set GATEPASS_MASTER_KEY=<old>,<new> on each and restart one after another,
     so that all can open what the new key seals. Skip this step if a single server stops before the
     next one starts.
  3. Set GATEPASS_MASTER_KEY=<new>,<old> on each and restart one after another.
  4. Run \`gatepass rotate-key\` once, anywhere, with the same setting. You can stop it and run it again.
     It refuses while a running server does not have the new key first, and names that server.
  5. Set GATEPASS_MASTER_KEY=<new> on each and restart one after another.

Examples:
  $ gatepass rotate-key --status
  $ GATEPASS_MASTER_KEY=file:/etc/gatepass/new,file:/etc/gatepass/old gatepass rotate-key
  $ gatepass rotate-key --batch 20 --json`
