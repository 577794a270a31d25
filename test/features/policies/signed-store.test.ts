import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { signedStore } from '../../../src/services/signed-store.ts'
import { createSigning } from '../../../src/services/signing.ts'
import { openSqliteStore } from '../../../src/store/dialects/sqlite/open.ts'
import { inProject } from '../../store/fixtures.ts'
import { policy } from './fixtures.ts'

test('policies in force are the rows whose MACs were checked, though another read returns an altered row', async () => {
  const raw = openSqliteStore(':memory:')
  const { projectId } = await inProject(raw)
  const rule = policy({ projectId, match: { users: ['bob'] } })
  const altered = { ...rule, match: { users: ['nobody'] } }
  const policies = {
    ...raw.policies,
    inForce: async (project: string) => ({ ...(await raw.policies.inForce(project)), policies: [altered] }),
  }
  const store = signedStore(
    { ...raw, policies },
    createSigning(randomBytes(32), () => {}),
  )
  await store.policies.add(rule)
  expect(await store.policies.inForce(projectId)).toMatchObject({ policies: [{ match: { users: ['bob'] } }] })
  await raw.close()
})
