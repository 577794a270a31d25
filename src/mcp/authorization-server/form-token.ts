import type { Broker } from '../../broker.ts'

/** A token against cross-site request forgery, valid for one form and one user. */
export function formToken(
  { confirmations }: Pick<Broker, 'confirmations'>,
  form: string,
  userId: string,
): string {
  return confirmations.proofOf(subject(form, userId))
}

export function isFormToken(
  { confirmations }: Pick<Broker, 'confirmations'>,
  token: string | null,
  form: string,
  userId: string,
): boolean {
  return token !== null && confirmations.isProof(token, subject(form, userId))
}

function subject(form: string, userId: string): string {
  return JSON.stringify(['form', form, userId])
}
