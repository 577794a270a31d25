/** The variable that holds the `DevTask` as JSON. */
export const DEV_VARIABLE = 'GATEPASS_TOOLS_DEV'

/** The settings of the process that runs the author's file. */
export interface DevTask {
  /** Absolute. */
  readonly file: string
  readonly port: number
  /** Shared with Gatepass. */
  readonly secret: string
}

export interface ServedTool {
  readonly name: string
  readonly inputSchema: unknown
}

/** A message of that process. */
export type DevMessage =
  | { readonly kind: 'loaded'; readonly url: string }
  | { readonly kind: 'serving'; readonly app: string; readonly tools: readonly ServedTool[] }
  | { readonly kind: 'fault'; readonly message: string }
