import { isSameSecret } from '../domain/ids.ts'
import type { Confirmations } from './confirmations.ts'

// Tokens against cross-site request forgery: every form of a page for a person who is logged in sends one. They are
// computed from what the form belongs to, so none is stored, and every process can check them.

/** The form field with the token. */
export const CSRF_FIELD = 'csrf'

/**
 * The token of a form: of a page session and the project that it showed, or of one form and its user. The subject
 * contains brackets, which no flow hash has, so that it cannot be confused with a confirmation.
 */
export function csrfToken(
  { confirmations }: { readonly confirmations: Confirmations },
  ...subject: readonly ['page session' | 'form', ...string[]]
): string {
  return confirmations.proofOf(JSON.stringify(subject))
}

/** Whether a form has sent this token. */
export function isCsrfToken(form: URLSearchParams, token: string): boolean {
  return isSameSecret(form.get(CSRF_FIELD) ?? '', token)
}
