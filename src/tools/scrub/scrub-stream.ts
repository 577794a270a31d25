import { formsOf } from './secret-forms.ts'
import { createScanner } from './secret-scanner.ts'

/** Removes secrets from a body that arrives in pieces. */
export interface StreamScrubber {
  /** Returns the bytes that may be sent on. Bytes that could be the beginning of a secret are held back. */
  push(chunk: Uint8Array): Uint8Array
  end(): Uint8Array
}

/** The most bytes of one character that is written as an escape: `\\u0041`, `%252541`, `&#x00041;`. */
const LONGEST_ESCAPE = 12
const ASTERISK = 0x2a
const NOTHING = Buffer.alloc(0)

/**
 * Makes a scrubber that replaces each byte of a secret by an asterisk, so that lengths do not change. In text it finds
 * all forms that `scrub` knows; in other content it finds the secret itself. It does not matter how the body is cut
 * into pieces. At most the length of the longest form, fully escaped, is held back.
 *
 * Not found: a secret that is compressed, encrypted, in UTF-16, spread over several answers, or escaped with more than
 * 12 characters on average across two chunks; and a secret directly beside another one if the end of the first and the
 * beginning of the second form an escape (`%4`, `1`).
 */
export function createStreamScrubber(
  secrets: readonly string[],
  options: { readonly isText: boolean },
): StreamScrubber {
  const forms = formsOf(secrets)
  if (forms.isEmpty) return { push: (chunk) => chunk, end: () => NOTHING }
  const { exact, folded } = forms
  const maxHeldBack =
    (options.isText ? Math.max(exact.longest, folded.longest) : exact.longest) * LONGEST_ESCAPE
  /** The bytes that are held back, then those of the chunk. The first byte is at `from` in the body. */
  let bytes = NOTHING
  let from = 0
  const scanner = createScanner(
    forms,
    (start, end) => void bytes.fill(ASTERISK, Math.max(0, start - from), end - from),
    { exactOnly: !options.isText, inLines: true },
  )

  function release(until: number): Uint8Array {
    const released = bytes.subarray(0, until - from)
    bytes = bytes.subarray(until - from)
    from = until
    return released
  }

  return {
    push(chunk) {
      bytes = Buffer.concat([bytes, chunk]) // a copy, in which secrets are overwritten
      scanner.read(chunk)
      return release(scanner.pendingFrom(maxHeldBack))
    },
    end() {
      scanner.end()
      return release(from + bytes.length)
    },
  }
}
