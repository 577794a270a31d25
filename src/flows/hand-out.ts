import type { Broker } from '../broker.ts'
import { keptValuesOf } from '../providers/kept-values.ts'
import { type HandedCredential, handedCredential, secretTexts } from '../providers/place-credential.ts'
import type { Release } from '../services/release.ts'

/** What a worker gets of a release: the token, or the credential that the user typed, with its other fields. */
export function handOut(
  release: Release,
): { readonly token: string; readonly tokenType: string } & Partial<Pick<HandedCredential, 'fields'>> {
  const { entry, connection, accessToken, kept } = release
  const typed = handedCredential(entry.provider, { accessToken, kept: keptValuesOf(entry.provider, kept) })
  return typed ?? { token: accessToken, tokenType: connection.tokenType }
}

/** Notes that the API takes a typed credential that it had refused: an earlier refusal was no word about the credential. */
export async function noteTaken({ store }: Broker, { connection }: Release): Promise<void> {
  if (connection.refusedAt !== undefined)
    await store.connections.endRefusal(connection.id, connection.generation)
}

/** The texts of a release that no answer may show. */
export function secretsOf(broker: Pick<Broker, 'clientFor'>, release: Release): string[] {
  const { entry, accessToken, kept, tokenSecret } = release
  const { provider } = entry
  const texts = secretTexts(provider, { accessToken, kept: keptValuesOf(provider, kept) })
  if (provider.oauth1 === undefined) return texts
  // with PLAINTEXT the signature is made of both secrets
  const signing = [tokenSecret, broker.clientFor(entry)?.clientSecret]
  return [...texts, ...signing.flatMap((secret) => (secret ? [secret] : []))]
}
