import { html } from 'hono/html'
import type { Brand } from '../../domain/brand.ts'
import { csrfInput } from '../../http/pages/csrf-input.ts'
import { type Html, name, page, webUrl } from '../../http/pages/layout.ts'
import type { Words } from '../../http/pages/texts/words.ts'
import { portalStyle } from './page-style.ts'
import { portalTexts } from './page-texts.ts'

/** What every page of `/me` has: its language, its look, its user, and the link back to the application. */
export interface PortalFrame {
  readonly words: Words
  /** How the project's pages look, with the application's name. Without one the texts say "your application". */
  readonly brand: Brand
  /** The user's display name, else the user id. */
  readonly user: string
  readonly returnUrl?: string | undefined
  /** The CSRF token of the session, which every form sends. */
  readonly csrf: string
}

/** A form with one button. */
export function buttonForm(
  { csrf }: Pick<PortalFrame, 'csrf'>,
  {
    action,
    text,
    about,
    look = 'secondary',
    inside,
  }: {
    readonly action: string
    readonly text: Html | string
    /** Which account or application, for screen readers, where several buttons have the same text. */
    readonly about?: string | undefined
    readonly look?: 'primary' | 'secondary' | 'danger' | 'link'
    readonly inside?: Html
  },
): Html {
  return html`<form method="post" action="${action}">${csrfInput(csrf)}${inside}<button type="submit" class="${look}"${about === undefined ? '' : html` aria-label="${text}: ${about}"`}>${text}</button></form>`
}

/** The application's name, for the texts. */
export function appOf({ brand: { appName } }: Pick<PortalFrame, 'brand'>): Html | undefined {
  return appName === undefined ? undefined : name(appName)
}

/** One card, for a question or an answer. */
export function cardPage(
  { words, brand }: Pick<PortalFrame, 'words' | 'brand'>,
  title: string,
  inside: Html,
): Html {
  return page(title, html`<main><article class="card">${inside}</article></main>`, {
    words,
    brand,
    style: portalStyle.href,
  })
}

/** The link back to the application. */
export function returnLink({ words, returnUrl }: Pick<PortalFrame, 'words' | 'returnUrl'>): Html | undefined {
  const url = webUrl(returnUrl)
  return url && html`<a href="${url.href}">${portalTexts(words).backTo({ host: name(url.host) })}</a>`
}
