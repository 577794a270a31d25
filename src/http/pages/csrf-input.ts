import { html } from 'hono/html'
import { CSRF_FIELD } from '../../services/csrf-token.ts'
import type { Html } from './layout.ts'

/** The hidden field with the CSRF token of a form. */
export function csrfInput(token: string): Html {
  return html`<input type="hidden" name="${CSRF_FIELD}" value="${token}">`
}
