import type { Context } from 'hono'

export type PageStatus = 200 | 400 | 403 | 404 | 410 | 503

interface PageHeaderOptions {
  readonly formTo?: readonly URL[]
  readonly hasForm?: boolean
  readonly script?: 'runs' | 'runs and sends requests'
}

/**
 * Sets the headers of a page: no resources of other hosts, no script, no framing, no opener, no Referer, no caching (RFC
 * 9700 sections 4.2, 4.16 and 4.17).
 *
 * @param options.formTo the URLs to which the page's form leads by redirects: the authorization endpoint and the login
 * before it. Chromium checks `form-action` for every redirect, and providers redirect to login hosts of their own, so the
 * policy allows every https URL, and every URL with the scheme of one of `formTo`.
 * @param options.hasForm the page has a form for this server. Under `no-referrer` browsers send it with `Origin: null`,
 * as they do for another site; under `same-origin` this server, and no other, learns the origin.
 * @param options.script `runs`: the page may load this server's own scripts, as the final page of a popup does. `runs and
 * sends requests`: these may also send requests to this server, as those of the console do.
 */
export function pageHeaders(
  c: Context,
  { formTo = [], hasForm = false, script }: PageHeaderOptions = {},
): void {
  const elsewhere = formTo.length === 0 ? [] : new Set(['https:', ...formTo.map(({ protocol }) => protocol)])
  const formAction = ["'self'", ...elsewhere].join(' ')
  c.header(
    'content-security-policy',
    `default-src 'none'; style-src 'self'; img-src 'self' data:; form-action ${formAction}; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'${scriptPolicy(script)}`,
  )
  c.header('x-frame-options', 'DENY')
  c.header('x-content-type-options', 'nosniff')
  c.header('referrer-policy', hasForm ? 'same-origin' : 'no-referrer')
  c.header('cross-origin-opener-policy', 'same-origin')
  c.header('cross-origin-resource-policy', 'same-origin')
  c.header('permissions-policy', NO_PERMISSIONS)
  c.header('cache-control', 'no-store')
}

function scriptPolicy(script: PageHeaderOptions['script']): string {
  if (script === undefined) return ''
  return `; script-src 'self'${script === 'runs' ? '' : "; connect-src 'self'"}`
}

/** Browser features that no page uses. */
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
