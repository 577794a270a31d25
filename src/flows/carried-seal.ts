import type { Sealed } from '../domain/sealed.ts'
import { type Sealer, type SealingContext, UnknownKeyError, UnsealError } from '../store/seal.ts'

/**
 * Opens a sealed value that a browser carries for this server, in a cookie or a URL, as JSON of the shape `Content`.
 * Returns `undefined` if the value is missing or altered, or was sealed with a master key that has been removed since: the
 * user then logs in again.
 */
export function openCarried<Content>(
  sealer: Sealer,
  carried: string | undefined,
  context: SealingContext,
): Content | undefined {
  if (carried === undefined) return undefined
  try {
    // only values that this server sealed for this context can be opened, so the shape is right
    return JSON.parse(sealer.open(carried as Sealed, context)) as Content
  } catch (error) {
    if (error instanceof UnsealError || error instanceof UnknownKeyError) return undefined
    throw error
  }
}
