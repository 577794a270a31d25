import type { Tool } from '../domain/tool.ts'
import type { RowPage } from '../store/row-page.ts'
import type { Store } from '../store/store.ts'
import type { RowSigner } from './row-signer.ts'

const TOOLS_AT_ONCE = 200

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
    for (const one of await raw.toolsets.list(id)) {
      await raw.toolsets.change(one, { ...one, mac: signer.toolset(one) })
      signed++
    }
    signed += await signTools(raw, signer, id)
  }
  return signed
}

async function signTools(raw: Store, signer: RowSigner, projectId: string): Promise<number> {
  let signed = 0
  for (let after: string | undefined = ''; after !== undefined; ) {
    const { rows, next }: RowPage<Tool> = await raw.tools.page(projectId, after, TOOLS_AT_ONCE)
    await raw.tools.sign(rows.map((one) => ({ uid: one.uid, ...signer.tool(one) })))
    signed += rows.length
    after = next
  }
  return signed
}
