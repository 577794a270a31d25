import type { Command } from 'commander'
import { loadFeatures } from '../features/load-features.ts'
import { omitted } from '../operations/omitted.ts'
import type { Worker, WorkerAcceptance } from '../sdk/generated/wire.ts'
import { withApi } from './api.ts'
import { CommandFailure, EXIT } from './failure.ts'
import { inputFlags } from './input-flags.ts'
import { outputLines, outputTable } from './output-table.ts'
import { bold, dim, MARKS, print, printJson, sanitize } from './print.ts'
import { promptSecret } from './prompt.ts'
import { readJsonFile } from './read-json-file.ts'
import { type CommonOptions, parseId, type Shell, withCommonOptions } from './shell.ts'
import { printDiff } from './worker-diff.ts'
import type { WorkerOption } from './worker-option.ts'

interface AddOptions extends CommonOptions {
  readonly file?: string
  readonly secret?: true
}

/** The kinds of workers that need only an address. */
const KINDS: readonly WorkerOption[] = [
  {
    kind: 'http',
    description: "a worker that speaks Arcade's protocol (prompts for its secret)",
    address: 'uri',
    secret: 'secret',
    needsSecret: true,
  },
  ...(await loadFeatures('workers')).map(({ type, option }) => ({ kind: type, ...option })),
  { kind: 'mcp', description: 'a remote MCP server', address: 'uri', secret: 'secret' },
  { kind: 'openapi', description: 'an HTTP API, described by its OpenAPI document', address: 'url' },
]
const WITH_SECRET = KINDS.filter(({ secret, needsSecret }) => secret !== undefined && !needsSecret)

const ADD = inputFlags('createWorker', {
  // the argument, and what the address says
  ...omitted('id', 'type', 'enabled'),
})

const ACCEPT = inputFlags('acceptWorkerRequirements', {
  digest: 'accept only what was shown: the digest of `gatepass workers diff`; definitions need it',
  ...omitted('tools'),
})

/** The most definitions that are listed by name. */
const MAX_SHOWN = 20

const WORKERS = outputTable('listWorkers', {
  id: 'id',
  type: 'type',
  http: ['at', addressOf],
  status: 'status',
  sync_error: 'sync error',
  ...omitted('enabled', 'managed', 'synced_at', 'pinning'),
})

const WORKER = outputLines('getWorker', {
  http: ['at', addressOf],
  synced_at: ['last sync', ({ synced_at = '' }) => synced_at],
  sync_error: 'sync error',
  acceptance: ['accepted', ({ acceptance }) => (acceptance === undefined ? '' : acceptedText(acceptance))],
  ...omitted('id', 'type', 'status', 'enabled', 'managed'), // in the heading, or in what it says
})

export function defineWorkers(workers: Command, shell: Shell): void {
  workers.addHelpText('after', EXAMPLES)

  withCommonOptions(workers.command('list', { isDefault: true }).description('list workers'))
    .addHelpText('after', EXAMPLES)
    .action(async (options: CommonOptions) =>
      withApi(shell, options, async (api) => {
        const items = await api.list('listWorkers')
        if (options.json) return printJson({ items })
        if (items.length === 0) return print('No workers.')
        print(WORKERS(items))
      }),
    )

  withCommonOptions(
    workers.command('show').description('show one worker').argument('<id>', "the worker's id", parseId),
  )
    .addHelpText('after', EXAMPLES)
    .action(async (id: string, options: CommonOptions) =>
      withApi(shell, options, async (api) =>
        report(await api.call('getWorker', { params: { id } }), options),
      ),
    )

  const add = ADD.addTo(
    withCommonOptions(
      workers
        .command('add')
        .description('register a worker and read its catalogue')
        .argument('<id>', 'the id of the new worker', parseId),
    ),
  )
  for (const { kind, description } of KINDS) add.option(`--${kind} <url>`, description)
  add
    .option(
      '--secret',
      `for ${WITH_SECRET.map(({ kind }) => `--${kind}`).join(' and ')}: prompt for a secret, or read it from standard input; always done for --http`,
    )
    .option('--file <path>', 'a JSON file with the body of POST /v1/workers, or - for standard input')
    .addHelpText('after', EXAMPLES)
    .action(async (id: string, options: AddOptions) => {
      const body = { ...(await bodyOf(options)), ...ADD.read(options), id }
      return withApi(shell, { ...options, creates: 'database' }, async (api) =>
        report(await api.call('createWorker', { body }), options),
      )
    })

  const accept = withCommonOptions(
    workers
      .command('accept')
      .description('accept the new providers, scopes, secrets, names, and definitions of a registered worker')
      .argument('<id>', "the worker's id", parseId),
  )
  ACCEPT.addTo(accept)
    .addHelpText('after', EXAMPLES)
    .action(async (id: string, options: CommonOptions) =>
      withApi(shell, options, async (api) =>
        report(
          await api.call('acceptWorkerRequirements', { params: { id }, body: ACCEPT.read(options) }),
          options,
        ),
      ),
    )

  withCommonOptions(
    workers
      .command('diff')
      .description('show the definitions of a worker that wait, word by word')
      .argument('<id>', "the worker's id", parseId),
  )
    .addHelpText('after', EXAMPLES)
    .action(async (id: string, options: CommonOptions) =>
      withApi(shell, options, async (api) => {
        const worker = await api.call('getWorker', { params: { id } })
        if (options.json) printJson(worker.acceptance)
        else printDiff(worker)
      }),
    )

  withCommonOptions(
    workers
      .command('delete')
      .description('delete a worker and its tools; imported tools that it ran are kept, without a worker')
      .argument('<id>', "the worker's id", parseId),
  )
    .addHelpText('after', EXAMPLES)
    .action(async (id: string, options: CommonOptions) =>
      withApi(shell, options, async (api) => {
        await api.call('deleteWorker', { params: { id } })
        if (options.json) return printJson({ id, deleted: true })
        print(`${MARKS.ok} ${sanitize(id)} was deleted with its tools.`)
      }),
    )
}

async function bodyOf(options: AddOptions): Promise<Record<string, unknown>> {
  const addresses = options as { readonly [kind: string]: unknown } // one option for each of `KINDS`
  const given = KINDS.filter(({ kind }) => addresses[kind] !== undefined)
  const [first, second] = given
  if (options.file !== undefined && options.secret)
    throw new CommandFailure(
      '--secret needs an address. With --file, the secret comes from the file.',
      EXIT.usage,
    )
  if (options.file !== undefined && first === undefined) return readJsonFile(options.file)
  if (first === undefined || second !== undefined || options.file !== undefined)
    throw new CommandFailure(
      `Give the address of the worker with one of ${KINDS.map(({ kind }) => `--${kind}, `).join('')}--file.`,
      EXIT.usage,
    )
  const { kind, address, secret, needsSecret = false } = first
  if (options.secret && secret === undefined)
    throw new CommandFailure(
      'An HTTP API takes no --secret. Use `gatepass secrets set` for the secrets that its document names.',
      EXIT.usage,
    )
  const asks = secret !== undefined && (needsSecret || options.secret === true)
  return {
    [kind]: {
      [address]: addresses[kind],
      ...(asks && { [secret]: await promptSecret("worker's secret") }),
    },
  }
}

function addressOf(worker: Worker): string {
  const settings = Object.entries(worker).find(([member]) => member === worker.type)?.[1] as
    | Address
    | undefined
  return settings?.uri ?? settings?.url ?? '-'
}

interface Address {
  readonly uri?: string
  readonly url?: string
}

function report(worker: Worker, { json }: CommonOptions): void {
  if (json) {
    printJson(worker)
    return
  }
  const { id, type, status, requirements, sync_error, acceptance } = worker
  const isWell = requirements.met && sync_error === undefined
  print(`${isWell ? MARKS.ok : MARKS.warning} ${bold(sanitize(id))}  ${sanitize(type)}  ${sanitize(status)}`)
  for (const [heading, text] of WORKER(worker)) printLine(heading, sanitize(text))
  const waiting = acceptance?.waiting
  for (const { tool, like, worker: owner } of acceptance?.look_alikes ?? [])
    printLine(
      'look-alike',
      `${MARKS.warning} ${sanitize(tool)} ${dim(`(like ${sanitize(like)} of ${sanitize(owner)})`)}`,
    )
  if (waiting === undefined) return
  if (waiting.providers.length > 0 || waiting.secrets.length > 0)
    printLine('waiting', `${MARKS.warning} ${sanitize(needsText(waiting))}`)
  for (const { name, owner } of waiting.names)
    printLine('name', `${MARKS.warning} ${sanitize(name)} ${dim(ownerText(owner))}`)
  for (const { tool, from } of (acceptance?.changed ?? []).slice(0, MAX_SHOWN))
    printLine('tool', `${MARKS.warning} ${sanitize(tool)} ${dim(from === undefined ? '(new)' : '(changed)')}`)
  const named = sanitize(id)
  printLine(
    '',
    acceptance?.changed === undefined
      ? `→ gatepass workers accept ${named}`
      : `→ gatepass workers diff ${named}`,
  )
}

function printLine(heading: string, text: string): void {
  print(`  ${dim(heading.padEnd(12))}  ${text}`)
}

function acceptedText({ accepted, automatic }: WorkerAcceptance): string {
  return `${needsText(accepted)}${automatic ? ' (automatically)' : ''}`
}

function ownerText(owner: string | undefined): string {
  return owner === undefined ? '(new, found by its full id alone)' : `(belongs to ${sanitize(owner)})`
}

function needsText({ providers, secrets }: WorkerAcceptance['accepted']): string {
  const parts = [
    ...providers.map(({ id, scopes }) => `${id}${scopes.length > 0 ? ` (${scopes.join(' ')})` : ''}`),
    ...secrets.map((key) => `secret ${key}`),
  ]
  return parts.join(', ') || 'nothing'
}

const EXAMPLES = `
Examples:
  $ gatepass workers
  $ printf '%s' "$WORKER_SECRET" | gatepass workers add my-worker --http https://tools.example.com
  $ gatepass workers add github-mcp --mcp https://api.githubcopilot.com/mcp/
  $ gatepass workers accept my-worker
  $ gatepass workers diff github-mcp
  $ gatepass workers delete my-worker --json`
