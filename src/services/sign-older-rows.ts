import type { Store } from '../store/store.ts'
import type { RowSigner } from './row-signer.ts'

/**
 * Signs the rows of a release that wrote no MACs. It runs once: a row without a MAC that appears later counts as altered.
 * Returns how many rows it signed.
 */
export async function signOlderRows(raw: Store, signer: RowSigner): Promise<number> {
  let signed = 0
  for (const { id } of await raw.projects.list()) {
    for (const one of await raw.apiKeys.list(id))
      if (one.revokedAt === undefined) signed += await raw.apiKeys.sign(one.id, signer.apiKey(one))
    for (const one of await raw.providers.list(id)) {
      await raw.providers.change(one, { ...one, mac: signer.provider(one) })
      signed++
    }
    for (const one of await raw.workers.list(id)) {
      await raw.workers.change(one, { ...one, mac: signer.worker(one) })
      await raw.workers.accept(one, { ...one, acceptedMac: signer.accepted(one) })
      signed++
    }
    for (const one of await raw.policies.list(id)) {
      await raw.policies.change(one, { ...one, mac: signer.policy(one) })
      signed++
    }
  }
  return signed
}
