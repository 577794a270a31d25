import { invalidMember } from '../../domain/errors.ts'
import { nearest } from '../../domain/nearest.ts'

/**
 * Refuses a member of the request; `fault` completes a sentence that begins with its path. With `choice` the message
 * suggests the known value that is nearest to what was sent.
 */
export function refuse(
  path: string,
  fault: string,
  choice?: { readonly sent: string | null | undefined; readonly known: Iterable<string> },
): never {
  const meant = choice?.sent == null ? undefined : nearest(choice.sent, choice.known)
  const hint = meant === undefined ? '.' : `; did you mean ${meant}?`
  throw invalidMember(path, 'invalid', `${path} ${fault}${hint}`)
}
