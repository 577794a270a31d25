import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import sparticuz, { inflate } from '@sparticuz/chromium'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'

/**
 * Chromium comes packed in an npm package; it is unpacked once per checkout. Not all the flags that the package
 * proposes are taken: they switch web security off, which is what these tests are about.
 */
export async function openBrowser({ args = [] as readonly string[] } = {}): Promise<Browser> {
  const folder = await unpacked()
  await configureFonts(join(folder, 'fonts'))
  return chromium.launch({
    executablePath: join(folder, 'chromium'),
    args: [
      ...args,
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--disable-domain-reliability',
      '--no-pings',
      '--no-proxy-server',
      '--font-render-hinting=none',
      // *.lan: names of this machine that are no loopback hosts to a browser
      '--host-resolver-rules=MAP *.lan 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost, EXCLUDE *.localhost',
    ],
    env: environment(folder),
  })
}

/** A person with a browser profile of their own. */
export interface Person extends AsyncDisposable {
  readonly context: BrowserContext
  readonly page: Page
  /** What the page complained of: scripts that threw, console errors (CSP refusals among them). */
  readonly complaints: readonly string[]
  close(): Promise<void>
}

export async function newPerson(
  browser: Browser,
  {
    width = 1280,
    height = 800,
    colorScheme = 'light' as 'light' | 'dark',
    userAgent = undefined as string | undefined,
  } = {},
): Promise<Person> {
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme,
    locale: 'en-GB',
    ...(userAgent && { userAgent }),
  })
  context.setDefaultTimeout(300_000) // on a machine that other tests keep busy
  const complaints: string[] = []
  context.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text())
  })
  context.on('weberror', (error) => complaints.push(String(error.error())))
  const page = await context.newPage()
  const close = () => context.close()
  return { context, page, complaints, close, [Symbol.asyncDispose]: close }
}

/** The folder with the unpacked browser. Of several processes that unpack at once, the first to finish wins. */
async function unpacked(): Promise<string> {
  const modules = join(import.meta.dirname, '..', 'node_modules')
  const origin = join(modules, '@sparticuz', 'chromium')
  const { version } = JSON.parse(await readFile(join(origin, 'package.json'), 'utf8'))
  const bin = join(origin, 'bin')
  const cache = join(modules, '.cache')
  const folder = join(cache, `chromium-${version}`)
  if (existsSync(folder)) return folder

  await mkdir(cache, { recursive: true })
  const own = await mkdtemp(join(cache, 'unpacking-'))
  await withTemporaryFolder(own, () =>
    Promise.all([sparticuz.executablePath(bin), inflate(join(bin, 'al2023.tar.br'))]),
  )
  try {
    await rename(own, folder)
  } catch (error) {
    if (!existsSync(folder)) throw error
    await rm(own, { recursive: true })
  }
  return folder
}

/** The package unpacks to os.tmpdir() and nowhere else. Meanwhile a test starts nothing that makes files there. */
async function withTemporaryFolder<T>(folder: string, run: () => Promise<T>): Promise<T> {
  const before = process.env.TMPDIR
  process.env.TMPDIR = folder
  try {
    return await run()
  } finally {
    if (before === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = before
  }
}

/** The package also holds the libraries and the font that a bare machine lacks. */
function environment(folder: string): Record<string, string> {
  const env = { ...process.env, FONTCONFIG_PATH: join(folder, 'fonts') }
  const linked = execFileSync('ldd', [join(folder, 'chromium')], { encoding: 'utf8' })
  if (!linked.includes('not found')) return env
  return { ...env, LD_LIBRARY_PATH: join(folder, 'al2023', 'lib') }
}

/**
 * The package's own font, so that pages look alike on every machine; and Debian's fonts-noto-cjk where it is installed,
 * without which Japanese and Chinese are rows of boxes.
 */
async function configureFonts(folder: string): Promise<void> {
  const families = ['sans-serif', 'system-ui', 'serif', 'monospace']
  const aliases = families.map(
    (family) => `<alias><family>${family}</family><prefer><family>Open Sans</family></prefer></alias>`,
  )
  const config = `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>${folder}</dir><dir>/usr/share/fonts/opentype/noto</dir><cachedir>${folder}/cache</cachedir>
${aliases.join('\n')}
</fontconfig>
`
  const path = join(folder, 'fonts.conf')
  if ((await readFile(path, 'utf8').catch(() => '')) === config) return
  // other processes read it meanwhile
  const written = `${path}.${process.pid}`
  await writeFile(written, config)
  await rename(written, path)
}
