import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  globSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { onDemand } from '../on-demand/ask.ts'
import { freePort } from '../ports.ts'
import { programPath } from '../served.ts'
import { until } from '../until.ts'
import { UserAgent } from '../user-agent.ts'

// The quickstarts of docs/start/, as their readers follow them: their commands are pasted into a shell in order, their
// programs are written into files, and every link that is printed is opened and approved.

/** What a reader of each page has seen at its end. agent-builder.md has a test of its own: test/cli/start.test.ts. */
const PAGES: Readonly<Record<string, readonly string[]>> = {
  'application-developer': ['Please open', '"name":"Ada Lovelace"', 'sandbox'],
  'coming-from': ['Sandbox_Profile', '1 row (nango): 1 created', '"input_schema"'],
  'mcp-user': ['claude mcp add', 'Hello Ada Lovelace', '/me'],
  operator: ['{"ready":true}', 'gp_', 'none altered'],
  python: ['Please approve', 'Good morning Ada Lovelace', "'name': 'Ada Lovelace'"],
  'security-reviewer': [
    'The token is not in the database.',
    'Hello Ada Lovelace',
    'token.released',
    'none altered',
  ],
  'tool-author': ['requires_authorization', 'Hello, Ada Lovelace!'],
}
const MOST_WORDS = 600
/** The port in the pages. */
const PORT = '8400'

const ended: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ended.splice(0).reverse()) await end()
})

const pathOf = (page: string) => `docs/start/${page}.md`

test('each has a row here or a test of its own, and at most 600 words', () => {
  const pages = globSync('docs/start/*.md')
  expect(pages.sort()).toEqual([...Object.keys(PAGES), 'agent-builder'].map(pathOf).sort())
  for (const page of pages)
    expect(readFileSync(page, 'utf8').split(/\s+/).length, page).toBeLessThan(MOST_WORDS)
})

/** Guides whose commands are pasted too. */
const GUIDES: Readonly<Record<string, readonly string[]>> = {
  'docs/guides/approvals.md': [
    '/approve/appr_',
    'Good morning Ada Lovelace',
    'asked by',
    'Good night',
    'ada denied this call. Not at night.',
    'approval.approved',
    'approval.denied',
  ],
}

const WALKS = [
  ...Object.entries(PAGES).map(([page, seen]) => [pathOf(page), seen] as const),
  ...Object.entries(GUIDES),
]

describe.each(WALKS)('%s', (page, seen) => {
  test('its commands and programs do what it says', async () => {
    const port = String(await freePort())
    const printed = await follow(readFileSync(page, 'utf8').replaceAll(PORT, port), port)
    for (const text of seen) expect(printed).toContain(text)
  })
})

/** Follows a page in a folder that has what a clone has; returns what the reader's terminal has shown. */
async function follow(page: string, port: string): Promise<string> {
  const folder = await likeAClone(port)
  const shell = await openShell(folder, port)
  let isRunning = false
  for (const [, language = '', text = ''] of page.matchAll(/^```(\w+)\n([\s\S]*?)^```/gm)) {
    const [, file] = /^\/\/ (\S+\.ts)\n/.exec(text) ?? []
    if (language === 'ts' && file !== undefined) writeFileSync(join(folder, file), text)
    if (language !== 'sh') continue
    // a page that goes on from a running Gatepass begins like the others
    if (!isRunning && text.includes('gatepass.db.api-key')) await shell.paste('npm start\n')
    isRunning ||= /npm start|gatepass.db.api-key/.test(text)
    await shell.paste(text)
  }
  return shell.printed()
}

async function likeAClone(port: string): Promise<string> {
  await onDemand('sdk')
  const folder = mkdtempSync(join(tmpdir(), 'gatepass-quickstart-'))
  ended.push(() => rmSync(folder, { recursive: true }))
  const { name, exports } = JSON.parse(readFileSync('package.json', 'utf8'))
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name, exports, type: 'module' }))
  for (const part of ['bin', 'node_modules', 'src']) symlinkSync(resolve(part), join(folder, part))
  cpSync('examples', join(folder, 'examples'), { recursive: true })
  const sample = join(folder, 'examples/sandbox-profile.json')
  writeFileSync(sample, readFileSync(sample, 'utf8').replaceAll(PORT, port))
  return folder
}

/** Commands of the pages that run until they are stopped, and how a reader knows that each is ready. */
const STAYING: readonly [command: RegExp, isReady: (seen: Seen) => Promise<boolean> | boolean][] = [
  [
    /^npm start$/m,
    ({ folder, port }) =>
      existsSync(join(folder, 'gatepass.db.api-key')) && answers(`http://localhost:${port}`),
  ],
  [/^gatepass serve$/m, ({ port }) => answers(`http://localhost:${port}`)],
  [/tools dev \S+$/m, ({ shown }) => shown.includes('who_am_i')],
]

interface Seen {
  readonly folder: string
  readonly port: string
  /** What the command has printed. */
  readonly shown: string
}

const answers = (url: string): Promise<boolean> =>
  fetch(`${url}/ready`).then(
    ({ ok }) => ok,
    () => false,
  )

/** One bash in which blocks are pasted one after another. */
async function openShell(folder: string, port: string) {
  const program = await programPath()
  const child = spawn('bash', ['-uo', 'pipefail'], {
    cwd: folder,
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
    env: {
      PATH: process.env.PATH,
      HOME: folder,
      GATEPASS_PORT: port,
      GATEPASS_DATABASE_URL: `file:${join(folder, 'gatepass.db')}`,
    },
  })
  ended.push(() => stop(child))
  let printed = ''
  const opened = new Map<string, Promise<void>>()
  const read = (text: string) => {
    printed += text
    for (const [link, page] of printed.matchAll(
      /http:\/\/localhost:\d+\/(connect|approve)\/[\w.-]+(?=["\s])/g,
    ))
      if (!opened.has(link)) opened.set(link, page === 'approve' ? approveCall(link) : approveAtSandbox(link))
  }
  child.stdout.setEncoding('utf8').on('data', read)
  child.stderr.setEncoding('utf8').on('data', read)
  // `npm` runs the programs of this checkout: installing it and starting npm itself is not what these pages are about
  child.stdin.write(`npm() {
    case "$*" in
      ci | test* | 'run packages' | 'run mutants'*) ;;
      start) '${process.execPath}' '${program}' dev ;;
      'run -s gatepass -- '*) shift 4; '${process.execPath}' '${program}' "$@" ;;
      'exec -- node '*) shift 3; '${process.execPath}' "$@" ;;
      *) echo "npm $*: not a command of a quickstart" >&2; exit 1 ;;
    esac
  }\n`)
  return {
    printed: () => printed,
    async paste(block: string) {
      const from = printed.length
      const [stays, isReady] = STAYING.find(([command]) => command.test(block)) ?? []
      if (stays !== undefined && isReady !== undefined) {
        child.stdin.write(block.replace(stays, (command) => `${command} &`))
        await until(() => isReady({ folder, port, shown: printed.slice(from) }))
        return
      }
      const done = randomUUID()
      // a block whose last command fails ends the walk
      child.stdin.write(`${block}\necho "${done}:$?:"\n`)
      await until(() => printed.includes(`${done}:`) || child.exitCode !== null)
      await Promise.all(opened.values())
      const [, code] = new RegExp(`${done}:(\\d+):`).exec(printed) ?? []
      expect(code, `${block}\n${printed.slice(from)}`).toBe('0')
      printed = printed.replace(`${done}:0:\n`, '')
    },
  }
}

async function approveAtSandbox(link: string): Promise<void> {
  const browser = new UserAgent()
  const consent = await browser.submitForm(await browser.get(link))
  await browser.submitForm(consent, { decision: 'allow' })
}

async function approveCall(link: string): Promise<void> {
  const browser = new UserAgent()
  const page = await browser.submitForm(await browser.follow(link), { user_id: 'ada' })
  await browser.submitForm(page, {}, { button: 'approve' })
}

/** Ends the shell and what it has started, which are one group of processes. */
async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.pid === undefined) return
  const exit = once(child, 'exit')
  process.kill(-child.pid, 'SIGTERM')
  child.stdin?.end()
  await exit
}
