import { html } from 'hono/html'
import type { Brand } from '../../domain/brand.ts'
import type { UseKind } from '../../domain/requested-use.ts'
import { csrfInput } from '../../http/pages/csrf-input.ts'
import { sign } from '../../http/pages/ending-page.ts'
import { type Html, name, page } from '../../http/pages/layout.ts'
import type { Text } from '../../http/pages/texts/text.ts'
import type { Words } from '../../http/pages/texts/words.ts'
import { moment } from '../../http/pages/times.ts'
import { untrustedText } from '../../http/pages/untrusted-text.ts'
import { decideButtons, questionView, type ShownQuestion } from './page-question.ts'
import { approvalTexts } from './page-texts.ts'

interface Look {
  readonly words: Words
  readonly brand: Brand
}

export interface ApproveView extends Look {
  readonly question: ShownQuestion
  readonly use: UseKind
  readonly userId: string
  /** The path of the page, to which the form is posted. */
  readonly action: string
  readonly csrf: string
  readonly digest: string
  /** Everything is shown, also long values. */
  readonly showsAll: boolean
  readonly problem?: Text | undefined
}

/** The page on which a user decides about exactly one call. */
export function approvePage(view: ApproveView): Html {
  const { words, brand, question, action, csrf, digest, showsAll, problem, userId } = view
  const { call } = question
  const t = approvalTexts(words)
  const { clients } = words.texts
  const agent = untrustedText(call.agentName)
  const changes = call.hints.includes('destructive')
  const body = html`<main>
<article class="card">
<h1>${heading(view)}</h1>
<p class="identity">${clients.loggedInAs({ user: name(userId, { longest: 512 }) })}</p>
${problem !== undefined && html`<p class="warning" role="alert">${problem}</p>`}
${changes && html`<p class="warning" role="note">${t.destructive}</p>`}
<dl class="facts">
<dt>${t.askedBy}</dt><dd>${agent}</dd>
${call.connections.map((one) => html`<dt>${t.account}</dt><dd>${name(one.provider)}${one.account !== '' && html` · ${untrustedText(one.account)}`}</dd>`)}
${call.hosts.length > 0 && html`<dt>${t.host}</dt><dd>${call.hosts.map((host) => html`<code>${untrustedText(host)}</code> `)}</dd>`}
${call.runAt !== undefined && html`<dt>${t.runAt}</dt><dd>${moment(words, call.runAt)}</dd>`}
</dl>
<form method="post" action="${action}${showsAll ? '?all=1' : ''}">
${csrfInput(csrf)}<input type="hidden" name="digest" value="${digest}">
${questionView(question, view)}
<div class="decide">${decideButtons(question, view)}</div>
<button class="link" type="submit" name="decision" value="block">${t.block({ agent })}</button>
</form>
</article>
</main>`
  return page(t.title, body, { words, brand })
}

function heading({ words, brand, use, question }: ApproveView): Text {
  const t = approvalTexts(words)
  const app = brand.appName === undefined ? undefined : name(brand.appName)
  const title = untrustedText(question.call.title)
  switch (use) {
    case 'tool':
      return t.wants({ app, tool: title })
    case 'proxy':
      return t.wantsRequest({ app, request: title })
    case 'token':
      return t.wantsToken({ app, provider: title })
  }
}

/** The page with the state of the question, for those who have nothing to decide. */
export function approvalStatePage({
  words,
  brand,
  title = approvalTexts(words).title,
  subject,
  text,
  isApproved = false,
  again,
}: Look & {
  readonly title?: Text
  /** What was asked about, for its user alone. */
  readonly subject?: string | undefined
  readonly text: Text
  readonly isApproved?: boolean
  /** The path to which another user logs in. */
  readonly again?: { readonly action: string }
}): Html {
  const body = html`<main>
<article class="card">
${isApproved && sign('good')}<h1>${title}</h1>
${subject !== undefined && html`<p><strong>${untrustedText(subject)}</strong></p>`}
<p role="status">${text}</p>
${again && html`<form method="post" action="${again.action}"><button class="secondary" type="submit" name="decision" value="login">${words.texts.clients.logInAsAnother}</button></form>`}
</article>
</main>`
  return page(title, body, { words, brand })
}
