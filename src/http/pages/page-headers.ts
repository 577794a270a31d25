import type { Context } from 'hono'

export type PageStatus = 200 | 400 | 403 | 404 | 410 | 503

interface PageHeaderOptions {
  readonly formTo?: readonly URL[]
  readonly hasForm?: boolean
}

/**
 * The headers of everything a browser is shown: nothing from elsewhere, no script, no frame around it, no window that
 * holds on to it, no Referer, no copy kept (RFC 9700 sections 4.2, 4.16 and 4.17).
 *
 * @param options.formTo where the page's form leads to by redirects: the authorization endpoint, the login before it.
 * Chromium holds `form-action` against the whole chain of redirects, and providers go on to login hosts of their own, so
 * any https (or http, where one of these is) must do there.
 * @param options.hasForm the page has a form for this server. Under `no-referrer` browsers send it with `Origin: null`,
 * as another site's; `same-origin` tells this server alone where it comes from.
 */
export function pageHeaders(c: Context, { formTo = [], hasForm = false }: PageHeaderOptions = {}): void {
  const elsewhere = formTo.length === 0 ? [] : ['https:']
  if (formTo.some(({ protocol }) => protocol === 'http:')) elsewhere.push('http:')
  const formAction = ["'self'", ...elsewhere].join(' ')
  c.header(
    'content-security-policy',
    `default-src 'none'; style-src 'self'; img-src 'self' data:; form-action ${formAction}; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'`,
  )
  c.header('x-frame-options', 'DENY')
  c.header('x-content-type-options', 'nosniff')
  c.header('referrer-policy', hasForm ? 'same-origin' : 'no-referrer')
  c.header('cross-origin-opener-policy', 'same-origin')
  c.header('cross-origin-resource-policy', 'same-origin')
  c.header('permissions-policy', NO_PERMISSIONS)
  c.header('cache-control', 'no-store')
}

/** What a page could ask a browser for, none of which any page here has a use for. */
const NO_PERMISSIONS = [
  'accelerometer',
  'autoplay',
  'camera',
  'display-capture',
  'fullscreen',
  'geolocation',
  'gyroscope',
  'hid',
  'magnetometer',
  'microphone',
  'midi',
  'payment',
  'publickey-credentials-get',
  'serial',
  'usb',
]
  .map((feature) => `${feature}=()`)
  .join(', ')
