import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import { html } from 'hono/html'
import type { Broker } from '../../broker.ts'
import type { ApiKey } from '../../domain/api-key.ts'
import { BrokerError } from '../../domain/errors.ts'
import type { Project } from '../../domain/project.ts'
import { type ConsoleSession, openConsoleSession } from '../../flows/console/console-session.ts'
import { csrfOf } from '../../flows/page-session.ts'
import { inContext } from '../../services/request-context.ts'
import { clientClosed, isCutOff, STATUS, toRefusal } from '../endpoint/errors.ts'
import { readForm } from '../endpoint/read-form.ts'
import { readUpload, type Upload } from '../endpoint/read-upload.ts'
import { requestId } from '../endpoint/request-id.ts'
import { pageSessions } from '../page-session/page-session.ts'
import { csrfInput } from '../pages/csrf-input.ts'
import type { Html } from '../pages/layout.ts'
import { pageHeaders } from '../pages/page-headers.ts'
import { type ConsolePageOptions, consolePage } from './layout.ts'
import { otherProjectText } from './live.ts'
import type { MenuGroup } from './navigation.ts'

/** One request of a logged-in operator. */
export interface OnPage {
  readonly c: Context
  readonly broker: Broker
  readonly session: ConsoleSession
  readonly projectId: string
  /** The caller, for handlers of the API. */
  readonly caller: ApiKey
  /** Whether the operator may change anything. A readonly operator sees no forms, and their forms are refused. */
  readonly mayChange: boolean
  /** A query parameter, trimmed; `undefined` when it is missing or empty. */
  query(name: string): string | undefined
  /** Answers with a page of the console. */
  show(title: string, body: Html, options?: ShowOptions): Response | Promise<Response>
  /** Answers a form with a redirect to the path below `/dashboard`, whose page shows the message once. */
  go(path: string, done?: string): Response
  /** A form that changes something, with its CSRF token; empty for a readonly operator, unless it is `readonly`. `action` is below `/dashboard`. */
  form(action: string, fields: Html, options?: FormOptions): Html | ''
}

export interface ShowOptions extends ConsolePageOptions {
  readonly status?: 200 | 400 | 403 | 404 | 409 | 413 | 502 | 503
}

export interface FormOptions {
  /** The form needs a login that is at most five minutes old: without one, it shows a link to confirm the login instead. */
  readonly recent?: boolean
  /** Operators with the role readonly see it too: it changes nothing. */
  readonly readonly?: boolean
  /** Only operators who are approvers of a group see it. */
  readonly approvers?: boolean
  /** Of the form element, such as `inline` or `danger`. */
  readonly className?: string
  /** It has a field for a file, and its route is an `upload`. */
  readonly hasFile?: boolean
}

export interface ConsoleRoutes {
  /**
   * A text for an element with `data-live`, which the page's script reloads at intervals. It needs the session, and
   * does not prolong it. For a page of another project than the console shows now, the text says that instead.
   */
  live(path: string, handle: (on: OnPage) => Promise<string>): void
  /**
   * A page. `path` is below `/dashboard`, with hono's parameters.
   *
   * @param options.approvers operators who are only approvers see it too, and its entry in the menu.
   */
  page(
    path: string,
    handle: (on: OnPage) => Response | Promise<Response>,
    options?: { readonly approvers?: boolean },
  ): void
  /**
   * A form that changes something: of an administrator, with the CSRF token, from a page of this origin that showed the
   * project that the console shows now.
   *
   * @param options.recent the login must be at most five minutes old. A function returns for which forms.
   */
  form(
    path: string,
    handle: (on: OnPage, form: URLSearchParams) => Response | Promise<Response>,
    options?: FormRouteOptions,
  ): void
  /** A form with one small file. `tooLarge` is the message for a larger one. */
  upload(
    path: string,
    handle: (on: OnPage, file: Upload['file']) => Response | Promise<Response>,
    options: { readonly tooLarge: string },
  ): void
}

interface FormRouteOptions {
  readonly recent?: boolean | ((form: URLSearchParams) => boolean)
  /** Operators with the role readonly may send it: it changes nothing but their own session. */
  readonly readonly?: boolean
  /** Only operators who are approvers of a group may send it. */
  readonly approvers?: boolean
  /** It changes the operator's own session alone, so a page that showed another project may send it too. */
  readonly ofSession?: boolean
}

/** @param options.uploads gets the paths of forms with a file */
export function consoleRoutes(
  app: OpenAPIHono,
  broker: Broker,
  { menu, uploads }: { readonly menu: readonly MenuGroup[]; readonly uploads: Set<string> },
): ConsoleRoutes {
  const sessions = pageSessions(broker, 'console')
  const secure = broker.settings.publicUrl.protocol === 'https:'
  const noteCookie = `${secure ? '__Host-' : ''}gatepass-console-note`
  const attributes = { path: '/', httpOnly: true, sameSite: 'Strict', secure } as const
  /** The patterns of the paths that have a page, below `/dashboard`. */
  const pages: RegExp[] = []
  /** The paths of the pages that operators see who are only approvers. */
  const forApprovers = new Set<string>()

  /** The pages that the operator may see. */
  function menuFor({ role }: ConsoleSession): readonly MenuGroup[] {
    if (role !== 'approver') return menu
    const groups = menu.map((group) => ({
      ...group,
      items: group.items.filter(({ path }) => forApprovers.has(path)),
    }))
    return groups.filter(({ items }) => items.length > 0)
  }

  function onPage(c: Context, session: ConsoleSession): OnPage {
    const mayChange = session.role === 'admin'
    const path = pathOf(c)
    return {
      c,
      broker,
      session,
      projectId: session.project.id,
      caller: session.caller,
      mayChange,
      query: (name) => c.req.query(name)?.trim() || undefined,
      show(title, body, { status = 200, ...options } = {}) {
        const done = options.done ?? takeNote(c)
        headers(c)
        return c.html(
          consolePage({ session, menu: menuFor(session) }, path, title, body, { ...options, done }),
          status,
        )
      },
      go(to, done) {
        if (done !== undefined) setCookie(c, noteCookie, done.slice(0, 500), { ...attributes, maxAge: 60 })
        headers(c)
        return c.redirect(`/dashboard${to}`, 303)
      },
      form(action, fields, options = {}) {
        const {
          recent = false,
          readonly = false,
          approvers = false,
          className = '',
          hasFile = false,
        } = options
        if (approvers ? session.groups.length === 0 : !mayChange && !readonly) return ''
        if (recent && !session.isRecent) return confirmFirst(returnPath(c))
        return html`<form method="post" action="/dashboard${action}" class="${className}"${hasFile ? html` enctype="multipart/form-data"` : ''}>${csrfInput(session.opened.csrf)}${fields}</form>`
      },
    }
  }

  /** Where a confirmation returns to: this page, or the page above a form that was answered with a page. */
  function returnPath(c: Context): string {
    if (c.req.method !== 'POST') return pathAndQuery(c)
    let path = pathOf(c)
    while (path !== '' && !pages.some((page) => page.test(path))) path = path.slice(0, path.lastIndexOf('/'))
    return path
  }

  function takeNote(c: Context): string | undefined {
    const note = getCookie(c, noteCookie)
    if (note !== undefined) deleteCookie(c, noteCookie, attributes)
    return note
  }

  /** Runs the handler as the operator; a refusal becomes a page of the console. */
  async function handled(
    on: OnPage,
    route: string,
    run: () => Response | Promise<Response>,
  ): Promise<Response> {
    const { c, session } = on
    const isKey = session.caller.id !== ''
    const context = {
      actor: session.actor,
      ...(isKey && { apiKey: session.caller }),
      purpose: `${c.req.method} ${route}`,
      requestId: requestId(c),
    }
    try {
      return await inContext(context, run)
    } catch (error) {
      if (isCutOff(c, error)) return clientClosed()
      return refusalPage(on, toRefusal(error, c.req.path, broker.log, requestId(c)), menuFor(session))
    }
  }

  return {
    live(path, handle) {
      const route = `/dashboard/live${path}`
      app.get(route, async (c) => {
        const session = await openConsoleSession(broker, sessions.token(c), { isUse: false })
        headers(c)
        if (session === undefined) return c.json({}, 401)
        if (session.role === 'approver') return c.json({}, 403)
        return c.json({ text: otherProjectText(c, session) ?? (await handle(onPage(c, session))) })
      })
    },
    page(path, handle, { approvers = false } = {}) {
      const route = `/dashboard${path}`
      if (approvers) forApprovers.add(path)
      pages.push(new RegExp(`^${path.replaceAll(/:\w+/g, '[^/]+')}$`))
      app.get(route, async (c) => {
        const session = await openConsoleSession(broker, sessions.token(c))
        if (session === undefined) return toLogin(c)
        const on = onPage(c, session)
        if (session.role !== 'approver' || approvers) return handled(on, route, () => handle(on))
        const [home] = menuFor(session).flatMap(({ items }) => items)
        if (path === '' && home !== undefined) return on.go(home.path)
        return handled(on, route, () => {
          throw new BrokerError('insufficient_role', ONLY_APPROVER)
        })
      })
    },
    form(path, handle, options) {
      addForm(path, options, async (on, check) => {
        const form = await readForm(on.c)
        await check(form)
        return handle(on, form)
      })
    },
    upload(path, handle, { tooLarge }) {
      uploads.add(`/dashboard${path}`)
      addForm(path, {}, async (on, check) => {
        const { form, file } = await readUpload(on.c, tooLarge)
        await check(form)
        return handle(on, file)
      })
    },
  }

  /** The project of the page that sent the form, for a page of this session from before another project was chosen. */
  function formerProject(
    c: Context,
    { opened, projects }: ConsoleSession,
    form: URLSearchParams,
  ): Project | undefined {
    return projects.find(({ id }) =>
      sessions.isOwnForm(c, { csrf: csrfOf(broker, { id: opened.row.id, shownProjectId: id }) }, form),
    )
  }

  /** Adds the route of a form. `run` gets a function that checks the form, and must call it before any change. */
  function addForm(
    path: string,
    { recent = false, readonly = false, approvers = false, ofSession = false }: FormRouteOptions = {},
    run: (on: OnPage, check: (form: URLSearchParams) => Promise<void>) => Promise<Response>,
  ): void {
    const route = `/dashboard${path}`
    app.post(route, async (c) => {
      const session = await openConsoleSession(broker, sessions.token(c))
      if (session === undefined) return toLogin(c)
      const on = onPage(c, session)
      return handled(on, route, () =>
        run(on, async (form) => {
          if (!sessions.isOwnForm(c, session.opened, form)) {
            const shown = formerProject(c, session, form)
            if (shown === undefined) throw new BrokerError('insufficient_role', FOREIGN)
            if (!ofSession) throw new BrokerError('invalid_request', otherProject(shown, session.project))
          }
          const why = refusalOf(session, { readonly, approvers, ofSession })
          if (why !== undefined) {
            await broker.audit.record(on.projectId, { action: 'access.refused', reason: 'insufficient_role' })
            throw new BrokerError('insufficient_role', why)
          }
          const needsRecent = typeof recent === 'function' ? recent(form) : recent
          if (needsRecent && !session.isRecent) throw new BrokerError('insufficient_role', NOT_RECENT)
        }),
      )
    })
  }
}

/** Why the operator may not send a form of these options; `undefined`: they may. */
function refusalOf(
  { role, groups }: ConsoleSession,
  { readonly, approvers, ofSession }: FormRouteOptions,
): string | undefined {
  if (ofSession) return undefined
  if (approvers) return groups.length > 0 ? undefined : NO_APPROVER
  if (role === 'approver') return ONLY_APPROVER
  return readonly || role === 'admin' ? undefined : READONLY
}

/** Replaces a button that needs a recent login: links to the confirmation, which then returns to the path. */
export function confirmFirst(path: string): Html {
  return html`<p class="confirm-first"><a class="button" href="/dashboard/confirm?next=${encodeURIComponent(path)}">Confirm your login first</a> <span class="muted small">It needs a login that is at most five minutes old.</span></p>`
}

/** The path below `/dashboard`, without its query. */
export function pathOf(c: Context): string {
  return c.req.path.replace(/^\/dashboard/, '')
}

/** The path below `/dashboard`, with its query. */
export function pathAndQuery(c: Context): string {
  return `${pathOf(c)}${new URL(c.req.url).search}`
}

function toLogin(c: Context): Response {
  headers(c)
  const next = c.req.method === 'GET' ? pathAndQuery(c) : ''
  const back = next === '' || next.length > 500 ? '' : `?next=${encodeURIComponent(next)}`
  return c.redirect(`/dashboard/login${back}`, 303)
}

/** A path below `/dashboard` from a query or a form, and never another address; empty for one that leads elsewhere. */
export function safeNext(next: string | null | undefined): string {
  if (next == null || !/^\/[\w-]/.test(next) || next.length > 500 || /[\\\s]/.test(next)) return ''
  // browsers resolve `..`, also written as `%2e%2e`
  return new URL(`/dashboard${next}`, 'http://host').pathname.startsWith('/dashboard/') ? next : ''
}

function headers(c: Context): void {
  pageHeaders(c, { hasForm: true, script: 'runs and sends requests' })
}

function refusalPage(
  on: OnPage,
  refusal: BrokerError,
  menu: readonly MenuGroup[],
): Response | Promise<Response> {
  const status = STATUS[refusal.code]
  const title = status === 404 ? 'Not found' : status === 403 ? 'Not allowed' : 'That did not work'
  const faults = refusal.faults ?? []
  const body = html`<div class="card"><p>${refusal.message}</p>
${faults.length > 1 && html`<ul>${faults.map(({ path, message }) => html`<li>${path !== '' && html`<code>${path}</code>: `}${message}</li>`)}</ul>`}
<p class="muted small">Reason: <code>${refusal.code}</code></p>
${refusal.message === NOT_RECENT && html`<p><a class="button" href="/dashboard/confirm">Confirm your login</a></p>`}
<p>${backTo(pathOf(on.c), menu)}</p></div>`
  return on.show(title, body, { status: status as ShowOptions['status'] & number })
}

/** The page of the menu to which the refused path belongs. */
function backTo(path: string, menu: readonly MenuGroup[]): Html {
  const items = menu.flatMap((group) => group.items)
  const above = items.find((item) => item.path !== '' && path.startsWith(`${item.path}/`))
  return html`<a href="/dashboard${above?.path ?? ''}">Back to ${above?.label ?? 'the overview'}</a>`
}

const FOREIGN =
  'This form did not come from the page you were shown, so nothing was changed. Open the page again and send it from there.'
const otherProject = (shown: Project, now: Project) =>
  `This page showed the project ${shown.name}; the console now shows ${now.name}. Nothing was changed.`
const READONLY = 'You can see everything here but change nothing: your role is readonly.'
const ONLY_APPROVER =
  'Your role is approver: you see the calls that wait for your groups and decide about them, and nothing else.'
const NO_APPROVER =
  'Nothing was decided: a member of a group of approvers decides about calls (GATEPASS_DASHBOARD_ROLES), and you are in none here.'
const NOT_RECENT =
  'This needs a login that is at most five minutes old. Confirm your login, then send the form again.'
