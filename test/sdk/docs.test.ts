import { spawnSync } from 'node:child_process'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { approve } from '../http/world.ts'
import { onDemand } from '../on-demand/ask.ts'
import { startSdkWorld } from './sdk-world.ts'

// The examples of docs/reference/sdk.md and of the web application's page compile against the built package, by its name, under `strict` and without skipping the
// check of its declarations; the first one runs.

const ROOT = join(import.meta.dirname, '..', '..')
/** Below node_modules, where `@gatepass/sdk` is found and nothing is checked in. */
const FOLDER = join(ROOT, 'node_modules', '.cache', `sdk-docs-${process.pid}`)

/** What the text around the examples introduces. */
const GIVEN: Readonly<Record<string, string>> = {
  gatepass: 'declare const gatepass: Gatepass',
  ada: 'declare const ada: UserGatepass',
  show: 'declare function show(url: string): void',
  redirect: 'declare function redirect(url: string): void',
  authorizationId: 'declare const authorizationId: string',
  sessionUser: 'declare const sessionUser: string',
  flowId: 'declare const flowId: string',
  userId: 'declare const userId: string',
  session: 'declare const session: { authorizationId: string }',
  getSession: 'declare function getSession(): Promise<{ user: string; authorizationId?: string }>',
  APP_URL: 'declare const APP_URL: string',
}

let blocks: { readonly kind: string; readonly code: string }[]

beforeAll(async () => {
  await onDemand('sdk')
  const pages = ['docs/reference/sdk.md', 'examples/web-app/README.md']
  const text = (await Promise.all(pages.map((page) => readFile(join(ROOT, page), 'utf8')))).join('\n')
  blocks = [...text.matchAll(/^```ts(?: (\S+))?\n(.*?)^```$/gms)].map(([, kind = '', code = '']) => ({
    kind,
    code,
  }))
  await mkdir(FOLDER, { recursive: true })
})
afterAll(() => rm(FOLDER, { recursive: true, force: true }))

function withGiven(code: string): string {
  const used = Object.entries(GIVEN).filter(
    ([name]) =>
      new RegExp(`\\b${name}\\b`).test(code) && !new RegExp(`(const|let) \\{? ?${name}\\b`).test(code),
  )
  const isImported = /import \{ Gatepass \}/.test(code)
  const imported = `import { ${isImported ? '' : 'Gatepass, '}type UserGatepass } from '@gatepass/sdk'\n`
  return `${imported}${used.map(([, line]) => `${line}\n`).join('')}${code}\nexport {}\n`
}

test('every example compiles', async () => {
  expect(blocks.length).toBeGreaterThan(20)
  await Promise.all(blocks.map(({ code }, i) => writeFile(join(FOLDER, `block-${i}.ts`), withGiven(code))))
  const compilerOptions = {
    ...{ target: 'es2024', lib: ['es2024', 'dom', 'dom.iterable'], module: 'nodenext', types: ['node'] },
    ...{ strict: true, noUncheckedIndexedAccess: true, exactOptionalPropertyTypes: true },
    ...{ skipLibCheck: false, noEmit: true },
  }
  await writeFile(join(FOLDER, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }))
  const tsc = join(ROOT, 'node_modules', '.bin', 'tsc')
  const { stdout } = spawnSync(tsc, ['--singleThreaded', '-p', FOLDER], { encoding: 'utf8' })
  const ours = stdout.split('\n').filter((line) => /block-|@gatepass|src\/sdk/.test(line))
  expect(ours).toEqual([])
})

test('the first example does the whole job, in fewer than ten lines', async () => {
  const [main] = blocks
  if (main?.kind !== 'main-job') throw new Error('The first example is not the whole job.')
  expect(main.code.trim().split('\n').length).toBeLessThan(10)
  await using world = await startSdkWorld()
  vi.stubEnv('GATEPASS_URL', world.gatepass.url)
  vi.stubEnv('GATEPASS_API_KEY', world.gatepass.apiKey)
  const shown: unknown[] = []
  let approving: Promise<unknown> | undefined
  const log = vi.spyOn(console, 'log').mockImplementation((first, second) => {
    shown.push(first)
    if (first === 'Please approve:') approving = approve(String(second))
  })
  try {
    const file = join(FOLDER, 'main-job.mjs')
    await writeFile(file, main.code.replace('Sandbox_Profile', 'Run_Acts'))
    await import(/* @vite-ignore */ pathToFileURL(file).href)
    await approving
    expect(shown).toEqual([
      'Please approve:',
      expect.objectContaining({ user: 'ada', account: world.as.account.sub }),
    ])
  } finally {
    log.mockRestore()
    vi.unstubAllEnvs()
  }
})
