import { html } from 'hono/html'
import type { Brand } from '../../domain/brand.ts'
import type { LoginTrouble } from '../../flows/identify-user.ts'
import { type Html, name, page } from './layout.ts'
import type { Words } from './texts/words.ts'

export interface InstallView {
  readonly words: Words
  readonly brand: Brand
  readonly provider: string
  /** What the provider's page sent along, as the entry keeps it. */
  readonly hints: Readonly<Record<string, string>>
  readonly action: string
  /** The user who has logged in in this browser. */
  readonly user: string | undefined
  /** Whether users can log in here. */
  readonly canLogIn: boolean
  readonly trouble: LoginTrouble | undefined
}

/** The page for users who come from the provider's own page: nothing has begun yet. */
export function installPage({ words, brand, provider, hints, user, ...view }: InstallView): Html {
  const t = words.texts.connect.install
  const shown = Object.entries(hints)
  const from = name(provider)
  const button = (text: typeof t.login, again?: 'again') => html`<form method="post" action="${view.action}">
${again !== undefined && html`<input type="hidden" name="login" value="again">`}
<button type="submit" class="${again === undefined ? '' : 'secondary'}">${text}</button>
</form>`
  const who =
    user === undefined
      ? view.canLogIn
        ? t.who
        : t.noLogin
      : t.continueAs({ user: name(user, { longest: 512 }) })
  const body = html`<main>
<article class="card">
<h1>${t.title({ provider: from })}</h1>
${view.trouble !== undefined && html`<p class="warning" role="alert">${t.trouble}</p>`}
<p>${who}</p>
${shown.length > 0 && html`<dl class="facts">${shown.map(([hint, value]) => html`<dt>${name(hint)}</dt><dd>${name(value)}</dd>`)}</dl>`}
<p class="warning">${t.warning({ provider: from })}</p>
${user !== undefined && button(t.go)}
${view.canLogIn && (user === undefined ? button(t.login) : button(t.another, 'again'))}
</article>
</main>`
  return page(t.title({ provider }), body, { words, brand })
}
