import type { Context } from 'hono'

export type PageStatus = 200 | 400 | 403 | 404 | 410 | 503

/**
 * The headers of everything a browser is shown: nothing from elsewhere, no script, no frame around it, no Referer, no
 * copy kept (RFC 9700 sections 4.2 and 4.16).
 *
 * @param options.formTo the authorization endpoint that the page's form leads to by a redirect. Chromium holds
 * `form-action` against the whole chain of redirects, and providers go on to login hosts of their own, so any https
 * (or http, where the provider is) must do there.
 */
export function pageHeaders(c: Context, options: { readonly formTo?: URL } = {}): void {
  const formAction =
    options.formTo === undefined
      ? "'self'"
      : `'self' https: ${options.formTo.protocol === 'http:' ? 'http:' : ''}`
  c.header(
    'content-security-policy',
    `default-src 'none'; style-src 'self'; img-src 'self' data:; form-action ${formAction.trim()}; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'`,
  )
  c.header('x-frame-options', 'DENY')
  c.header('x-content-type-options', 'nosniff')
  c.header('referrer-policy', 'no-referrer')
  c.header('cross-origin-opener-policy', 'same-origin')
  c.header('cross-origin-resource-policy', 'same-origin')
  c.header('cache-control', 'no-store')
}
