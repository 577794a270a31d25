import { html } from 'hono/html'
import type { Html } from '../../pages/layout.ts'

// What the pages share that lead a person through adding a provider, from the catalogue to a tested entry.

const STEPS = [
  ['provider', 'Provider'],
  ['redirect', 'Redirect URI'],
  ['client', 'Client'],
  ['test', 'Test account'],
  ['ready', 'Ready'],
] as const
export type WizardStep = (typeof STEPS)[number][0]

const TICK = html`<svg viewBox="0 0 24 24" width="14" height="14" fill="none" stroke="currentColor" stroke-width="3" stroke-linecap="round" stroke-linejoin="round"><path d="M5 12.5l4.5 4.5L19 7.5"/></svg>`

/** The steps of the wizard, with the one of this page marked. */
export function wizardSteps(current: WizardStep): Html {
  const at = STEPS.findIndex(([step]) => step === current)
  return html`<ol class="wizard" aria-label="Steps to add a provider">${STEPS.map(
    ([, label], i) =>
      html`<li class="${i < at ? 'done' : i === at ? 'now' : 'later'}"${i === at ? html` aria-current="step"` : ''}><span class="number" aria-hidden="true">${i < at ? TICK : i + 1}</span> <span class="label">${label}${i < at && html`<span class="visually-hidden"> (done)</span>`}</span></li>`,
  )}</ol>`
}

/** A text that has to be pasted elsewhere, with a button where scripts run. */
export function copyBox(text: string, what: string): Html {
  return html`<div class="copy-box"><code class="copy">${text}</code><button type="button" class="secondary" hidden data-script data-copy aria-label="Copy ${what}">Copy</button></div>`
}
