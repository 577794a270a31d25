import { html } from 'hono/html'
import type { Brand } from '../../domain/brand.ts'
import type { LoginTrouble } from '../../flows/identify-user.ts'
import { type Html, page } from '../../http/pages/layout.ts'
import type { Words } from '../../http/pages/texts/words.ts'

export interface LoginTroubleView {
  readonly trouble: LoginTrouble
  readonly action: string
  readonly words: Words
  readonly brand: Brand
}

/** The page after a login that identified no user; its button begins another login. */
export function loginTroublePage({ trouble, action, words, brand }: LoginTroubleView): Html {
  const { endings } = words.texts
  const { title, happened } = endings.kinds[`login_${trouble}`]
  const body = html`<main>
<article class="card">
<h1>${title}</h1>
<p>${happened}</p>
<form method="post" action="${action}"><button type="submit" name="decision" value="login">${endings.tryAgain}</button></form>
<p class="reason muted small">${endings.reason} <code>login_${trouble}</code></p>
</article>
</main>`
  return page(title, body, { words, brand })
}
