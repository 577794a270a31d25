import { html } from 'hono/html'
import { type TextPart, textParts } from '../../domain/untrusted-text.ts'
import type { WordChange } from '../../domain/word-changes.ts'
import type { Html } from './layout.ts'

/** Text that a program wrote, made harmless for a page: no markup, nothing unseen, isolated in its direction. */
export function untrustedText(text: string): Html {
  return html`<bdi class="untrusted">${textParts(text).map(partHtml)}</bdi>`
}

/** The difference of two such texts, with what was removed and what was added. */
export function untrustedChanges(changes: readonly WordChange[]): Html {
  return html`<bdi class="untrusted">${changes.map(({ kind, text }) => {
    const parts = textParts(text, { isWhole: false }).map(partHtml)
    if (kind === 'same') return parts
    return kind === 'removed' ? html`<del>${parts}</del>` : html`<ins>${parts}</ins>`
  })}</bdi>`
}

function partHtml({ kind, text }: TextPart): Html | string {
  return kind === 'plain' ? text : html`<mark>${text}</mark>`
}
