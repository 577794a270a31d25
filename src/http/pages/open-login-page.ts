import { html } from 'hono/html'
import { type Html, page } from './layout.ts'

/** Development's login, where nothing checks who the person at the browser is: it asks for the user to act as. */
export function openLoginPage({
  state,
  isRefused = false,
}: {
  readonly state: string
  readonly isRefused?: boolean
}): Html {
  const body = html`<main>
<article class="card">
<p class="tag">Development only</p>
<h1>Who are you?</h1>
<p>Nothing checks the answer here. Outside of development, users log in at your issuer or at your application’s own page
(<code>GATEPASS_USER_VERIFIER</code>).</p>
${isRefused && html`<p class="warning" role="alert">Give a user id of 1 to 500 characters.</p>`}
<form method="post" action="/login/open">
<input type="hidden" name="state" value="${state}">
<label for="user_id">User id</label>
<input id="user_id" name="user_id" required maxlength="500" autocomplete="off" autofocus>
<button type="submit">Continue</button>
</form>
</article>
</main>`
  return page('Log in', body)
}
