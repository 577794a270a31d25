import { createHash } from 'node:crypto'

/** SHA-256 in hex: how the tools of tests show a token or a secret that reached them. */
export function digest(secret: string): string {
  return createHash('sha256').update(secret).digest('hex')
}
