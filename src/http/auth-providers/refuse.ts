import { invalidMember } from '../../domain/errors.ts'

/** Refuses a member of the request; `fault` completes a sentence that begins with its path. */
export function refuse(path: string, fault: string): never {
  throw invalidMember(path, 'invalid', `${path} ${fault}.`)
}
