import { html } from 'hono/html'
import { type Html, page } from './layout.ts'
import type { Words } from './texts/words.ts'

/** The login of development mode. It asks for a user id and does not verify it. */
export function openLoginPage({
  state,
  words,
  isRefused = false,
}: {
  readonly state: string
  readonly words: Words
  readonly isRefused?: boolean
}): Html {
  const t = words.texts.start.login
  const body = html`<main>
<article class="card">
<p class="tag">${t.tag}</p>
<h1>${t.heading}</h1>
<p>${t.unchecked({ setting: html`<code>GATEPASS_USER_VERIFIER</code>` })}</p>
${isRefused && html`<p class="warning" role="alert">${t.refused}</p>`}
<form method="post" action="/login/open">
<input type="hidden" name="state" value="${state}">
<label for="user_id">${t.userId}</label>
<input id="user_id" name="user_id" required maxlength="500" autocomplete="off" autocapitalize="none" spellcheck="false" dir="auto" autofocus>
<button type="submit">${t.go}</button>
</form>
</article>
</main>`
  return page(t.title, body, { words })
}
