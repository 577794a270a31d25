import { html } from 'hono/html'
import type { ConsoleSession } from '../../flows/console/console-session.ts'
import { assetHref } from '../pages/assets.ts'
import { csrfInput } from '../pages/csrf-input.ts'
import { type Html, name } from '../pages/layout.ts'
import { ICONS, type MenuGroup } from './navigation.ts'

export interface ConsolePageOptions {
  /** The pages above this one: label and path below `/dashboard`. */
  readonly above?: readonly (readonly [label: string, path: string])[]
  /** One sentence under the heading. */
  readonly lead?: Html | string | undefined
  /** Buttons and links beside the heading. */
  readonly actions?: Html | undefined
  /** The result of a form, which the page shows once. */
  readonly done?: string | undefined
  /** What went wrong, for a page that is shown again. */
  readonly problem?: string | undefined
}

/** The document of every page of the console. It has no inline script and no inline style, as `pageHeaders` demands. */
export function consolePage(
  { session, menu }: { readonly session: ConsoleSession; readonly menu: readonly MenuGroup[] },
  path: string,
  title: string,
  body: Html,
  { above = [], lead, actions, done, problem }: ConsolePageOptions = {},
): Html {
  // a form such as /policy/new is below the list above it
  const at = above[0]?.[1] ?? path
  return document(
    title,
    html`<a class="skip" href="#main">Skip to content</a>
<header class="top">
<a class="brand" href="/dashboard"><img src="${assetHref('icon.svg')}" alt="" width="24" height="24">Gatepass</a>
${projectMenu(session)}
${accountMenu(session)}
</header>
<div class="frame">
<details class="menu" name="menu"><summary>Menu</summary>${menuOf(menu, at)}</details>
<div class="side">${menuOf(menu, at)}</div>
<main id="main">
${
  above.length > 0 &&
  html`<nav class="above" aria-label="Above this page"><ol>${above.map(
    ([label, at]) => html`<li><a href="/dashboard${at}">${label}</a></li>`,
  )}</ol></nav>`
}
<div class="head"><h1><bdi>${title}</bdi></h1>${actions !== undefined && html`<div class="actions">${actions}</div>`}</div>
${lead !== undefined && html`<p class="lead">${lead}</p>`}
${done !== undefined && html`<p class="note good" role="status">${done}</p>`}
${problem !== undefined && html`<p class="note bad" role="alert">${problem}</p>`}
${body}
</main>
</div>`,
    { isLive: true },
  )
}

/** A page of the console before the login: one card, no menu. */
export function barePage(title: string, body: Html): Html {
  return document(
    title,
    html`<main class="bare" id="main"><p class="brand"><img src="${assetHref('icon.svg')}" alt="" width="24" height="24">Gatepass</p>
<div class="card"><h1>${title}</h1>${body}</div></main>`,
  )
}

function document(title: string, body: Html, { isLive = false } = {}): Html {
  return html`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${title} · Gatepass</title>
<link rel="icon" href="${assetHref('icon.svg')}" type="image/svg+xml">
<link rel="stylesheet" href="${assetHref('console.css')}">
${isLive && html`<script src="${assetHref('console.js')}" defer></script>`}
</head>
<body>
${body}
</body>
</html>
`
}

function menuOf(menu: readonly MenuGroup[], path: string): Html {
  return html`<nav aria-label="Console">${menu.map(
    ({ label, items }) =>
      html`${label !== undefined && html`<p class="group">${label}</p>`}<ul>${items.map(
        (item) =>
          html`<li><a href="/dashboard${item.path}"${isCurrent(item.path, path) ? html` aria-current="page"` : ''}>${icon(item.icon)}${item.label}</a></li>`,
      )}</ul>`,
  )}</nav>`
}

function isCurrent(item: string, path: string): boolean {
  return item === path || (item !== '' && path.startsWith(`${item}/`))
}

export function icon(of: keyof typeof ICONS): Html {
  return html`<svg viewBox="0 0 24 24" width="20" height="20" fill="none" stroke="currentColor" stroke-width="1.75" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true"><path d="${ICONS[of]}"/></svg>`
}

function projectMenu({ project, projects, opened }: ConsoleSession): Html {
  if (projects.length < 2)
    return html`<p class="project"><span class="visually-hidden">Project </span>${name(project.name)}</p>`
  return html`<details class="drop project" name="menu"><summary><span class="visually-hidden">Project </span>${name(project.name)}</summary>
<form method="post" action="/dashboard/project">${csrfInput(opened.csrf)}
${projects
  .slice(0, MOST_PROJECTS)
  .map(
    ({ id, name: called }) =>
      html`<button type="submit" name="project" value="${id}"${id === project.id ? html` aria-current="true"` : ''}>${name(called)}</button>`,
  )}</form></details>`
}

const MOST_PROJECTS = 200

function accountMenu({ display, role, opened }: ConsoleSession): Html {
  return html`<details class="drop account" name="menu"><summary><span class="who">${name(display, { longest: 40 })}</span> <span class="badge">${role}</span></summary>
<form method="post" action="/dashboard/logout">${csrfInput(opened.csrf)}
<p class="muted small">Logged in ${opened.authority === 'key' ? 'with an API key' : 'at your issuer'} as <strong>${name(display)}</strong></p>
<button type="submit">Log out</button></form></details>`
}
