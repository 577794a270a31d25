import type { Tool } from '../domain/tool.ts'
import { CORE } from '../store/protected-tables.ts'
import type { RowPage } from '../store/row-page.ts'
import type { Signing } from '../store/signed-rows.ts'
import type { Store } from '../store/store.ts'

const TOOLS_AT_ONCE = 200

/**
 * Signs the rows of a release that wrote no MACs, by writing them once more to `store`. It runs once: a row without a MAC
 * that appears later counts as altered. Returns how many rows it signed.
 * @param raw the store that checks no MACs
 */
export async function signOlderRows(raw: Store, store: Store, signing: Signing): Promise<number> {
  const key = signing(CORE.apiKeys.signed)
  let signed = 0
  for (const { id } of await raw.projects.list()) {
    for (const row of await raw.apiKeys.list(id))
      if (row.revokedAt === undefined) signed += await raw.apiKeys.sign(row.id, key.macs.mac(row))
    for (const row of await raw.providers.list(id)) {
      await store.providers.change(row, row)
      signed++
    }
    for (const worker of await raw.workers.list(id)) {
      await store.workers.accept(worker, worker)
      await store.workers.change(worker, worker)
      signed++
    }
    for (const { signOlder } of raw.parts) signed += (await signOlder?.(raw, store, id)) ?? 0
    signed += await signTools(raw, signing, id)
  }
  return signed
}

async function signTools(raw: Store, signing: Signing, projectId: string): Promise<number> {
  const { sign } = signing(CORE.tools.signed)
  let signed = 0
  for (let after: string | undefined = ''; after !== undefined; ) {
    const { rows, next }: RowPage<Tool> = await raw.tools.page(projectId, after, TOOLS_AT_ONCE)
    await raw.tools.sign(rows.map(sign))
    signed += rows.length
    after = next
  }
  return signed
}
