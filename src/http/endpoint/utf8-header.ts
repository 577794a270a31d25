import { invalidMember } from '../../domain/errors.ts'

const ASCII = /^[\x20-\x7e]*$/
const UTF_8 = new TextDecoder('utf-8', { fatal: true })

/**
 * A header of the request, decoded as UTF-8: Node gives its bytes as Latin-1, and the id of a user may be any text.
 * Throws `invalid_request` for bytes that are not UTF-8, because replacement characters could make two users the same.
 */
export function utf8Header(value: string): string {
  if (ASCII.test(value)) return value
  try {
    return UTF_8.decode(Buffer.from(value, 'latin1'))
  } catch {
    throw invalidMember('', 'invalid', 'The X-Gatepass headers must be UTF-8.')
  }
}
