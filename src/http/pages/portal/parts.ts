import { html } from 'hono/html'
import { type Html, name, page, webUrl } from '../layout.ts'
import type { Words } from '../texts/words.ts'

/** What every page of `/me` shows: its language, whose it is, and where it leads back to. */
export interface PortalFrame {
  readonly words: Words
  /** The application's name; absent: "your application". */
  readonly app?: string | undefined
  /** The user's name for people, else the user id. */
  readonly user: string
  readonly returnUrl?: string | undefined
  /** The token of the session's forms. */
  readonly csrf: string
}

export function csrfInput(csrf: string): Html {
  return html`<input type="hidden" name="csrf" value="${csrf}">`
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

export function nameOf(app: string | undefined): Html | undefined {
  return app === undefined ? undefined : name(app)
}

/** One card, for a question or an answer. */
export function cardPage(words: Words, title: string, inside: Html): Html {
  return page(title, html`<main><article class="card">${inside}</article></main>`, { words })
}

/** The link back to the application. */
export function returnLink({ words, returnUrl }: Pick<PortalFrame, 'words' | 'returnUrl'>): Html | undefined {
  const url = webUrl(returnUrl)
  return url && html`<a href="${url.href}">${words.texts.portal.backTo(name(url.host))}</a>`
}
