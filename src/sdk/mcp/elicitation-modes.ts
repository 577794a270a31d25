import { isRecord } from '../is-record.ts'

/** How a client can ask its user: by a form, by opening a URL. */
export interface ElicitationModes {
  readonly form: boolean
  readonly url: boolean
}

export const NO_ELICITATION: ElicitationModes = { form: false, url: false }

/** The first revision with the mode `url`. */
const URL_SINCE = '2025-11-25'

/**
 * Reads the modes that a client declares in its capabilities. `elicitation: {}` means forms only (MCP 2025-11-25,
 * Elicitation, Capabilities). `protocolVersion`: the revision of a client of 2025.
 */
export function elicitationModes(capabilities: unknown, protocolVersion = URL_SINCE): ElicitationModes {
  const declared = isRecord(capabilities) ? capabilities.elicitation : undefined
  if (!isRecord(declared)) return NO_ELICITATION
  const url = declared.url !== undefined
  return { form: declared.form !== undefined || !url, url: url && protocolVersion >= URL_SINCE }
}
