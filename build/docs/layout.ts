import { html, raw } from 'hono/html'
import type { Rendered } from './markdown.ts'

export interface NavSection {
  readonly title: string
  readonly pages: readonly { readonly address: string; readonly title: string; readonly summary: string }[]
}

export interface Place {
  /** The relative path from this page to the root of the site: empty, or `../` for each folder. */
  readonly root: string
  readonly address: string
  readonly sections: readonly NavSection[]
  readonly version: string
}

type Html = ReturnType<typeof html>

function shell(title: string, { root, address, sections, version }: Place, main: Html): Html {
  const links = sections.map(
    (section) =>
      html`<section><h2>${section.title}</h2><ul>${section.pages.map(
        (page) =>
          html`<li><a href="${root}${page.address}"${page.address === address ? raw(' aria-current="page"') : ''}>${page.title}</a></li>`,
      )}</ul></section>`,
  )
  return html`<!doctype html>
<html lang="en" data-root="${root}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
<link rel="icon" href="${root}assets/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${root}assets/site.css">
<script src="${root}assets/site.js" defer></script>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header class="top">
<a class="brand" href="${root}index.html"><img src="${root}assets/icon.svg" alt="" width="24" height="24">Gatepass</a>
<div class="search" role="search" hidden>
<label for="search" class="visually-hidden">Search the documentation</label>
<input id="search" type="search" placeholder="Search" autocomplete="off" spellcheck="false">
<kbd aria-hidden="true">/</kbd>
<div class="results" hidden><p role="status" aria-live="polite"></p><ol></ol></div>
</div>
</header>
<div class="frame">
<nav class="pages" aria-label="Pages"><details open><summary>All pages</summary><div>${links}</div></details></nav>
${main}
</div>
<footer>Gatepass ${version} · MIT license</footer>
</body>
</html>
`
}

export function documentPage(
  page: Rendered,
  place: Place,
  neighbours: readonly (Neighbour | undefined)[],
): Html {
  const parts = page.headings.filter(({ depth }) => depth === 2 || depth === 3)
  const contents =
    parts.length < 2
      ? ''
      : html`<nav class="contents" aria-label="On this page"><h2>On this page</h2><ul>${parts.map(
          ({ id, text, depth }) => html`<li class="depth-${depth}"><a href="#${id}">${text}</a></li>`,
        )}</ul></nav>`
  const [previous, next] = neighbours
  return shell(
    `${page.title} · Gatepass`,
    place,
    html`<main id="main" tabindex="-1"><article>${raw(page.html)}</article>
<nav class="turn" aria-label="Neighbouring pages">${[previous && turn(previous, place, 'Previous'), next && turn(next, place, 'Next')]}</nav></main>
${contents}`,
  )
}

export interface Neighbour {
  readonly address: string
  readonly title: string
}

function turn({ address, title }: Neighbour, { root }: Place, word: 'Previous' | 'Next'): Html {
  return html`<a class="${word.toLowerCase()}" href="${root}${address}"><span>${word}</span> ${title}</a>`
}

/** The front page: one sentence, the first ten minutes, and every page with what it is for. */
export function frontPage(intro: Rendered, place: Place): Html {
  return shell(
    'Gatepass · Documentation',
    place,
    html`<main id="main" class="front" tabindex="-1"><article>
<h1>Gatepass</h1>
<p class="lead">${intro.summary}</p>
<p class="actions"><a class="button" href="start/agent-builder.html">Begin: ten minutes</a> <a href="operate/deploy.html">Deploy it</a> <a href="reference/wire.html">The API by example</a></p>
<div class="code"><pre tabindex="0"><code>npm ci
npm start</code></pre></div>
<p>starts it on your machine, with a sandbox provider and a tool to try. Nothing else has to be installed.</p>
${place.sections.map(
  ({ title, pages }) =>
    html`<section class="group"><h2>${title}</h2><ul class="cards">${pages.map(
      (page) =>
        html`<li><a href="${page.address}"><strong>${page.title}</strong><span>${page.summary}</span></a></li>`,
    )}</ul></section>`,
)}
</article></main>`,
  )
}

/** A file of the repository that a page links to, or a folder with its files. */
export function sourcePage(
  path: string,
  content:
    | { readonly code: string }
    | { readonly files: readonly { readonly href: string; readonly name: string }[] },
  place: Place,
): Html {
  const body =
    'code' in content
      ? html`<div class="code"><pre tabindex="0"><code>${raw(content.code)}</code></pre></div>`
      : html`<ul>${content.files.map(({ href, name }) => html`<li><a href="${href}">${name}</a></li>`)}</ul>`
  return shell(
    `${path} · Gatepass`,
    place,
    html`<main id="main" tabindex="-1"><article><h1 class="path">${path}</h1><p>A ${'code' in content ? 'file' : 'folder'} of the repository.</p>${body}</article></main>`,
  )
}

/** What a former address of a page has: it leads to the page, by a script with the anchor, without one to its beginning. */
export function movedPage(to: string, anchors: Readonly<Record<string, string>>): Html {
  return html`<!doctype html>
<html lang="en" data-to="${to}" data-anchors="${JSON.stringify(anchors)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Moved · Gatepass</title>
<script src="assets/moved.js"></script>
<noscript><meta http-equiv="refresh" content="0; url=${to}"></noscript>
<link rel="stylesheet" href="assets/site.css">
</head>
<body><main><p>This page has moved: <a href="${to}">${to}</a></p></main></body>
</html>
`
}
