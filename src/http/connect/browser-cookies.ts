import type { Context } from 'hono'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import type { Broker } from '../../broker.ts'
import { randomToken, sha256 } from '../../domain/ids.ts'
import type { LoginProof } from '../../flows/login/login-proof.ts'
import type { BegunLogin } from '../../flows/login/login-state.ts'
import type { OpenerOf } from '../../services/openers.ts'

/** The least life of the browser's id, in seconds. */
const BROWSER_SECONDS = 3600
/** Logins that one browser may have open at a time. With too many cookies the headers of a request get too large. */
const MAX_LOGINS = 8
/** Connect sessions that one browser may have open at a time: more than logins, because their cookies live longer. */
const MAX_OPENED = 16

/**
 * The cookies of Gatepass: the id of the browser, its open logins, the proof of its latest login, its session, and the
 * connect sessions that it has opened.
 */
export interface BrowserCookies {
  /** The browser's id, if it has one. It distinguishes browsers and proves nothing about their user. */
  idOf(c: Context): string | undefined
  /** Returns the browser's id, to which logins and attempts are bound, or gives it a new id. Renews the cookie. */
  bind(c: Context): string
  /** Stores the sealed state of a login, which the login callback needs. */
  setLogin(c: Context, login: BegunLogin): void
  keptLogin(c: Context, stateHash: string): string | undefined
  /** Deletes the state of the login. After a successful login, stores its proof. */
  endLogin(c: Context, stateHash: string, proof?: LoginProof): void
  loginProof(c: Context): string | undefined
  /** The token of the session of the user who has logged in. */
  session(c: Context): string | undefined
  keepSession(c: Context, session: { readonly token: string; readonly seconds: number }): void
  /** Deletes the cookie alone. */
  forgetSession(c: Context): void
  /** The state of the attempt of an entry whose callback has no state in its query. */
  state(c: Context): string | undefined
  keepState(c: Context, state: string): void
  /** What the browser brought from a provider's own page, sealed. */
  arrival(c: Context): string | undefined
  keepArrival(c: Context, arrival: { readonly value: string; readonly seconds: number }): void
  /** Stores the proof that this browser has opened the connect session. */
  keepOpener(
    c: Context,
    connectSessionId: string,
    opener: { readonly value: string; readonly seconds: number },
  ): void
  openerOf(c: Context): OpenerOf
  /** If the browser has proofs of too many connect sessions, deletes all except that of this connect session. */
  limitOpeners(c: Context, connectSessionId: string): void
}

/** Scripts cannot read the cookies, and with TLS no other host can set them (`__Host-`, RFC 6265bis section 4.1.3). */
export function browserCookies({ settings }: Pick<Broker, 'settings'>): BrowserCookies {
  const secure = settings.publicUrl.protocol === 'https:'
  const named = (name: string) => (secure ? `__Host-${name}` : name)
  const cookies = {
    browser: named('gatepass'),
    proof: named('gatepass-user'),
    session: named('gatepass-session'),
    login: named('gatepass-login-'),
    open: named('gatepass-open-'),
    arrival: named('gatepass-install'),
    state: named('gatepass-state'),
  }
  // Lax, because the provider redirects the browser back from another site
  const attributes = { path: '/', httpOnly: true, sameSite: 'Lax', secure } as const
  const openCookie = (connectSessionId: string) => `${cookies.open}${sha256(connectSessionId).slice(0, 16)}`
  const loginCookie = (stateHash: string) => `${cookies.login}${stateHash.slice(0, 16)}`

  function idOf(c: Context): string | undefined {
    const id = getCookie(c, cookies.browser)
    return id !== undefined && /^[\w-]{43}$/.test(id) ? id : undefined
  }

  return {
    idOf,
    bind(c) {
      const id = idOf(c) ?? randomToken()
      // an attempt is bound to this id, so the cookie must live as long as the authorization may
      const maxAge = Math.max(BROWSER_SECONDS, settings.authorizationTtlSeconds)
      setCookie(c, cookies.browser, id, { ...attributes, maxAge })
      return id
    },
    setLogin(c, { stateHash, kept, seconds }) {
      const others = Object.keys(getCookie(c)).filter((name) => name.startsWith(cookies.login))
      if (others.length >= MAX_LOGINS) for (const name of others) deleteCookie(c, name, attributes)
      setCookie(c, loginCookie(stateHash), kept, { ...attributes, maxAge: seconds })
    },
    keptLogin: (c, stateHash) => getCookie(c, loginCookie(stateHash)),
    endLogin(c, stateHash, proof) {
      deleteCookie(c, loginCookie(stateHash), attributes)
      if (proof !== undefined)
        setCookie(c, cookies.proof, proof.value, { ...attributes, maxAge: proof.seconds })
    },
    loginProof: (c) => getCookie(c, cookies.proof),
    session: (c) => getCookie(c, cookies.session),
    keepSession: (c, { token, seconds }) =>
      setCookie(c, cookies.session, token, { ...attributes, maxAge: seconds }),
    forgetSession: (c) => void deleteCookie(c, cookies.session, attributes),
    state: (c) => getCookie(c, cookies.state),
    keepState: (c, state) =>
      setCookie(c, cookies.state, state, { ...attributes, maxAge: settings.authorizationTtlSeconds }),
    arrival: (c) => getCookie(c, cookies.arrival),
    keepArrival: (c, { value, seconds }) =>
      setCookie(c, cookies.arrival, value, { ...attributes, maxAge: seconds }),
    keepOpener: (c, connectSessionId, { value, seconds }) =>
      setCookie(c, openCookie(connectSessionId), value, { ...attributes, maxAge: seconds }),
    openerOf: (c) => (connectSessionId) => getCookie(c, openCookie(connectSessionId)),
    // `keepOpener` cannot count them: its request is a form from another site, sent without cookies
    limitOpeners(c, connectSessionId) {
      const all = Object.keys(getCookie(c)).filter((name) => name.startsWith(cookies.open))
      if (all.length <= MAX_OPENED) return
      const own = openCookie(connectSessionId)
      for (const name of all) if (name !== own) deleteCookie(c, name, attributes)
    },
  }
}
