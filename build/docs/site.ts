// The documentation as a static site: every Markdown file of OUTLINE, docs/ and what they link to, with a search that
// works without a server. Links to files of the repository lead to pages that show those files.

import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, extname, join, posix, sep } from 'node:path'
import { gatepassIcon } from '../../src/http/pages/gatepass-icon.ts'
import { ROOT } from '../bundle.ts'
import { highlight } from './highlight.ts'
import { documentPage, frontPage, movedPage, type NavSection, type Place, sourcePage } from './layout.ts'
import { plainText, type Rendered, render } from './markdown.ts'
import { MOVED } from './moved.ts'
import { kindOf, LISTED, OUTLINE, type PageEntry } from './outline.ts'
import { PACK_FILES, PACK_LIST, packPages } from './pack-pages.ts'
import { indexOf, type Place as SearchPlace } from './search.ts'

const ASSETS = join(import.meta.dirname, 'assets')
const PAGES = join(ROOT, 'src/http/pages')
/** Larger files of the repository get no page. */
const MOST_SOURCE_BYTES = 200_000

interface Page extends Rendered {
  readonly path: string
  readonly address: string
}

export interface Site {
  readonly pages: readonly Page[]
  /** Links that lead to no file of the repository, as `page: link`. */
  readonly broken: readonly string[]
}

/** Writes the site into a folder, which is emptied first. */
export async function buildSite(folder: string): Promise<Site> {
  const sources = new Set<string>()
  const pictures = new Set<string>()
  const broken: string[] = []
  const pages = new Map<string, Page>()
  const made = await packPages()
  const textOf = (path: string) => made.get(path) ?? readFileSync(join(ROOT, path), 'utf8')
  const isThere = (path: string) => made.has(path) || existsSync(join(ROOT, path))
  const pending = [...new Set([...LISTED, ...unlisted(), ...made.keys()])]
  for (let path = pending.shift(); path !== undefined; path = pending.shift()) {
    if (pages.has(path)) continue
    const from = path
    const address = addressOf(from)
    const linkTo = (href: string): string => {
      if (/^(?:[a-z]+:|#)/.test(href)) return href
      const [file = '', anchor] = href.split('#')
      const named = posix.normalize(posix.join(posix.dirname(from), decodeURI(file))).replace(/\/$/, '')
      const target = named === PACK_FILES ? PACK_LIST : named
      if (target.startsWith('..') || !isThere(target)) {
        broken.push(`${from}: ${href}`)
        return href
      }
      if (target.endsWith('.md')) pending.push(target)
      else sources.add(target)
      const to = posix.relative(posix.dirname(address), addressOf(target))
      return anchor === undefined ? to : `${to}#${anchor}`
    }
    const labelOf = (href: string, label: string): string => {
      // in the repository a page is named by its file, here by its title
      const file = /^[\w./-]+\.md$/.test(label) && posix.join(posix.dirname(from), href.split('#')[0] ?? '')
      return file && existsSync(join(ROOT, file)) ? titleOf(file) : label
    }
    const pictureAt = (href: string) => {
      const file = posix.join(posix.dirname(from), href)
      const src = posix.relative(posix.dirname(address), `images/${posix.basename(file)}`)
      if (!existsSync(join(ROOT, file))) {
        broken.push(`${from}: ${href}`)
        return { src, width: 0, height: 0 }
      }
      pictures.add(file)
      const png = readFileSync(join(ROOT, file))
      return { src, width: png.readUInt32BE(16), height: png.readUInt32BE(20) } // ISO/IEC 15948, section 11.2.1
    }
    pages.set(path, { path, address, ...render(textOf(path), { linkTo, labelOf, pictureAt }) })
  }
  rmSync(folder, { recursive: true, force: true })
  await writePages(folder, [...pages.values()], sources)
  writeMoved(folder)
  writeSearch(folder, [...pages.values()])
  for (const file of pictures) cpSync(join(ROOT, file), join(folder, 'images', posix.basename(file)))
  return { pages: [...pages.values()], broken }
}

function titleOf(path: string): string {
  if (path === 'README.md') return 'Overview'
  const [, title = path] = /^# (.+)$/m.exec(readFileSync(join(ROOT, path), 'utf8')) ?? []
  return plainText(title)
}

/** Pages of docs/ that the outline does not name yet. */
function unlisted(): string[] {
  return readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name.split(sep).join('/')}`)
    .filter((path) => !LISTED.includes(path))
}

/** Pages of docs/ have their path below it as their address; other files are in `files/`. */
function addressOf(path: string): string {
  const own: Readonly<Record<string, string>> = {
    'README.md': 'overview.html',
    'SECURITY.md': 'security-policy.html',
    'CHANGELOG.md': 'changelog.html',
    'CONTRIBUTING.md': 'contributing.html',
  }
  if (own[path] !== undefined) return own[path]
  const page = /^docs\/(.+)\.md$/.exec(path)?.[1]
  return page === undefined ? `files/${path.replace(/\.md$/, '')}.html` : `${page}.html`
}

async function writePages(folder: string, pages: readonly Page[], sources: Set<string>): Promise<void> {
  const byPath = new Map(pages.map((page) => [page.path, page]))
  const sections: NavSection[] = OUTLINE.map((section) => ({
    title: section.title,
    pages: Object.entries(section.pages).flatMap(([path, { summary }]) => {
      const page = byPath.get(path)
      return page === undefined ? [] : [{ address: page.address, title: titleOf(path), summary }]
    }),
  }))
  const list = byPath.get(PACK_LIST)
  if (list !== undefined) sections.push({ title: 'Tool packs', pages: [list] })
  const rest = unlisted().flatMap((path) => byPath.get(path) ?? [])
  if (rest.length > 0) sections.push({ title: 'More', pages: rest })
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const placeOf = (address: string): Place => ({
    root: '../'.repeat(address.split('/').length - 1),
    address,
    sections,
    version,
  })
  const write = async (address: string, text: string | Promise<string>) => {
    mkdirSync(dirname(join(folder, address)), { recursive: true })
    writeFileSync(join(folder, address), String(await text))
  }
  const order = sections.flatMap((section) => section.pages)
  for (const page of pages) {
    const at = order.findIndex(({ address }) => address === page.address)
    const neighbours = at === -1 ? [] : [order[at - 1], order[at + 1]]
    await write(page.address, String(await documentPage(page, placeOf(page.address), neighbours)))
  }
  const readme = byPath.get('README.md')
  if (readme !== undefined) await write('index.html', String(await frontPage(readme, placeOf('index.html'))))
  for (const path of sources) {
    if (byPath.has(path)) continue // a listed folder may contain pages of the site
    const address = addressOf(path)
    await write(address, String(await sourcePage(path, contentOf(path, sources), placeOf(address))))
  }
  cpSync(ASSETS, join(folder, 'assets'), { recursive: true })
  // the look of the pages that the server has
  const styles = [join(PAGES, 'tokens.css'), join(PAGES, 'base.css'), join(ASSETS, 'site.css')]
  const css = styles.map((file) => readFileSync(file, 'utf8')).join('')
  writeFileSync(join(folder, 'assets/site.css'), css)
  writeFileSync(join(folder, 'assets/icon.svg'), gatepassIcon)
}

/** A folder lists its files, each of which becomes a page too: the set grows while it is walked. */
function contentOf(path: string, sources: Set<string>) {
  const place = join(ROOT, path)
  if (!statSync(place).isDirectory())
    return { code: highlight(readFileSync(place, 'utf8'), extname(path).slice(1) || 'sh') }
  const files = readdirSync(place, { withFileTypes: true })
    .filter(({ name }) => !['node_modules', 'dist', 'secrets', '.env'].includes(name))
    .filter((entry) => entry.isDirectory() || statSync(join(place, entry.name)).size <= MOST_SOURCE_BYTES)
    .map(({ name }) => posix.join(path, name))
    .sort()
  for (const file of files) sources.add(file)
  const from = posix.dirname(addressOf(path))
  return {
    files: files.map((file) => ({
      href: posix.relative(from, addressOf(file)),
      name: posix.basename(file),
    })),
  }
}

/** At each former address of a page a page that leads on to where it is. */
function writeMoved(folder: string): void {
  const former = Object.keys(MOVED).filter((name) => !name.includes('#'))
  for (const name of former) {
    const anchors = Object.entries(MOVED).flatMap(([from, to]): [string, string][] => {
      const [page, anchor] = from.split('#')
      return page === name && anchor !== undefined ? [[anchor, to.replace('#', '.html#')]] : []
    })
    writeFileSync(
      join(folder, `${name}.html`),
      String(movedPage(`${MOVED[name]}.html`, Object.fromEntries(anchors))),
    )
  }
}

/** The parts of pages that the search finds, each page's first with the words by which readers ask for the page. */
export function searchPlaces(pages: Site['pages']): SearchPlace[] {
  return pages.flatMap((page) =>
    passagesOf(page).map(({ id, text, content, depth }) => ({
      id: `${page.address}#${id}`,
      address: depth === 1 ? page.address : `${page.address}#${id}`,
      kind: kindOf(page.path),
      title: page.title,
      heading: text,
      keywords: depth === 1 ? keywordsOf(page.path) : '',
      content: content.trim(),
      excerpt: content.trim().slice(0, 160),
    })),
  )
}

/** Of a pack its title and the names of its tools: hundreds of places would change what is found of all other pages. */
function passagesOf({ path, passages }: Page): Page['passages'] {
  const [first] = passages
  if (!path.startsWith('docs/packs/') || first === undefined) return passages
  const tools = passages.filter(({ depth }) => depth === 3).map(({ text }) => text)
  return [{ ...first, content: tools.join(' ') }]
}

function keywordsOf(path: string): string {
  const entry: PageEntry | undefined = OUTLINE.find(({ pages }) => pages[path] !== undefined)?.pages[path]
  return `${entry?.summary ?? ''} ${entry?.keywords ?? ''}`
}

/** The index is a script, not JSON, so that the search also works where the site is opened from a folder. */
function writeSearch(folder: string, pages: readonly Page[]): void {
  const json = JSON.stringify(indexOf(searchPlaces(pages)))
    .replaceAll('\u2028', '\\u2028')
    .replaceAll('\u2029', '\\u2029')
  writeFileSync(join(folder, 'assets/search-index.js'), `window.searchIndex = ${JSON.stringify(json)}\n`)
  const library = createRequire(import.meta.url)
    .resolve('minisearch')
    .replace(/cjs\/index\.cjs$/, 'umd/index.js')
  const code = readFileSync(library, 'utf8').replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n')
  writeFileSync(join(folder, 'assets/minisearch.js'), code)
}
