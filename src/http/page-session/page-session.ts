import type { Context } from 'hono'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import type { Broker } from '../../broker.ts'
import type { PageSessionKind } from '../../domain/page-session.ts'
import { endPageSession, type OpenedPageSession, openPageSession } from '../../flows/page-session.ts'
import { isCsrfToken } from '../../services/csrf-token.ts'
import { isFromOwnPage } from '../connect/own-page.ts'

/** The cookie and the form checks of one kind of page session. */
export interface PageSessions {
  /** The session of this browser; `undefined`: log in first. */
  open(c: Context): Promise<OpenedPageSession | undefined>
  /** The token in the cookie, for `beginPageSession` to replace. */
  token(c: Context): string | undefined
  /** Stores the token of `beginPageSession`. */
  keep(c: Context, begun: { readonly token: string; readonly seconds: number }): void
  /** Ends the session and deletes its cookie. */
  end(c: Context): Promise<void>
  /** Deletes the cookie alone. */
  forget(c: Context): void
  /**
   * Whether a form comes from a page of this session that showed the session's project: by its CSRF token, and by
   * `Sec-Fetch-Site: same-origin`, or by `Origin` if the browser does not send `Sec-Fetch-Site`. A request with neither
   * header is refused.
   */
  isOwnForm(c: Context, session: Pick<OpenedPageSession, 'csrf'>, form: URLSearchParams): boolean
}

/** Scripts cannot read the cookie, and with TLS no other host can set it (`__Host-`, RFC 6265bis section 4.1.3). */
export function pageSessions(broker: Broker, kind: PageSessionKind): PageSessions {
  const secure = broker.settings.publicUrl.protocol === 'https:'
  const name = `${secure ? '__Host-' : ''}gatepass-${kind}`
  // Lax: a link in a mail or a chat opens the page with its session; forms of other sites come without it
  const attributes = { path: '/', httpOnly: true, sameSite: 'Lax', secure } as const
  return {
    open: (c) => openPageSession(broker, kind, getCookie(c, name)),
    token: (c) => getCookie(c, name),
    keep: (c, { token, seconds }) => setCookie(c, name, token, { ...attributes, maxAge: seconds }),
    async end(c) {
      await endPageSession(broker, getCookie(c, name))
      deleteCookie(c, name, attributes)
    },
    forget: (c) => void deleteCookie(c, name, attributes),
    isOwnForm: (c, session, form) =>
      isFromOwnPage(c, broker, { withoutHeaders: 'refused' }) && isCsrfToken(form, session.csrf),
  }
}
