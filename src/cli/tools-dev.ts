import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { createServer } from 'node:net'
import { basename, extname, resolve } from 'node:path'
import type { Command } from 'commander'
import { InvalidArgumentError } from 'commander'
import { readDevelopmentKey } from '../development-key.ts'
import type { ToolDefinition, Worker } from '../sdk/generated/wire.ts'
import { readDatabase } from '../settings/database.ts'
import { toolsPorts } from '../settings/tools-ports.ts'
import { type Api, withApi } from './api.ts'
import { exampleInput } from './example-input.ts'
import { CommandFailure, EXIT } from './failure.ts'
import { bold, dim, MARKS, print, sanitize } from './print.ts'
import { commandLine, inSingleQuotes, parseId, type Shell } from './shell.ts'
import type { ServedTool } from './tools-dev-messages.ts'
import { type Report, runTools } from './tools-dev-run.ts'

interface DevOptions {
  readonly url?: string
  readonly key?: string
  readonly id?: string
  readonly port?: number
}

export function defineToolsDev(tools: Command, shell: Shell): void {
  tools
    .command('dev')
    .description('run a file of tools, reload it on changes, and register it with a local Gatepass')
    .argument('<file>', 'a module whose default export is a ToolApp', parseId)
    .option('--url <url>', 'the Gatepass (default: GATEPASS_URL, else the one of `gatepass dev` here)')
    .option('--key <key>', 'its API key (default: GATEPASS_API_KEY, else the one of `gatepass dev` here)')
    .option('--id <id>', "the worker's id (default: dev- followed by the name of the file)", parseId)
    .option(
      '--port <port>',
      'where to serve the tools (default: one of the three ports after Gatepass’s)',
      parsePort,
    )
    .addHelpText('after', EXAMPLES)
    .action(async (path: string, options: DevOptions) => {
      const file = resolve(path)
      if (!existsSync(file)) throw new CommandFailure(`There is no file ${path}.`, EXIT.notFound)
      const { url, key, keyLine } = gatepassOf(shell, options)
      const port = await freePort(options.port, url)
      await withApi(shell, { url, key }, (api) =>
        serveFile(api, shell, { ...options, file, port, url, key, keyLine }),
      )
    })
}

interface Served extends Pick<DevOptions, 'id'> {
  readonly file: string
  readonly port: number
  readonly url: string
  readonly key: string
  /** The line for the shell that sets `$GATEPASS_API_KEY`, which the printed calls use. */
  readonly keyLine: string
}

async function serveFile(api: Api, shell: Shell, served: Served): Promise<void> {
  const { file, port, url, key } = served
  const id = served.id ?? `dev-${basename(file, extname(file)).replaceAll(/[^A-Za-z0-9_.-]/g, '_')}`
  const secret = randomBytes(32).toString('base64url')
  await checkGatepass(api, url)
  let isRegistered = false
  let shown = ''
  const failed = Promise.withResolvers<never>()

  async function report(report: Report): Promise<void> {
    if (report.kind === 'changed') return printProgress(dim(`${report.file} has changed.`))
    if (report.kind === 'fault')
      return printProgress(`${MARKS.failed} ${basename(file)} cannot be served: ${oneLine(report.message)}`)
    const worker = await register(api, id, { uri: `http://127.0.0.1:${port}`, secret }, isRegistered)
    if (!isRegistered)
      print(
        `${MARKS.ok} ${bold(sanitize(report.app))} is served at http://127.0.0.1:${port}, and is the worker ${id} of ${url}. Ctrl+C ends both.\n\n${served.keyLine}`,
      )
    isRegistered = true
    if (worker.sync_error !== undefined) printProgress(`${MARKS.warning} ${sanitize(worker.sync_error)}`)
    for (const { name, owner = '' } of takenNames(worker))
      printProgress(
        `${MARKS.warning} The name ${sanitize(name)} belongs to ${sanitize(owner)}, so the tool is found by its full id alone: give it another name, or take the name with ${commandLine(shell, 'workers', 'accept', id)}`,
      )
    const text = await describe(api, shell, id, url, report.tools)
    print(text === shown ? `\n${MARKS.ok} Reloaded; the calls above still apply.` : text)
    shown = text
  }

  // so that `new Gatepass()` in the file reaches the Gatepass that calls the tools
  const environment = { ...shell.environment, GATEPASS_URL: url, GATEPASS_API_KEY: key }
  // reports are handled one after another
  let last = Promise.resolve()
  const running = runTools({ file, port, secret }, environment, (finished) => {
    last = last.then(() => report(finished)).catch(failed.reject)
  })
  try {
    await Promise.race([signalled(), failed.promise])
  } finally {
    await running.close()
    await last
    if (isRegistered) await deleteWorker(api, id, url)
  }
}

async function deleteWorker(api: Api, id: string, url: string): Promise<void> {
  try {
    await api.find('deleteWorker', { params: { id } })
    printProgress(`${id} is deleted from ${url}.`)
  } catch (error) {
    if (!(error instanceof CommandFailure)) throw error
    printProgress(`${MARKS.warning} ${id} could not be deleted from ${url}: ${error.message}`)
  }
}

/**
 * Registers the worker, or makes Gatepass read its catalogue again. New requirements are accepted, unless names of other
 * sources wait with them: those would lose them.
 */
async function register(
  api: Api,
  id: string,
  http: { readonly uri: string; readonly secret: string },
  isRegistered: boolean,
): Promise<Worker> {
  const params = { id }
  if (!isRegistered) {
    const known = await api.find('getWorker', { params })
    if (known === undefined) return api.call('createWorker', { body: { id, http } })
    if (!/^http:\/\/127\.0\.0\.1:/.test(known.http?.uri ?? ''))
      throw new CommandFailure(`A worker named ${id} already exists. Choose another id with --id.`)
  }
  const worker = await api.call('updateWorker', { params, body: { http } })
  if (worker.acceptance.waiting === undefined || takenNames(worker).length > 0) return worker
  return api.call('acceptWorkerRequirements', { params, body: {} })
}

/** The names of the worker's tools that belong to another source. */
function takenNames({ acceptance }: Worker) {
  return (acceptance.waiting?.names ?? []).filter(({ owner }) => owner !== undefined)
}

/** Describes each tool: its missing requirements, and a command that calls it. */
async function describe(
  api: Api,
  shell: Shell,
  id: string,
  url: string,
  served: readonly ServedTool[],
): Promise<string> {
  const tools = await api.list('listWorkerTools', { params: { id } })
  const schemas = new Map(served.map(({ name, inputSchema }) => [name.toLowerCase(), inputSchema]))
  return tools
    .map((tool) => {
      const input = exampleInput(schemas.get(tool.name.toLowerCase()))
      const body = JSON.stringify({ tool_name: tool.qualified_name, user_id: 'ada', input })
      const call = `curl -s ${url}/v1/tools/execute -H "Authorization: Bearer $GATEPASS_API_KEY" -H 'content-type: application/json' -d ${inSingleQuotes(body)}`
      return [
        `\n${bold(sanitize(tool.qualified_name))}  ${sanitize(tool.description)}`,
        ...needsOf(shell, tool).map((need) => `${MARKS.warning} ${need}`),
        sanitize(call),
      ].join('\n')
    })
    .join('\n')
}

/** The missing requirements of a tool, with the commands that set them up. */
function needsOf(shell: Shell, { requirements }: ToolDefinition): string[] {
  const { authorization, authorizations, secrets } = requirements
  const providers = authorizations ?? (authorization === undefined ? [] : [authorization])
  return [
    ...providers
      .filter(({ status }) => status === 'inactive')
      .map(({ id, provider_id }) => {
        const name = sanitize(id ?? provider_id ?? '')
        return `It needs the provider ${name}: ${commandLine(shell, 'providers', 'set', name)}`
      }),
    ...secrets
      .filter(({ met }) => met === false)
      .map(({ key }) => `It needs the secret ${sanitize(key)}: ${commandLine(shell, 'secrets', 'set', key)}`),
  ]
}

/** Finds the Gatepass to register with, and an API key for it. Throws `CommandFailure` if no key is found. */
function gatepassOf(
  { environment }: Shell,
  { url, key }: DevOptions,
): { readonly url: string; readonly key: string; readonly keyLine: string } {
  const setting = (name: string) => environment[`GATEPASS_${name}`]?.trim() || undefined
  const database = readDatabase(setting('DATABASE_URL') ?? 'file:gatepass.db', () => undefined)
  const found = key ?? setting('API_KEY') ?? readDevelopmentKey(database)
  const server = url ?? setting('URL') ?? `http://localhost:${setting('PORT') ?? DEFAULT_PORT}`
  // `gatepass dev` shows the development key too; other keys must not get into logs
  const keyLine =
    key !== undefined
      ? 'export GATEPASS_API_KEY=<the key of --key>'
      : setting('API_KEY') !== undefined
        ? 'export GATEPASS_API_KEY=<its value in this terminal>'
        : `export GATEPASS_API_KEY='${found}'`
  if (found !== undefined) return { url: server.replace(/\/$/, ''), key: found, keyLine }
  throw new CommandFailure(
    'No API key: start `gatepass dev` in this folder, or give --key (GATEPASS_API_KEY) with --url.',
    EXIT.usage,
  )
}

const DEFAULT_PORT = 8400

async function checkGatepass(api: Api, url: string): Promise<void> {
  await api.call('listWorkers', { query: { limit: 1 } }).catch((error: unknown) => {
    if (!(error instanceof CommandFailure) || error.exitCode !== EXIT.unreachable) throw error
    throw new CommandFailure(
      `No Gatepass answers at ${url}. Start one with \`gatepass dev\` in another terminal, or name it with --url.`,
      EXIT.unreachable,
    )
  })
}

async function freePort(wanted: number | undefined, url: string): Promise<number> {
  const gatepass = URL.canParse(url) ? Number(new URL(url).port || DEFAULT_PORT) : DEFAULT_PORT
  const candidates = wanted === undefined ? toolsPorts(gatepass) : [wanted]
  for (const port of candidates) if (await isFree(port)) return port
  throw new CommandFailure(
    wanted === undefined
      ? `The ports ${candidates.join(', ')} are all in use. Choose another with --port, and allow Gatepass to reach it: GATEPASS_ALLOWED_HOSTS=127.0.0.1:<port>.`
      : `The port ${wanted} is already in use.`,
  )
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}

function signalled(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve())
  })
}

/** Prints progress to standard error, so that standard output has only what can be pasted. */
function printProgress(text: string): void {
  process.stderr.write(`${text}\n`)
}

function oneLine(text: string): string {
  return sanitize(text).slice(0, 500)
}

function parsePort(text: string): number {
  const port = Number(text)
  if (/^\d+$/.test(text) && port >= 1 && port <= 65_535) return port
  throw new InvalidArgumentError('Give a port from 1 to 65535.')
}

const EXAMPLES = `
Ctrl+C ends it and deletes its worker. After a crash the worker stays, and the next start takes it over.

Examples:
  $ gatepass tools dev ./hub.ts
  $ gatepass tools dev ./hub.ts --id hub --port 8402
  $ gatepass tools dev ./hub.ts --url http://localhost:8400 --key "$GATEPASS_API_KEY"`
