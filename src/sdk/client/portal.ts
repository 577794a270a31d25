import type * as Wire from '../generated/wire.ts'
import type { RequestOptions, Transport } from './transport.ts'

/** What the user may do on the page; every right includes `view`. */
export type PortalRight = NonNullable<Wire.PortalLinkRequest['may']>[number]

export interface PortalOptions extends RequestOptions {
  /** The address to which the page's link back leads. */
  readonly returnUrl?: string | undefined
  /** The user's name, for the page. */
  readonly userDisplay?: string | undefined
  /** The language of the page; else that of the browser. */
  readonly lang?: NonNullable<Wire.PortalLinkRequest['lang']> | undefined
  /** `view` and `disconnect` by default. */
  readonly may?: readonly PortalRight[] | undefined
  /** How long the link works: 30 to 3,600 seconds; 300 by default. */
  readonly seconds?: number | undefined
}

/** A link that opens the user's own page, once. */
export interface PortalLink {
  readonly url: string
  readonly expiresAt: Date
}

export async function createPortalLink(
  transport: Transport,
  user: string,
  { returnUrl, userDisplay, lang, may, seconds, ...options }: PortalOptions,
): Promise<PortalLink> {
  const { url, expires_at } = await transport.call('createPortalLink', {
    params: { user_id: user },
    body: {
      return_url: returnUrl,
      user_display: userDisplay,
      lang,
      may: may && [...new Set<PortalRight>(['view', ...may])],
      seconds,
    }, // a repetition makes at most one more link, which is not shown and expires
    options,
  })
  return { url, expiresAt: new Date(expires_at) }
}
