// A key file of a machine account, as services hand them out. Other members of such files say where to send the assertion,
// or name programs to run, so they are ignored.

/** The client of a key file. */
export interface KeyFileClient {
  readonly clientId: string
  /** The private key in PEM. */
  readonly key: string
  readonly keyId?: string
}

/** Reads `client_email`, `private_key` and `private_key_id` alone; `undefined` if it is no such file. */
export function clientOfKeyFile(document: unknown): KeyFileClient | undefined {
  const { client_email: clientId, private_key: key, private_key_id: keyId } = Object(document)
  if (typeof clientId !== 'string' || typeof key !== 'string') return undefined
  return { clientId, key, ...(typeof keyId === 'string' && { keyId }) }
}
