import type { z } from '@hono/zod-openapi'
import { html } from 'hono/html'
import { wordChanges } from '../../../domain/word-changes.ts'
import type { acceptanceSchema } from '../../../operations/workers/worker-acceptance.ts'
import type { Html } from '../../pages/layout.ts'
import { untrustedChanges, untrustedText } from '../../pages/untrusted-text.ts'
import { badge, code, table } from '../elements.ts'

type Acceptance = z.infer<typeof acceptanceSchema>
type Changed = NonNullable<Acceptance['changed']>[number]

/** The definitions that wait, each with its difference, word by word. */
export function definitionsView(changed: readonly Changed[]): Html {
  return html`<p>The worker lists these tools otherwise than they were accepted. A changed tool is listed with its accepted text and does not run, a new one is not listed, until you accept. The text below was written by the worker.</p>
${changed.map(definitionView)}`
}

function definitionView({
  tool,
  from,
  unstable,
  looks_like,
  addresses_model = [],
  diff = [],
}: Changed): Html {
  const rows = diff.map(({ at, before, after }) => [
    html`<code>${untrustedText(at)}</code>`,
    untrustedChanges(wordChanges(toText(before), toText(after))),
  ])
  return html`<h3>${code(tool)} ${from === undefined ? badge('new') : badge('changed', 'wait')}</h3>
${unstable && html`<p class="note bad">It has changed and returned to what was accepted: it may change again after you look.</p>`}
${looks_like !== undefined && html`<p class="note wait">Its name looks like ${code(looks_like.tool)} of ${code(looks_like.worker)}.</p>`}
${addresses_model.length > 0 && html`<p class="note wait">Seems to address the model: ${addresses_model.map((at) => html`<code>${untrustedText(at)}</code> `)}</p>`}
${table('What differs', ['Where', 'Difference'], rows, 'It is as it was accepted.')}`
}

/** Tools whose names look like those of another worker. */
export function lookAlikesView(found: NonNullable<Acceptance['look_alikes']>): Html {
  const rows = found.map(({ tool, like, worker }) => [code(tool), code(like), code(worker)])
  return table('Names that look alike', ['Tool', 'Looks like', 'Of'], rows, 'None.')
}

function toText(value: unknown): string {
  if (value === undefined) return ''
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2)
}
