import type { Sealed } from '../domain/sealed.ts'
import { type SealedPlace, type Sealer, UnknownKeyError, UnsealError } from '../store/seal.ts'

/**
 * Opens what a browser carries: cookies and URLs of this server, sealed by it in the shape of `Content`. Returns
 * `undefined` for what is missing or altered, and for what was sealed with a master key that has been replaced since: the
 * user then logs in again.
 */
export function openCarried<Content>(
  sealer: Sealer,
  carried: string | undefined,
  place: SealedPlace,
): Content | undefined {
  if (carried === undefined) return undefined
  try {
    // what opens in this place was sealed for it
    return JSON.parse(sealer.open(carried as Sealed, place)) as Content
  } catch (error) {
    if (error instanceof UnsealError || error instanceof UnknownKeyError) return undefined
    throw error
  }
}
