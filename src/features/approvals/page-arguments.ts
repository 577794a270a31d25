import { html } from 'hono/html'
import type { JsonSchema } from '../../domain/tool.ts'
import { type Html, name } from '../../http/pages/layout.ts'
import type { Words } from '../../http/pages/texts/words.ts'
import { untrustedText } from '../../http/pages/untrusted-text.ts'
import { isRecord } from '../../parsing/json-record.ts'
import { asciiHost } from './ascii-host.ts'
import { approvalTexts } from './page-texts.ts'
import type { ShownCall } from './shown-call.ts'

// The arguments of a call, as a person reads them before a decision: complete, and as text alone.

/** Characters of one value that are shown at once; a longer one is folded until everything is shown. */
const FOLDED_FROM = 2_000

export interface ShownArgument {
  readonly name: string
  readonly label: string
  readonly value: string
  /** The schema does not have it. */
  readonly isUndescribed: boolean
  /** The schema says that people do not see it (`format: password`, `writeOnly`). */
  readonly isHidden: boolean
  /** It stays the same in any case, as metadata does. */
  readonly isFixed: boolean
}

/** The arguments in the order of the schema; those that it does not have come first. */
export function shownArguments(
  { input, metadata = {}, always = [] }: Pick<ShownCall, 'input' | 'metadata' | 'always'>,
  schema: JsonSchema | undefined,
): readonly ShownArgument[] {
  const properties = isRecord(schema?.properties) ? schema.properties : {}
  const described = Object.keys(properties).filter((key) => Object.hasOwn(input, key))
  const others = Object.keys(input).filter((key) => !Object.hasOwn(properties, key))
  const beside = Object.entries(metadata).map(([key, value]) => ({
    name: `metadata.${key}`,
    label: key,
    value,
    isUndescribed: false,
    isHidden: false,
    isFixed: true,
  }))
  const shown = [...others, ...described].map((key) => {
    const property = Object.hasOwn(properties, key) ? properties[key] : undefined
    const { title, format, writeOnly } = isRecord(property) ? property : {}
    const value = input[key]
    return {
      name: key,
      label: typeof title === 'string' && title !== '' ? title : key,
      value: typeof value === 'string' ? value : JSON.stringify(value, null, 1),
      isUndescribed: schema !== undefined && property === undefined,
      isHidden: format === 'password' || writeOnly === true,
      isFixed: always.includes(key),
    }
  })
  return [...shown, ...beside]
}

export function isLong(shown: readonly ShownArgument[]): boolean {
  return shown.some(({ value, isHidden }) => !isHidden && value.length > FOLDED_FROM)
}

/** @param options.ticks shows a checkbox beside each value, for what stays the same. */
export function argumentList(
  shown: readonly ShownArgument[],
  { words, showsAll, ticks }: { readonly words: Words; readonly showsAll: boolean; readonly ticks: boolean },
): Html {
  const t = approvalTexts(words)
  if (shown.length === 0) return html`<p>${t.noDetails}</p>`
  return html`<dl class="facts arguments">${shown.map(
    (argument) => html`<div>
<dt>${untrustedText(argument.label)}${argument.label !== argument.name && html` <code class="small">${untrustedText(argument.name)}</code>`}${argument.isUndescribed && html` <span class="muted small">${t.undescribed}</span>`}</dt>
<dd>${valueText(argument, words, showsAll)}${
      ticks && !argument.isHidden && !argument.isFixed
        ? html`<label class="small tick"><input type="checkbox" name="fixed" value="${argument.name}" checked> ${t.same}</label>`
        : ''
    }</dd>
</div>`,
  )}</dl>`
}

function valueText({ value, isHidden }: ShownArgument, words: Words, showsAll: boolean): Html {
  const t = approvalTexts(words)
  if (isHidden) return html`<span class="muted">•••••• ${t.hidden}</span>`
  if (value.length > FOLDED_FROM && !showsAll)
    return html`<details><summary>${t.long({ count: value.length })}</summary>${untrustedText(value)}</details>`
  const ascii = asciiHost(value)
  return html`${untrustedText(value)}${ascii !== undefined && html` <code class="small">${name(ascii)}</code>`}`
}
