import { LargeJson } from '../large-json.ts'
import type { Artifact } from '../tool-answer.ts'

/** A large CallToolResult, with the facts about it that callers need. The thread that read it has computed them. */
export class LargeMcpResult extends LargeJson {
  /** Whether the result has structured content. */
  readonly isStructured: boolean
  /** The value with its images and other media (mcp/media-content.ts). */
  readonly value: LargeJson
  /** The artifact, if the result is one. */
  readonly artifact: Artifact | undefined

  constructor(bytes: Uint8Array, about: Pick<LargeMcpResult, 'isStructured' | 'value' | 'artifact'>) {
    super(bytes)
    this.isStructured = about.isStructured
    this.value = about.value
    this.artifact = about.artifact
  }
}
