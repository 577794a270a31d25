import type { EpochSeconds } from './clock.ts'
import type { Sealed } from './sealed.ts'

/** A file that a tool answered with. It is kept for the caller that made the call, for a time. */
export interface StoredFile {
  /** `file_…` */
  readonly id: string
  readonly projectId: string
  /** Absent where the tool ran for no user. */
  readonly userId?: string
  /** The API key or the MCP client that made the call. */
  readonly caller?: string
  readonly name: string
  /** A media type. */
  readonly contentType: string
  /** In bytes. */
  readonly size: number
  /** Sealed base64. */
  readonly content: Sealed
  readonly expiresAt: EpochSeconds
}
