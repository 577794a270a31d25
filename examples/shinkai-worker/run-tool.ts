import { spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { copyFile, mkdtemp, readdir, readFile, realpath, rm, rmdir, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createdFiles } from './created-files.ts'
import { type DenoCache, denoCache } from './deno-cache.ts'

/** The files of a Shinkai tool. */
export interface ToolFolder {
  readonly folder: string
  /** `tool.ts` or `tool.py`. */
  readonly code: string
  readonly metadata: {
    readonly name: string
    readonly description?: string
    readonly parameters?: { properties?: Record<string, Property>; required?: string[] }
    readonly configurations?: { properties?: Record<string, Property> }
    readonly oauth?: readonly { readonly name: string }[] | null
  }
  /** The operator's configuration of the tool, which contains no secrets: `config.json` in its folder. */
  readonly config: Record<string, unknown>
}

interface Property {
  readonly type?: unknown
  readonly default?: unknown
  readonly description?: string
}

/** The context of a call from Gatepass: tokens in the order of the tool's `oauth` entries, and the tool's secrets. */
export interface CallContext {
  readonly authorization?: Authorization
  readonly authorizations?: readonly Authorization[]
  readonly secrets?: readonly { readonly key: string; readonly value: string }[]
}

interface Authorization {
  readonly token: string
  readonly provider_id?: string
  readonly expires_at?: string
}

interface Log {
  readonly level: 'info' | 'error'
  message: string
}

export type ToolRun =
  | { readonly outcome: 'value'; readonly value: unknown; readonly logs: readonly Log[] }
  | { readonly outcome: 'error'; readonly message: string; readonly logs: readonly Log[] }

const TIMEOUT_MS = Number(process.env.TOOL_TIMEOUT_MS ?? 60_000)
const MAX_RESULT_BYTES = 2 * 1024 * 1024
const MAX_LOG_BYTES = 32 * 1024
const RUNTIME = join(import.meta.dirname, 'runtime')
const MAIN = join(RUNTIME, 'main.mjs')

/** The operator's folder in which the homes of tools are kept; without it a home is deleted after the run. */
const HOMES = process.env.TOOL_HOMES
/** Whether Deno runs the tools in TypeScript. */
const usesDeno =
  process.env.TOOL_RUNTIME !== 'node' && spawnSync('deno', ['--version'], { stdio: 'ignore' }).status === 0

/**
 * Runs the tool in its own process and in its own directory, which is deleted afterwards. Tokens and secrets are
 * passed on standard input, not by arguments or by the environment, which other processes can read. The result is
 * returned in a file, so the tool's output cannot imitate it. The files that it wrote into its home are added to a result
 * that is an object, as `__created_files__`.
 */
export async function runTool(
  tool: ToolFolder,
  parameters: Record<string, unknown>,
  context: CallContext,
  signal?: AbortSignal,
): Promise<ToolRun> {
  const directory = await realpath(await mkdtemp(join(tmpdir(), 'shinkai-')))
  await using deno = usesDeno && tool.code === 'tool.ts' ? await denoCache() : undefined
  let home: string | undefined
  try {
    home = await homeIn(HOMES ?? directory, tool)
    const result = join(directory, 'result.json')
    await placeCode(tool, directory)
    const input = {
      tool: join(directory, tool.code),
      result,
      config: configOf(tool, context),
      parameters,
      environment: {
        SHINKAI_HOME: home,
        SHINKAI_MOUNT: '',
        SHINKAI_ASSETS: (await assetsOf(tool)).join(','),
        SHINKAI_NODE_LOCATION: '',
        SHINKAI_OAUTH: JSON.stringify(oauthOf(tool, context)),
      },
    }
    const { logs, end } = await runProcess(
      commandOf(tool, { directory, home, deno }),
      { directory, home, deno },
      JSON.stringify(input),
      signal,
    )
    if (end !== undefined) return { outcome: 'error', message: end, logs }
    return { ...(await withFiles(await readResult(result), home)), logs }
  } finally {
    if (home !== undefined) await rmdir(home).catch(() => {}) // one that has files is kept
    await rm(directory, { recursive: true, force: true })
  }
}

/** Where one run works. */
interface Place {
  /** The run's own, with the code and the result. */
  readonly directory: string
  readonly home: string
  readonly deno: DenoCache | undefined
}

/** A new folder for what the tool writes, which no other run gets. */
async function homeIn(folder: string, { metadata }: ToolFolder): Promise<string> {
  const name = metadata.name.replaceAll(/[^A-Za-z0-9_-]+/g, '_').slice(0, 60)
  return realpath(await mkdtemp(join(folder, `${name}-`)))
}

type Result = { outcome: 'value'; value: unknown } | { outcome: 'error'; message: string }

/** The result with the files that the tool wrote: their folder is deleted, or is on another machine than the caller. */
async function withFiles(result: Result, home: string): Promise<Result> {
  if (result.outcome === 'error') return result
  const { value } = result
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return result
  const files = await createdFiles(home)
  return files.length === 0 ? result : { ...result, value: { ...value, __created_files__: files } }
}

/** Copies the tool's code and the modules that Shinkai provides next to it. */
async function placeCode({ folder, code }: ToolFolder, directory: string): Promise<void> {
  await copyFile(join(folder, code), join(directory, code))
  if (code === 'tool.py') {
    for (const name of ['shinkai_local_support.py', 'shinkai_local_tools.py'])
      await copyFile(join(RUNTIME, name), join(directory, name))
    return
  }
  await copyFile(join(RUNTIME, 'shinkai-local-support.ts'), join(directory, 'shinkai-local-support.ts'))
  if (!usesDeno) await writeFile(join(directory, 'package.json'), '{"type": "module"}')
  // other Shinkai tools are not available, so each imported one becomes a stub that throws when it is called
  const source = await readFile(join(folder, code), 'utf8')
  const plain = await transformed(source)
  if (plain !== undefined) await writeFile(join(directory, code), plain)
  const [, names = ''] =
    /import\s*\{([^}]*)\}\s*from\s*['"]\.\/shinkai-local-tools\.ts['"]/.exec(source) ?? []
  const stubs = names
    .split(',')
    .map((one) => one.trim().split(/\s+as\s+/)[0] ?? '')
    .filter((one) => /^[A-Za-z_$][\w$]*$/.test(one))
    .map(
      (one) =>
        `export async function ${one}() { throw new Error('The Shinkai tool ${one} is not available here.') }`,
    )
  await writeFile(join(directory, 'shinkai-local-tools.ts'), `${stubs.join('\n')}\n`)
}

/** The code as JavaScript, by esbuild if it is installed: Node only strips types, and does not run enums and the like. */
async function transformed(source: string): Promise<string | undefined> {
  if (usesDeno) return undefined
  const name = 'esbuild'
  const esbuild: typeof import('esbuild') | undefined = await import(name).catch(() => undefined)
  const made = await esbuild?.transform(source, { loader: 'ts', format: 'esm' }).catch(() => undefined)
  return made?.code
}

function commandOf({ code, folder }: ToolFolder, { directory, home, deno }: Place): string[] {
  if (code === 'tool.py') return ['python3', '-I', join(RUNTIME, 'main.py')]
  const readable = [directory, home, RUNTIME, join(folder, 'assets')]
  if (deno !== undefined)
    return [
      // a package.json in a folder above, such as a checkout's, would turn `npm:` imports to its own node_modules
      ...[
        'deno',
        'run',
        '--no-config',
        '--no-prompt',
        '--quiet',
        '--allow-net',
        '--allow-env',
        '--allow-sys',
      ],
      `--allow-read=${[...readable, ...deno.readable].join(',')}`,
      `--allow-write=${directory},${home}`,
      MAIN,
    ]
  const modules = join(process.cwd(), 'node_modules')
  const flags = ['--disable-warning=ExperimentalWarning', '--allow-net']
  return [
    process.execPath,
    ...flags.filter((one) => process.allowedNodeEnvironmentFlags.has(one.split('=')[0] ?? '')),
    '--permission',
    ...[...readable, modules].filter((one) => existsSync(one)).map((one) => `--allow-fs-read=${one}`),
    ...[directory, home].map((one) => `--allow-fs-write=${one}`),
    MAIN,
    modules,
  ]
}

/** Runs the process and returns its output, and why it gave no result. Kills the whole process group at the end. */
function runProcess(
  [command = '', ...args]: readonly string[],
  { directory, home, deno }: Place,
  input: string,
  signal: AbortSignal | undefined,
): Promise<{ readonly logs: Log[]; readonly end?: string }> {
  const { promise, resolve } = Promise.withResolvers<{ readonly logs: Log[]; readonly end?: string }>()
  const { PATH = '', SSL_CERT_FILE, NODE_EXTRA_CA_CERTS, NPM_CONFIG_REGISTRY } = process.env
  const child = spawn(command, args, {
    cwd: directory,
    detached: true,
    env: {
      PATH,
      HOME: home,
      ...(deno && { DENO_DIR: deno.directory }),
      ...(NPM_CONFIG_REGISTRY && { NPM_CONFIG_REGISTRY }),
      ...(SSL_CERT_FILE && { SSL_CERT_FILE }),
      ...(NODE_EXTRA_CA_CERTS && { NODE_EXTRA_CA_CERTS }),
    },
  })
  const logs: Log[] = []
  let size = 0
  let end: string | undefined
  const stop = (why: string) => {
    end ??= why
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    } catch {
      // the process has already ended
    }
  }
  const timer = setTimeout(
    () => stop(`The tool did not end within ${TIMEOUT_MS / 1000} seconds.`),
    TIMEOUT_MS,
  )
  const giveUp = () => stop('The caller cancelled the call.')
  signal?.addEventListener('abort', giveUp, { once: true })
  // the system may deliver each line as a chunk of its own: what follows on the same stream belongs to the same log
  const keep = (level: Log['level']) => (chunk: Buffer) => {
    const text = chunk.subarray(0, Math.max(0, MAX_LOG_BYTES - size)).toString()
    size += chunk.length
    const last = logs.at(-1)
    if (last?.level === level) last.message += text
    else if (text !== '') logs.push({ level, message: text })
  }
  child.stdout.on('data', keep('info'))
  child.stderr.on('data', keep('error'))
  child.on('error', () => stop(`${command} cannot be started here.`))
  child.stdin.on('error', () => {}) // the process may end before it has read all input
  child.stdin.end(input)
  child.on('close', (code) => {
    clearTimeout(timer)
    signal?.removeEventListener('abort', giveUp)
    stop(code === 0 ? '' : `The tool ended with ${code === null ? 'a signal' : `the code ${code}`}.`)
    const trimmed = logs.map(({ level, message }) => ({ level, message: message.trimEnd() }))
    resolve({ logs: trimmed.filter(({ message }) => message !== ''), ...(end && { end }) })
  })
  return promise
}

async function readResult(path: string): Promise<Result> {
  const found = await stat(path).catch(() => undefined)
  if (found === undefined) return { outcome: 'error', message: 'The tool ended without a result.' }
  if (found.size > MAX_RESULT_BYTES)
    return { outcome: 'error', message: `The tool answered more than ${MAX_RESULT_BYTES} bytes.` }
  const result = JSON.parse(await readFile(path, 'utf8'))
  return 'error' in result
    ? { outcome: 'error', message: String(result.error) }
    : { outcome: 'value', value: result.value }
}

/**
 * The tool's configuration: defaults, overridden by the operator's values, overridden by secrets, whose keys are
 * derived from configuration keys.
 */
function configOf({ metadata, config }: ToolFolder, { secrets = [] }: CallContext): Record<string, unknown> {
  const properties = Object.entries(metadata.configurations?.properties ?? {})
  const known = new Map(secrets.map(({ key, value }) => [key, value]))
  const defaults = properties.flatMap(([key, one]) => (one.default === undefined ? [] : [[key, one.default]]))
  const given = properties.flatMap(([key]) => {
    const value = known.get(secretKey(key))
    return value === undefined ? [] : [[key, value]]
  })
  return { ...Object.fromEntries(defaults), ...config, ...Object.fromEntries(given) }
}

/** The key of the secret for a configuration key, as Gatepass derives it: `apiKey` and `api_key` become `API_KEY`. */
function secretKey(key: string): string {
  const words = key.split(/(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[^A-Za-z0-9]+/)
  return words.filter(Boolean).join('_').toUpperCase()
}

/** Builds `SHINKAI_OAUTH`: the tokens by the names of the tool's own entries. */
function oauthOf({ metadata }: ToolFolder, context: CallContext) {
  const { authorization, authorizations = authorization ? [authorization] : [] } = context
  const entries = metadata.oauth ?? []
  const plain = (text: string) => text.toLowerCase().replaceAll(/[^a-z0-9]/g, '')
  return entries.flatMap(({ name }, index) => {
    const found =
      entries.length === authorizations.length
        ? authorizations[index]
        : authorizations.find(({ provider_id = '' }) => plain(provider_id).startsWith(plain(name)))
    if (found === undefined) return []
    return [{ name, version: '2.0', accessToken: found.token, expiresAt: found.expires_at ?? null }]
  })
}

async function assetsOf({ folder }: ToolFolder): Promise<string[]> {
  const names = await readdir(join(folder, 'assets')).catch(() => [])
  return names.map((name) => join(folder, 'assets', name))
}
