import { html } from 'hono/html'
import type { OfferedOption } from '../../domain/authorization.ts'
import { type Brand, NO_BRAND } from '../../domain/brand.ts'
import { type Html, name, page } from './layout.ts'
import type { Words } from './texts/words.ts'

export interface ChooseView {
  readonly words: Words
  readonly brand?: Brand | undefined
  readonly providerName: string
  /** What the provider listed; empty: the client is installed nowhere yet. */
  readonly options: readonly Pick<OfferedOption, 'id' | 'name' | 'detail'>[]
  /** The URL to which the choice is posted, and a new click that asks the provider again. */
  readonly action: string
  readonly cancelAction: string
  /** The provider's page on which the client is installed. */
  readonly installAt?: URL | undefined
}

/** The name of the form's field with the chosen installation. */
export const CHOICE_FIELD = 'choice'

/** The page after the consent, for a browser that has to choose what is connected, or to install the client first. */
export function choosePage({ words, brand = NO_BRAND, options, ...view }: ChooseView): Html {
  const { connect } = words.texts
  const t = connect.choosing
  const provider = name(view.providerName)
  const app = brand.appName === undefined ? undefined : name(brand.appName)
  const isNone = options.length === 0
  const title = isNone ? t.noneTitle : t.title
  const list = html`<p>${t.intro({ provider })}</p>
${options.map(
  (option) => html`<form method="post" action="${view.action}">
<input type="hidden" name="${CHOICE_FIELD}" value="${option.id}">
<button type="submit" aria-label="${t.connect}: ${[option.name, option.detail].filter(Boolean).join(', ')}"><bdi>${option.name}</bdi>${
    option.detail !== undefined && html`<br><bdi class="small">${option.detail}</bdi>`
  }</button></form>`,
)}
<p class="warning" role="note">${connect.warning({ app })}</p>
<p class="muted small">${t.notListed({ provider })}</p>`
  const none = html`<p>${t.none({ provider })}</p>
${view.installAt !== undefined && html`<p><a class="button" href="${view.installAt.href}" rel="noreferrer">${t.install({ provider })}</a></p>`}
<p class="muted small">${t.installed}</p>`
  const body = html`<main>
<article class="card">
<h1>${title({ provider })}</h1>
${isNone ? none : list}
<form method="post" action="${view.action}"><button class="secondary" type="submit">${t.lookAgain}</button></form>
<form method="post" action="${view.cancelAction}"><button class="secondary" type="submit">${connect.cancel}</button></form>
</article>
</main>`
  return page(title({ provider: view.providerName }), body, { words, brand })
}
