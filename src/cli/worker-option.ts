/** The option of `gatepass workers add` for a type of worker that needs only an address. */
export interface WorkerOption {
  readonly kind: string
  readonly description: string
  /** The API's name for the address. */
  readonly address: 'uri' | 'url'
  /** The API's name for the secret. */
  readonly secret?: string
  /** Whether the secret is prompted for without `--secret`. */
  readonly needsSecret?: boolean
}
