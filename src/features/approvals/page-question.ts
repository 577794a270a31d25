import { html } from 'hono/html'
import type { Broker } from '../../broker.ts'
import type { Remember } from '../../domain/approval.ts'
import { toolId } from '../../domain/tool.ts'
import type { Html } from '../../http/pages/layout.ts'
import type { Words } from '../../http/pages/texts/words.ts'
import { namedTools } from '../../tools/catalogue/known-tools.ts'
import { permitted } from './decide-approval.ts'
import type { Approval } from './domain.ts'
import { argumentList, isLong, type ShownArgument, shownArguments } from './page-arguments.ts'
import { approvalTexts } from './page-texts.ts'
import { openCall, type ShownCall } from './shown-call.ts'

/** A call as everybody sees it who decides about it. */
export interface ShownQuestion {
  readonly call: ShownCall
  readonly shown: readonly ShownArgument[]
  /** What the approver may choose. */
  readonly remember: readonly Remember[]
}

/** `undefined` if the call is no longer stored. */
export async function shownQuestion(broker: Broker, approval: Approval): Promise<ShownQuestion | undefined> {
  const { projectId, subject, rules } = approval
  const call = openCall(broker.sealer, 'approvals', approval)
  if (call === undefined) return undefined
  const tools = await namedTools(broker, projectId, subject.toLowerCase())
  const tool = tools.find((one) => toolId(one) === subject)
  return { call, shown: shownArguments(call, tool?.inputSchema), remember: permitted(rules, call) }
}

/** Whether the call has long values that the page did not show, so that the answer of the page approves nothing. */
export async function isUnread(broker: Broker, approval: Approval, showsAll: boolean): Promise<boolean> {
  if (showsAll) return false
  const question = await shownQuestion(broker, approval)
  return question !== undefined && isLong(question.shown)
}

/** What would be sent, and how long an approval of it counts. */
export function questionView(
  { shown, remember }: ShownQuestion,
  { words, showsAll }: { readonly words: Words; readonly showsAll: boolean },
): Html {
  const t = approvalTexts(words)
  const isChoice = remember.length > 1
  return html`<h2>${t.details}</h2>
<p class="muted small">${t.warning}</p>
${argumentList(shown, { words, showsAll, ticks: isChoice })}
${isChoice && html`<fieldset><legend>${t.remember}</legend>${remember.map((one) => html`<label><input type="radio" name="remember" value="${one}"${one === 'once' ? html` checked` : ''}> ${t[one]}</label>`)}</fieldset>`}`
}

/** The buttons that decide, neither of them the primary one; before a long value was read whole, only the one that denies. */
export function decideButtons(
  question: ShownQuestion,
  { words, showsAll, action }: { readonly words: Words; readonly showsAll: boolean; readonly action: string },
): Html {
  const t = approvalTexts(words)
  const deny = html`<button class="secondary" type="submit" name="decision" value="deny">${t.deny}</button>`
  if (isLong(question.shown) && !showsAll)
    return html`<p>${t.readAll}</p><p><a class="button" href="${action}?all=1">${t.showAll}</a></p>${deny}`
  return html`${deny} <button class="secondary" type="submit" name="decision" value="approve">${t.approve}</button>`
}
