import { once } from 'node:events'
import { globSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, posix } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { MOVED } from '../../build/docs/moved.ts'
import { KINDS, LISTED, OUTLINE } from '../../build/docs/outline.ts'
import { serveFolder } from '../../build/docs/serve.ts'
import { buildSite, type Site } from '../../build/docs/site.ts'
import { AUDIT_ACTIONS } from '../../src/domain/audit.ts'
import { packIds, shippedPack } from '../../src/features/packs/wire-library.ts'
import { type Looking, lookAt } from '../browser/look-at.ts'
import { newPerson, openBrowser } from '../browser.ts'

const folder = mkdtempSync(join(tmpdir(), 'gatepass-docs-'))
let site: Site
let files: ReadonlyMap<string, string>

beforeAll(async () => {
  site = await buildSite(folder)
  const names = globSync('**/*.html', { cwd: folder })
  files = new Map(names.map((name) => [name, readFileSync(join(folder, name), 'utf8')]))
})
afterAll(() => rmSync(folder, { recursive: true }))

describe('the documentation as a site', () => {
  test('names every action of the audit trail', () => {
    const rows = readFileSync('docs/operate/audit.md', 'utf8').split('\n')
    const named = new Set<string>()
    for (const row of rows.filter((one) => one.startsWith('| `'))) {
      let noun = ''
      for (const [, text = ''] of row.matchAll(/`([a-z_]*\.[a-z_]+)`/g)) {
        if (!text.startsWith('.')) [noun = ''] = text.split('.')
        named.add(text.startsWith('.') ? `${noun}${text}` : text)
      }
    }
    expect(AUDIT_ACTIONS.filter((action) => !named.has(action))).toEqual([])
  })

  test('has every page of docs/, the first ten minutes first, and tasks before reference', () => {
    const pages = site.pages.map(({ path }) => path)
    expect(pages[0]).toBe('docs/start/agent-builder.md')
    expect(pages).toEqual(expect.arrayContaining(globSync('docs/**/*.md')))
    expect(LISTED.filter((path) => !pages.includes(path))).toEqual([])
    const kinds = OUTLINE.map(({ kind }) => KINDS.indexOf(kind))
    expect(kinds).toEqual([...kinds].sort())
  })

  test('has a page of each tool pack, made of its files, and a list of them', () => {
    const list = files.get('packs/list.html') ?? ''
    for (const id of packIds()) {
      const page = files.get(`packs/${id}.html`) ?? ''
      expect([id, list.includes(`href="${id}.html"`)]).toEqual([id, true])
      const { tools = [] } = shippedPack(id) ?? {}
      expect(tools.filter(({ name }) => !page.includes(`id="${name.toLowerCase()}"`))).toEqual([])
    }
    const page = files.get('packs/gmail.html') ?? ''
    expect(page).toContain('packs add gmail')
    expect(page).toContain('asked for') // the approval
    expect(page).toContain('gmail.readonly') // a scope
    // the shaped answer of an example
    expect(files.get('packs/outlook-mail.html')).toContain('/v1/files/')
    expect(files.get('guides/tool-packs.html')).toContain('href="../packs/list.html"')
  })

  test('has no link that leads nowhere, and no anchor that is not there', () => {
    expect(site.broken).toEqual([])
    const ids = new Map<string, ReadonlySet<string>>()
    const idsOf = (file: string) => {
      const known =
        ids.get(file) ??
        new Set([...(files.get(file) ?? '').matchAll(/\bid="([^"]+)"/g)].map(([, id = '']) => id))
      ids.set(file, known)
      return known
    }
    const broken: string[] = []
    let links = 0
    for (const [file, html] of files)
      for (const [, href = ''] of html.matchAll(/\b(?:href|src)="([^"]+)"/g)) {
        if (/^https?:/.test(href)) continue
        links += 1
        const [path = '', anchor] = href.split('#')
        const target = path === '' ? file : posix.normalize(posix.join(posix.dirname(file), path))
        const isThere = files.has(target) || globSync(target, { cwd: folder }).length === 1
        if (!isThere || (anchor !== undefined && !idsOf(target).has(anchor))) broken.push(`${file}: ${href}`)
      }
    expect(broken).toEqual([])
    expect(links).toBeGreaterThan(1000)
  })

  test('has a page at every former address, which leads to a page with the anchor', () => {
    for (const [from, to] of Object.entries(MOVED)) {
      const [page = '', anchor] = to.split('#')
      expect(files.get(`${from.replace(/#.*/, '')}.html`), from).toContain(`${page}.html`)
      expect(files.get(`${page}.html`), from).toContain(
        anchor === undefined ? '<article>' : ` id="${anchor}"`,
      )
    }
  })

  test('has every diagram as a picture with all of its arrows in words, and no source of one', () => {
    const drawn =
      [...files.values()].join('').match(/<svg role="img" aria-label="(?:Sequence|Flowchart)\. [^"]+"/g) ?? []
    const sources = globSync(['README.md', 'docs/**/*.md']).flatMap(
      (page) => readFileSync(page, 'utf8').match(/^```mermaid$/gm) ?? [],
    )
    expect(sources.length).toBeGreaterThanOrEqual(5)
    expect(drawn).toHaveLength(sources.length)
    expect(drawn.join('')).toContain('Your application to Gatepass: run the tool for ada.')
    const index = readFileSync(join(folder, 'assets/search-index.js'), 'utf8')
    for (const text of [...files.values(), index]) expect(text).not.toMatch(/sequencediagram/i)
  })

  test('shows each picture of docs/images, with words for those who do not see it', () => {
    const shown = [...files.values()].flatMap((html) => [
      ...html.matchAll(/<img src="[./]*images\/([^"]+)" alt="([^"]{40,})" width="(\d+)" height="(\d+)"/g),
    ])
    const named = new Set(shown.map(([, file]) => file))
    expect([...named].sort()).toEqual(readdirSync('docs/images').sort())
    expect(readdirSync(join(folder, 'images')).sort()).toEqual([...named].sort())
    for (const [, file = '', , width, height] of shown) {
      const [wide, high] = file === 'console.png' ? ['1280', '800'] : ['640', expect.any(String)]
      expect([width, height], file).toEqual([wide, high])
    }
    const bytes = readdirSync('docs/images').map((file) => statSync(join('docs/images', file)).size)
    expect(Math.max(...bytes)).toBeLessThan(60_000)
  })

  test('loads nothing from another host, and has no script or style in a page', () => {
    for (const [file, html] of files) {
      expect(
        html.match(/<(?:script|link|img|iframe|object)\b[^>]*(?:src|href)="(?:https?:)?\/\/[^"]*"/g),
        file,
      ).toBeNull()
      expect(html.match(/<style|<script(?![^>]*\bsrc=)|\sstyle=|\son\w+=/g), file).toBeNull()
    }
  })
})

describe('in a browser', () => {
  let browser: Browser
  let url: string
  const server = serveFolder(folder)
  beforeAll(async () => {
    browser = await openBrowser()
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterAll(async () => {
    await browser.close()
    server.close()
  })

  test.each<[string, Looking]>([
    ['index', {}],
    ['overview', {}],
    ['start/agent-builder', {}],
    ['start/operator', {}],
    ['reference/settings', { widths: [390, 1280], schemes: ['light'] }],
    ['files/examples/start.ts', { widths: [390], schemes: ['dark'] }],
  ])('%s fits phones and desktops, light and dark, and axe finds nothing', async (page, looking) => {
    await using person = await newPerson(browser)
    await person.page.goto(`${url}/${page}.html`)
    await lookAt(person, `docs-${page.replaceAll('/', '-')}`, looking)
  })

  test('is searched by keyboard alone: the first result is the place with those words', async () => {
    await using person = await newPerson(browser)
    const { page } = person
    await page.goto(`${url}/index.html`)
    await page.keyboard.press('/')
    await page.keyboard.type('rotate master key')
    await page
      .getByRole('status')
      .filter({ hasText: /\d+ results?/ })
      .waitFor()
    const found = await page
      .locator('.results a')
      .evaluateAll((links) => links.map((link) => link.getAttribute('href')))
    expect(found.slice(0, 5).join(' ')).toMatch(/keys\.html|deploy\.html#/)
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.waitForURL(/\.html(?:#|$)/)
    await page.keyboard.press('/')
    await page.keyboard.type('qqqqxyz claude')
    await page
      .getByRole('link', { name: /MCP client/ })
      .first()
      .waitFor()
    await page.getByRole('searchbox').fill('qqqqxyz')
    await page.getByRole('status').filter({ hasText: 'Nothing about “qqqqxyz”.' }).waitFor()
    await page.keyboard.press('Escape')
    expect(await page.locator('.results').isVisible()).toBe(false)
    expect(person.complaints).toEqual([])
  })

  test.each([
    ['settings.html#the-verifier', 'reference/settings.html#the-verifier'],
    ['start.html', 'start/agent-builder.html'],
    ['security.html#threats', 'evidence/threats.html#threats'],
    ['security.html#what-is-not-promised', 'reference/security.html#what-is-not-promised'],
  ])('the former address %s leads to %s', async (from, to) => {
    await using person = await newPerson(browser)
    await person.page.goto(`${url}/${from}`)
    await person.page.waitForURL(`${url}/${to}`)
    expect(person.complaints).toEqual([])
  })

  test('no name in a table is broken over two lines on a phone', async () => {
    await using person = await newPerson(browser)
    const { page } = person
    await page.setViewportSize({ width: 390, height: 844 })
    await page.goto(`${url}/reference/settings.html`)
    const names = await page
      .locator('td code')
      .evaluateAll((all) =>
        all
          .filter(({ textContent }) => /^[A-Z0-9_]+$/.test(textContent ?? ''))
          .map((one) => ({ name: one.textContent, lines: one.getClientRects().length })),
      )
    expect(names.length).toBeGreaterThan(50)
    expect(names.filter(({ lines }) => lines > 1)).toEqual([])
  })

  test('a button copies a block of code', async () => {
    await using person = await newPerson(browser)
    await person.context.grantPermissions(['clipboard-read', 'clipboard-write'])
    const { page } = person
    await page.goto(`${url}/start/agent-builder.html`)
    await page.locator('.code').first().hover()
    // it says so for two seconds
    await Promise.all([
      page.getByRole('button', { name: 'Copied' }).waitFor(),
      page.getByRole('button', { name: 'Copy' }).first().click(),
    ])
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('npm ci\nnpm start')
  })

  test('without a script the pages are read and turned', async () => {
    const context = await browser.newContext({
      javaScriptEnabled: false,
      viewport: { width: 390, height: 844 },
    })
    const page = await context.newPage()
    await page.goto(`${url}/start/agent-builder.html`)
    expect(await page.locator('.search').isVisible()).toBe(false)
    await page.getByRole('link', { name: /^Next/ }).click()
    await page.waitForURL(/application-developer\.html$/)
    await context.close()
  })
})
