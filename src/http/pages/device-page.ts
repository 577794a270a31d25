import { html } from 'hono/html'
import { type Brand, NO_BRAND } from '../../domain/brand.ts'
import type { EpochSeconds } from '../../domain/clock.ts'
import { assetHref } from './assets.ts'
import { type Html, name, page } from './layout.ts'
import type { Text } from './texts/text.ts'
import type { Words } from './texts/words.ts'

interface DeviceView {
  readonly brand?: Brand
  readonly requester?: string | undefined
  readonly providerName: string
}

/** The code of a device grant (RFC 8628), for the browser that clicked. */
export interface CodeView extends DeviceView {
  readonly userCode: string
  readonly verificationUri: string
  readonly expiresAt: EpochSeconds
  readonly now: EpochSeconds
  /** The URL of this page, which shows more once the user has approved. */
  readonly lookAgain: string
  /** The URL that says whether this page has something else to show. */
  readonly waitsAt: string
  readonly cancelAction: string
}

/**
 * The page with the code: where to enter it, and that only who has started here may do so. The link never has the code in
 * it (`verification_uri_complete`), so that the user compares what is entered with this page.
 */
export function codePage(view: CodeView, words: Words): Html {
  const { brand = NO_BRAND, userCode, verificationUri, waitsAt, lookAgain, cancelAction } = view
  const { device, cancel } = words.texts.connect
  const provider = name(view.providerName)
  const host = name(new URL(verificationUri).host)
  const body = html`<main>
<article class="card">
<h1>${device.title({ provider })}</h1>
<p>${device.open({ host: html`<strong>${host}</strong>` })}</p>
<p class="device-code"><code dir="ltr">${userCode}</code></p>
<p class="warning" role="note">${device.warning({ app: appIn(view) })}</p>
<p><a class="button" href="${verificationUri}" target="_blank" rel="noopener noreferrer">${device.go({ host })}</a></p>
<p class="muted" role="status" data-wait="${waitsAt}">${device.waiting} <a href="${lookAgain}">${device.approved}</a></p>
<form method="post" action="${cancelAction}"><button class="secondary" type="submit">${cancel}</button></form>
<p class="muted small">${timeLeft(view, words)}</p>
</article>
</main>`
  return page(device.title({ provider: view.providerName }), body, {
    words,
    brand,
    script: assetHref('device.js'),
  })
}

/** The name of the field that says which grant the answer is about. */
export const GRANT_FIELD = 'grant'

export interface AccountView extends DeviceView {
  /** Empty: the provider did not name it. */
  readonly account: string
  readonly grantHash: string
  /** The URLs to which the two answers are posted. */
  readonly mineAction: string
  readonly notMineAction: string
}

/** The question before anything is stored: nothing else shows the user which account has approved. */
export function accountPage(view: AccountView, words: Words): Html {
  const { brand = NO_BRAND, account, grantHash, mineAction, notMineAction } = view
  const { device } = words.texts.connect
  const provider = name(view.providerName)
  const who =
    account === ''
      ? device.unnamed({ provider })
      : device.connectedAs({ account: name(account, { longest: 100 }) })
  const about = html`<input type="hidden" name="${GRANT_FIELD}" value="${grantHash}">`
  const body = html`<main>
<article class="card">
<h1>${device.isYours}</h1>
<p>${provider}: ${who}${words.gap}${device.isYours}</p>
<p class="warning" role="note">${device.nothingStored}</p>
<form method="post" action="${mineAction}">${about}<button type="submit">${device.mine}</button></form>
<form method="post" action="${notMineAction}">${about}<button class="secondary" type="submit">${device.notMine}</button></form>
</article>
</main>`
  return page(device.isYours, body, { words, brand })
}

function appIn({ brand = NO_BRAND, requester }: DeviceView): Text | undefined {
  const app = brand.appName ?? requester
  return app === undefined ? undefined : name(app)
}

function timeLeft({ expiresAt, now }: CodeView, { texts: { connect } }: Words): Text {
  const minutes = Math.floor((expiresAt - now) / 60)
  return minutes < 1 ? connect.device.lessThanAMinute : connect.device.minutesLeft({ count: minutes })
}
