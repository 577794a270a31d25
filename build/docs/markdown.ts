import { Marked, type Tokens } from 'marked'
import { diagram } from './diagram/diagram.ts'
import { escapeHtml, highlight } from './highlight.ts'

export interface Heading {
  readonly depth: number
  readonly id: string
  readonly text: string
}

/** A part of a page under one heading, for the search. */
export interface Passage extends Heading {
  readonly content: string
}

export interface Rendered {
  readonly title: string
  /** The first paragraph as text. */
  readonly summary: string
  readonly html: string
  readonly headings: readonly Heading[]
  readonly passages: readonly Passage[]
}

export interface Links {
  /** The address in the site of what a link of the page names. */
  linkTo(href: string): string
  /** The words of a link that names a page by its file. */
  labelOf(href: string, label: string): string
  /** The address in the site of a picture of the page, and its size in pixels. */
  pictureAt(href: string): { readonly src: string; readonly width: number; readonly height: number }
}

export function render(markdown: string, links: Links): Rendered {
  const headings: Heading[] = []
  const ids = new Map<string, number>()
  let tables = 0
  const passages: { -readonly [K in keyof Passage]: Passage[K] }[] = []
  const marked = new Marked({
    gfm: true,
    renderer: {
      heading({ tokens, depth, text }) {
        const plain = plainText(text)
        const id = unique(slug(plain), ids)
        const heading = { depth, id, text: plain }
        headings.push(heading)
        const inner = this.parser.parseInline(tokens)
        if (depth === 1) return `<h1 id="${id}">${inner}</h1>\n`
        return `<h${depth} id="${id}">${inner} <a class="anchor" href="#${id}" aria-label="Link to “${escapeHtml(plain)}”">#</a></h${depth}>\n`
      },
      code({ text, lang = '' }: Tokens.Code) {
        const [language = ''] = lang.split(/\s/)
        if (language === 'mermaid') return diagram(text)
        return `<div class="code"><pre tabindex="0"><code>${highlight(text, language)}</code></pre></div>\n`
      },
      table(token: Tokens.Table) {
        const cells = (row: readonly Tokens.TableCell[], tag: string) =>
          row
            .map(({ tokens }) => {
              const inner = this.parser.parseInline(tokens)
              return inner === ''
                ? '<td></td>'
                : tag === 'th'
                  ? `<th scope="col">${inner}</th>`
                  : `<td>${inner}</td>`
            })
            .join('')
        tables += 1
        const name = `Table ${tables}, ${headings.at(-1)?.text ?? ''}`
        const rows = token.rows.map((row) => `<tr>${cells(row, 'td')}</tr>`).join('\n')
        return `<div class="table" tabindex="0" role="region" aria-label="${escapeHtml(name)}"><table><thead><tr>${cells(token.header, 'th')}</tr></thead><tbody>${rows}</tbody></table></div>\n`
      },
      link({ href, text, tokens }: Tokens.Link) {
        const label = links.labelOf(href, text)
        const inner = label === text ? this.parser.parseInline(tokens) : escapeHtml(label)
        return `<a href="${escapeHtml(links.linkTo(href))}">${inner}</a>`
      },
      image({ href, text }: Tokens.Image) {
        const { src, width, height } = links.pictureAt(href)
        return `<img src="${escapeHtml(src)}" alt="${escapeHtml(text)}" width="${width}" height="${height}" loading="lazy">`
      },
      checkbox({ checked }: Tokens.Checkbox) {
        return `<span class="box" aria-hidden="true">${checked ? '☑' : '☐'}</span> `
      },
    },
  })
  const tokens = marked.lexer(markdown)
  const html = marked.parser(tokens)
  const found = headings.values()
  for (const token of tokens) {
    if (token.type === 'heading') passages.push({ ...(found.next().value as Heading), content: '' })
    else {
      const last = passages.at(-1)
      if (last !== undefined) last.content += ` ${plainText(token.raw)}`
    }
  }
  const first = tokens.find((token) => token.type === 'paragraph')
  return {
    title: headings[0]?.text ?? '',
    summary: first === undefined ? '' : plainText(first.raw),
    html,
    headings,
    passages,
  }
}

/** The id of a heading, made as GitHub makes it, so that links work at both places. */
export function slug(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(' ', '-')
}

function unique(id: string, ids: Map<string, number>): string {
  const before = ids.get(id)
  ids.set(id, (before ?? 0) + 1)
  return before === undefined ? id : `${id}-${before}`
}

/** Markdown as plain text: without the addresses of links and the marks of emphasis, code and tables. */
export function plainText(markdown: string): string {
  return markdown
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/^```mermaid$[\s\S]*?^```$/gm, ' ')
    .replace(/^```.*$/gm, ' ')
    .replace(/[`*]+/g, '')
    .replaceAll('|', ' ')
    .replace(/^\s*[-#>]+\s/gm, ' ')
    .replace(/ :?-{3,}:? /g, ' ')
    .replace(/\s+/g, ' ')
    .replace(/ ([.,:;)])/g, '$1')
    .replace(/\( /g, '(')
    .trim()
}
