import { formsOf } from './secret-forms.ts'
import { createScanner } from './secret-scanner.ts'

/** Takes secrets out of a body that is never there as a whole. */
export interface StreamScrubber {
  /** What may be passed on by now; only what could be the beginning of a secret is kept back. */
  push(chunk: Uint8Array): Uint8Array
  end(): Uint8Array
}

/** What one character may take when it is written as an escape: `\\u0041`, `%252541`, `&#x00041;`. */
const LONGEST_ESCAPE = 12
const ASTERISK = 0x2a
const NOTHING = Buffer.alloc(0)

/**
 * Asterisks stand in place of a secret, byte for byte, so that lengths stay. In a text it is found in the forms that
 * `scrub` knows, in other content only as it is, however the body is cut into pieces. Kept back is at most the longest
 * form with all of it escaped. Not found is what is compressed, encrypted, in UTF-16, spread over several answers, or
 * written with escapes of more than 12 characters on average over the border of two chunks.
 */
export function createStreamScrubber(
  secrets: readonly string[],
  options: { readonly isText: boolean },
): StreamScrubber {
  const forms = formsOf(secrets)
  if (forms.isEmpty) return { push: (chunk) => chunk, end: () => NOTHING }
  const { exact, folded } = forms
  const most = (options.isText ? Math.max(exact.longest, folded.longest) : exact.longest) * LONGEST_ESCAPE
  /** Bytes that are kept back, then those of the chunk: the first is at `from` in the body. */
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
      return release(scanner.pendingFrom(most))
    },
    end() {
      scanner.end()
      return release(from + bytes.length)
    },
  }
}
