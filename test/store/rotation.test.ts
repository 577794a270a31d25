import { globSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { getTableName } from 'drizzle-orm'
import { describe, expect, test } from 'vitest'
import type { Broker } from '../../src/broker.ts'
import { systemClock } from '../../src/domain/clock.ts'
import { rotateMasterKey } from '../../src/flows/rotate-master-key.ts'
import { openBroker } from '../../src/open-broker.ts'
import { readConfig } from '../../src/read-config.ts'
import { noteSealingKey, sealingKeys } from '../../src/services/sealing-keys.ts'
import { registerServer, type ServerRegistration } from '../../src/services/server-registration.ts'
import { sqliteKit } from '../../src/store/schema-kit.ts'
import { createSealer, keyId, UnsealError } from '../../src/store/seal.ts'
import { allTables, SEALED_COLUMNS } from '../../src/store/store-parts.ts'
import { authorize, confirmAndGoOn, importEntry, startScene } from '../flows/fixtures.ts'
import { type Gatepass, startGatepass } from '../gatepass.ts'
import { migratedFile } from '../migrated-file.ts'
import { withoutJobs } from '../without-jobs.ts'
import { defined } from './fixtures.ts'
import {
  addWithKey,
  announce,
  comeBack,
  DAMAGES,
  envelopesOf,
  type FoundEnvelope,
  flipped,
  overwrite,
  type SealedInstallation,
  sealedBefore,
  startSealedInstallation,
  truncated,
} from './sealed-installation.ts'

/** The master key of `startGatepass`. */
const OLD = Buffer.alloc(32, 7)
const NEW = Buffer.alloc(32, 8)

test('the list has every sealed column of the schema', () => {
  const schema = globSync(['src/store/*schema.ts', 'src/features/*/schema.ts'])
    .map((path) => readFileSync(path, 'utf8'))
    .join('\n')
  const tables = allTables(sqliteKit)
  const columns = schema
    .split(/= table\(\s*'/)
    .slice(1)
    .flatMap((text) => {
      const table = text.slice(0, text.indexOf("'"))
      const sealed = text.matchAll(/: (?:sealed\('(\w+)'\)|text\('(\w+)'\)\.\$type<Sealed>)/g)
      return [...sealed].map(([, ...names]) => `${table}.${names.join('')}`)
    })
  expect(columns.length).toBeGreaterThanOrEqual(7)
  const listed = SEALED_COLUMNS.filter(({ table }) => table !== 'facts')
  expect(listed.map(({ table, column }) => `${getTableName(tables[table])}.${column}`).sort()).toEqual(
    columns.sort(),
  )
})

test('each envelope opens at its own table, column and row, and at no other of the installation', async () => {
  await using installation = await startSealedInstallation()
  const { broker } = installation.scene.gatepass
  const found = await envelopesOf(broker)
  for (const column of SEALED_COLUMNS)
    expect(found.filter((one) => one.column === column).length, column.table).toBeGreaterThanOrEqual(2)
  const sealer = createSealer([OLD])
  for (const one of found) {
    expect(() => sealer.open(one.sealed, one.context)).not.toThrow()
    for (const damage of [flipped, truncated])
      expect(() => sealer.open(damage(one.sealed) as typeof one.sealed, one.context)).toThrow(UnsealError)
    for (const other of found)
      if (other !== one) expect(() => sealer.open(other.sealed, one.context)).toThrow(UnsealError)
  }
})

describe('an envelope that was altered or moved fails closed, for its row alone', () => {
  const token = (gatepass: Gatepass, user_id: string) => authorize(gatepass, { user_id })

  /** Uses the envelope of the first or the second row of a column. Columns of runs are in altered-runs.test.ts. */
  const uses: Record<string, (on: SealedInstallation, which: 0 | 1) => Promise<'works' | 'fails closed'>> = {
    async 'connections.access'({ scene, users }, which) {
      const { body } = await token(scene.gatepass, defined(users[which]))
      if (body.status === 'completed') expect(scene.as.isLive(body.context.token)).toBe(true)
      return body.status === 'completed' ? 'works' : 'fails closed'
    },
    async 'connections.refresh'({ scene, users }, which) {
      scene.clock.advance(which === 0 ? 4_000 : 0)
      const { body } = await token(scene.gatepass, defined(users[which]))
      return body.status === 'completed' ? 'works' : 'fails closed'
    },
    async 'authorizations.secrets'({ scene, approved }, which) {
      const { id, userId, ...back } = defined(approved[which])
      const flowId = await comeBack(back)
      await confirmAndGoOn(scene, { browser: back.browser, flowId, userId })
      const { status } = (await scene.status(id)).body
      expect(['failed', 'completed']).toContain(status)
      return status === 'completed' ? 'works' : 'fails closed'
    },
    async 'authorizations.response'({ scene, confirming }, which) {
      const { id, ...visit } = defined(confirming[which])
      await confirmAndGoOn(scene, visit)
      return (await scene.status(id)).body.status === 'completed' ? 'works' : 'fails closed'
    },
    async 'secrets.value'({ scene }, which) {
      const { openSecret } = await import('../../src/flows/manage-secrets.ts')
      const { broker } = scene.gatepass
      const project = defined(await broker.store.projects.findByName('default'))
      return openSecret(broker, project.id, which === 0 ? 'KEY_one' : 'KEY_two').then(
        (value) => {
          expect(value).toBe(which === 0 ? 'the value of one' : 'the value of two')
          return 'works' as const
        },
        (error) => {
          expect(error).toBeInstanceOf(UnsealError)
          return 'fails closed' as const
        },
      )
    },
    async 'workers.secret'({ scene }, which) {
      const id = which === 0 ? 'one-false' : 'two-false'
      const { status, body } = await scene.call('GET', `/v1/workers/${id}/health`)
      return status === 200 && body.healthy !== false ? 'works' : 'fails closed'
    },
    async 'answers.answer'({ scene }, which) {
      const { status, body } = await addWithKey(scene, which === 0 ? 'one' : 'two')
      if (status === 503) expect(body.message).toContain('use a new Idempotency-Key')
      return status === 201 ? 'works' : 'fails closed'
    },
    async 'providers.client_secret'({ scene, approved }, which) {
      if (which === 1) return 'works' // the second row is of another project
      announce(scene.gatepass.databasePath, { noun: 'provider' })
      const { id, userId, ...back } = defined(approved[0])
      const flowId = await comeBack(back)
      await confirmAndGoOn(scene, { browser: back.browser, flowId, userId })
      return (await scene.status(id)).body.status === 'completed' ? 'works' : 'fails closed'
    },
  }

  const cases = Object.keys(uses).flatMap((where) =>
    Object.keys(DAMAGES).map((damage) => [where, damage] as const),
  )

  test.each(cases)('%s, %s', async (where, damage) => {
    await using installation = await startSealedInstallation()
    const { gatepass } = installation.scene
    const found = (await envelopesOf(gatepass.broker)).filter(
      ({ column }) => `${column.table}.${column.column}` === where,
    )
    const one = rowOf(installation, where, found)
    const other = defined(found.find((each) => each !== one))
    overwrite(gatepass.databasePath, one, defined(DAMAGES[damage])(one.sealed, other.sealed))

    const use = defined(uses[where])
    if (where !== 'connections.refresh') expect(await use(installation, 1)).toBe('works')
    expect(await use(installation, 0)).toBe('fails closed')
    expect(await use(installation, 1)).toBe('works')
    expect(gatepass.logLines.join('\n')).toContain('an envelope does not open')
    expect(gatepass.logLines.join('\n')).not.toContain(other.sealed)
    const { audit } = gatepass.broker.store
    const containing = ['envelope.unreadable', one.rowId]
    // the audit entry is written after the answer
    await expect
      .poll(() => audit.blocks(one.context.projectId, { order: 'oldest first', limit: 1_000, containing }))
      .not.toEqual([])
  })

  function rowOf(
    { users, approved, confirming }: SealedInstallation,
    where: string,
    found: readonly FoundEnvelope[],
  ) {
    const users0: Record<string, string | undefined> = {
      connections: users[0],
      'authorizations.secrets': approved[0]?.userId,
      'authorizations.response': confirming[0]?.userId,
    }
    if (where === 'answers.answer')
      return defined(
        found.find(({ sealed, context }) => createSealer([OLD]).open(sealed, context).includes('kept-one')),
      )
    const userId = users0[where] ?? users0[where.split('.')[0] ?? '']
    return defined(found.find(({ context }) => userId === undefined || context.userId === userId))
  }
})

/** A database file that a test's server may leave and another opens. */
async function databaseFile(): Promise<AsyncDisposable & { readonly path: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'gatepass-rotation-'))
  const path = join(folder, 'gatepass.db')
  await writeFile(path, await migratedFile())
  return { path, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) }
}

describe('rotation', () => {
  /** The installation as another process has it, with these keys. */
  async function opened(gatepass: Gatepass, ...keys: readonly Buffer[]) {
    const { config } = gatepass
    const [newest = NEW, ...older] = keys
    return openBroker(
      { ...config, masterKeys: [newest, ...older] },
      { log: gatepass.broker.log, now: systemClock },
    )
  }

  /** An installation whose server has ended, so that none runs with the old key alone. */
  async function stoppedInstallation(): Promise<SealedInstallation> {
    const file = await databaseFile()
    const installation = await startSealedInstallation({ gatepass: { databasePath: file.path } })
    await installation.scene.gatepass.close()
    return {
      ...installation,
      async [Symbol.asyncDispose]() {
        await installation[Symbol.asyncDispose]()
        await file[Symbol.asyncDispose]()
      },
    }
  }

  async function everythingOpens(broker: Broker): Promise<void> {
    for (const { sealed, context } of await envelopesOf(broker)) broker.sealer.open(sealed, context)
  }

  test('seals every column anew: the new key then opens every envelope, and a start with the old key is refused', async () => {
    await using installation = await stoppedInstallation()
    const { gatepass } = installation.scene
    const rotating = await opened(gatepass, NEW, OLD)
    const progress: number[] = []
    const rotation = await rotateMasterKey(rotating, {
      batch: 2,
      onProgress: ({ done }) => progress.push(done),
    })
    expect(rotation).toMatchObject({ complete: true, unreadable: [], removableKeys: [keyId(OLD)] })
    expect(progress).toEqual([...progress].sort((a, b) => a - b))
    expect(progress.at(-1)).toBe(rotation.resealed)
    expect(await sealingKeys(rotating.store.facts)).toEqual([keyId(NEW)])
    await rotating.close()

    const after = await opened(gatepass, NEW)
    await everythingOpens(after)
    expect(await after.store.envelopes.countByKey()).not.toContainEqual(
      expect.objectContaining({ keyId: keyId(OLD) }),
    )
    await after.close()
    await expect(opened(gatepass, OLD)).rejects.toMatchObject({ code: 'store_unavailable' })
  })

  test('may be interrupted at any time, and continues where it was', async () => {
    await using installation = await stoppedInstallation()
    const rotating = await opened(installation.scene.gatepass, NEW, OLD)
    const ending = new AbortController()
    const first = await rotateMasterKey(rotating, {
      batch: 1,
      signal: ending.signal,
      onProgress: ({ done }) => {
        if (done === 5) ending.abort()
      },
    })
    expect(first).toMatchObject({ complete: false, resealed: 5, removableKeys: [] })
    await everythingOpens(rotating)
    expect(await sealingKeys(rotating.store.facts)).toEqual(expect.arrayContaining([keyId(NEW), keyId(OLD)]))
    await expect(opened(installation.scene.gatepass, NEW)).rejects.toThrow(keyId(OLD))

    const second = await rotateMasterKey(rotating, { batch: 100 })
    expect(second).toMatchObject({ complete: true, removableKeys: [keyId(OLD)] })
    await everythingOpens(rotating)
    expect(await rotateMasterKey(rotating, { batch: 100 })).toMatchObject({ complete: true, resealed: 0 })
    await rotating.close()
  })

  test('opens the envelopes of 0.1.0, and replaces them by those of today', async () => {
    await using installation = await stoppedInstallation()
    const rotating = await opened(installation.scene.gatepass, NEW, OLD)
    const { envelopes } = rotating.store
    const before = await envelopesOf(rotating)
    for (const { column, rowId, context, sealed } of before) {
      const to = sealedBefore(OLD, rotating.sealer.open(sealed, context), context)
      expect(await envelopes.exchange(column, [{ rowId, from: sealed, to }])).toBe(1)
    }
    expect((await envelopesOf(rotating)).map(({ sealed }) => sealed.slice(0, 3))).toEqual(
      before.map(() => 'v1.'),
    )
    await everythingOpens(rotating)
    expect(await rotateMasterKey(rotating, { batch: 100 })).toMatchObject({
      complete: true,
      resealed: before.length,
      unreadable: [],
    })
    expect((await envelopesOf(rotating)).map(({ sealed }) => sealed.slice(0, 11))).toEqual(
      before.map(() => `v2.${keyId(NEW)}`),
    )
    await everythingOpens(rotating)
    await rotating.close()
  })

  test('may be run twice at once: both complete, and every envelope opens', async () => {
    await using installation = await stoppedInstallation()
    const both = await Promise.all([1, 2].map(() => opened(installation.scene.gatepass, NEW, OLD)))
    const rotations = await Promise.all(both.map((broker) => rotateMasterKey(broker, { batch: 3 })))
    expect(rotations).toMatchObject([{ complete: true }, { complete: true }])
    for (const broker of both) {
      await everythingOpens(broker)
      await broker.close()
    }
  })

  test('keeps the fingerprints of the audit trail, and an import still finds its tool unchanged', async () => {
    await using file = await databaseFile()
    await using scene = await startScene({ oauth2: false, gatepass: { databasePath: file.path } })
    await importEntry(scene.gatepass, scene.as)
    const before = scene.gatepass.broker.audit.fingerprint('a token')
    await scene.gatepass.close()
    const rotating = await opened(scene.gatepass, NEW, OLD)
    await rotateMasterKey(rotating, { batch: 100 })
    await rotating.close()
    await using after = await startGatepass({
      databasePath: scene.gatepass.databasePath,
      environment: { GATEPASS_MASTER_KEY: NEW.toString('base64') },
    })
    expect(after.broker.audit.fingerprint('a token')).toBe(before)
    expect((await importEntry(after, scene.as)).body.items).toMatchObject([{ result: 'unchanged' }])
  })

  test('reports an altered envelope and does not change it; its connection needs a new consent', async () => {
    await using installation = await stoppedInstallation()
    const { scene } = installation
    const rotating = await opened(scene.gatepass, NEW, OLD)
    const found = await envelopesOf(rotating)
    const damaged = defined(
      found.find(({ context }) => context.column === 'access' && context.userId === 'ada'),
    )
    overwrite(scene.gatepass.databasePath, damaged, flipped(damaged.sealed))
    const rotation = await rotateMasterKey(rotating, { batch: 100 })
    expect(rotation).toMatchObject({
      complete: true,
      removableKeys: [keyId(OLD)],
      unreadable: [{ reason: 'altered', context: { rowId: damaged.rowId, column: 'access' } }],
    })
    expect(await rotating.store.connections.find(damaged.rowId)).toMatchObject({
      status: 'needs_authorization',
      statusReason: 'unreadable',
    })
    await rotating.close()
  })

  test('is not complete while another process seals with the old key, although garbage is left as well', async () => {
    await using installation = await stoppedInstallation()
    const { databasePath } = installation.scene.gatepass
    const rotating = await opened(installation.scene.gatepass, NEW, OLD)
    const tokens = (await envelopesOf(rotating)).filter(({ context }) => context.column === 'access')
    const [garbage, written] = [defined(tokens[0]), defined(tokens[1])]
    overwrite(databasePath, garbage, 'not an envelope at all')
    const rotation = await rotateMasterKey(rotating, {
      batch: 100,
      onProgress: () => overwrite(databasePath, written, written.sealed),
    })
    expect(rotation).toMatchObject({
      complete: false,
      removableKeys: [],
      unreadable: [{ reason: 'altered', context: { rowId: garbage.rowId } }],
    })
    await rotating.close()
  })

  test('a connection that gets new tokens after its altered envelope was found stays active', async () => {
    await using installation = await stoppedInstallation()
    const { databasePath } = installation.scene.gatepass
    const rotating = await opened(installation.scene.gatepass, NEW, OLD)
    const found = await envelopesOf(rotating)
    const damaged = defined(
      found.find(({ context }) => context.column === 'access' && context.userId === 'ada'),
    )
    overwrite(databasePath, damaged, flipped(damaged.sealed))
    const { sealed, context } = damaged
    const renewed = rotating.sealer.seal(rotating.sealer.open(sealed, context), context)
    let before = -1
    await rotateMasterKey(rotating, {
      batch: 100,
      onProgress({ done }) {
        // the last pass has found the altered envelope alone, so nothing more is done
        if (done === before) overwrite(databasePath, damaged, renewed)
        before = done
      },
    })
    expect(await rotating.store.connections.find(damaged.rowId)).toMatchObject({ status: 'active' })
    await everythingOpens(rotating)
    await rotating.close()
  })

  test('is refused while a server runs without the new key, and nothing is changed', async () => {
    await using scene = await startScene({ oauth2: false })
    const { gatepass } = scene
    const refused = await opened(gatepass, NEW, OLD).catch((error: unknown) => error)
    expect(refused).toMatchObject({ code: 'store_unavailable' })
    expect(String(refused)).toContain(`process ${process.pid}" runs without master key ${keyId(NEW)}`)
    expect(await sealingKeys(gatepass.broker.store.facts)).toEqual([keyId(OLD)])
    await (await opened(gatepass, OLD)).close()
  })

  test('is refused while a server runs that seals with the old key, also one that started at its end', async () => {
    await using installation = await stoppedInstallation()
    const rotating = await opened(installation.scene.gatepass, NEW, OLD)
    const { store } = rotating
    const both = createSealer([OLD, NEW])
    const server = await registerServer(store, both)
    await expect(rotateMasterKey(rotating, { batch: 100 })).rejects.toThrow(
      `process ${process.pid}" still seals with master key ${keyId(OLD)}`,
    )
    await server.leave()

    const { exchange } = store.facts
    const late = Promise.withResolvers<ServerRegistration>()
    const facts = {
      ...store.facts,
      exchange: async (...args: Parameters<typeof exchange>) => {
        const done = await exchange(...args)
        late.resolve(await registerServer(store, both))
        return done
      },
    }
    await expect(
      rotateMasterKey({ ...rotating, store: { ...store, facts } }, { batch: 100 }),
    ).rejects.toThrow('still seals with')
    expect(await sealingKeys(store.facts)).toEqual(expect.arrayContaining([keyId(OLD), keyId(NEW)]))
    await (await late.promise).leave()
    expect(await rotateMasterKey(rotating, { batch: 100 })).toMatchObject({ removableKeys: [keyId(OLD)] })
    await rotating.close()
  })

  test('a key comes into use or a server starts without it, never both', async () => {
    await using installation = await stoppedInstallation()
    const broker = await opened(installation.scene.gatepass, OLD)
    const { store } = broker
    const without = createSealer([OLD])
    const late = Promise.withResolvers<ServerRegistration>()
    const facts = {
      ...store.facts,
      exchange: async (...args: Parameters<typeof store.facts.exchange>) => {
        late.resolve(await registerServer(store, without))
        return store.facts.exchange(...args)
      },
    }
    await expect(noteSealingKey({ ...store, facts }, createSealer([NEW, OLD]))).rejects.toThrow(
      'runs without master key',
    )
    await (await late.promise).leave()
    await expect(registerServer(store, without)).rejects.toThrow(keyId(NEW))
    expect(await store.servers.live(60_000)).toEqual([])
    await broker.close()
  })

  test('an envelope of a key that is not configured is answered 503, and its connection stays active', async () => {
    await using installation = await startSealedInstallation()
    const { scene } = installation
    const { gatepass } = scene
    const found = await envelopesOf(gatepass.broker)
    const one = defined(found.find(({ context }) => context.column === 'access' && context.userId === 'ada'))
    const elsewhere = createSealer([NEW])
    const text = createSealer([OLD]).open(one.sealed, one.context)
    overwrite(gatepass.databasePath, one, elsewhere.seal(text, one.context))

    const refused = await authorize(gatepass, { user_id: 'ada' })
    expect(refused).toMatchObject({ status: 503, body: { name: 'store_unavailable' } })
    expect(refused.body.message).toContain(keyId(NEW))
    expect((await authorize(gatepass, { user_id: 'bob' })).body.status).toBe('completed')
    const { body } = await scene.call('GET', '/v1/connections?user_id=ada')
    expect(body.items).toMatchObject([{ status: 'active' }])

    scene.clock.advance(4_000) // and when it would have to be refreshed
    expect(await authorize(gatepass, { user_id: 'ada' })).toMatchObject({ status: 503 })
    expect((await scene.call('GET', '/v1/connections?user_id=ada')).body.items).toMatchObject([
      { status: 'active' },
    ])
    expect(scene.as.tokenRequests('refresh_token')).toHaveLength(0)
    overwrite(gatepass.databasePath, one, one.sealed)
  })
})

describe('a start', () => {
  test('with a wrong key, or without a key that is still in use, fails and changes no byte', async () => {
    // started with both keys, since no key comes into use that a running server lacks
    const environment = { GATEPASS_MASTER_KEY: `${OLD.toString('base64')},${NEW.toString('base64')}` }
    // no job in the background writes meanwhile
    await using installation = await withoutJobs(() => startSealedInstallation({ gatepass: { environment } }))
    const { gatepass } = installation.scene
    const { databasePath } = gatepass
    const config = (...keys: readonly Buffer[]) =>
      readConfig(
        {
          GATEPASS_DATABASE_URL: `file:${databasePath}`,
          GATEPASS_MASTER_KEY: keys.map((key) => key.toString('base64')).join(','),
          GATEPASS_USER_VERIFIER: 'open',
          GATEPASS_PUBLIC_URL: 'http://localhost:1',
        },
        'serve',
      )
    const parts = { log: gatepass.broker.log, now: systemClock }
    const rotating = await openBroker(config(NEW, OLD), parts)
    await rotating.close()
    const bytes = () => [databasePath, `${databasePath}-wal`].map((path) => readFileSync(path, 'base64'))
    const before = bytes()
    await expect(openBroker(config(Buffer.alloc(32, 9)), parts)).rejects.toThrow(/not the key/)
    await expect(openBroker(config(OLD), parts)).rejects.toThrow(keyId(NEW))
    await expect(openBroker(config(NEW), parts)).rejects.toThrow(/Nothing was changed/)
    expect(bytes()).toEqual(before)
  })

  test('with a wrong key runs no migration', async () => {
    await using installation = await startSealedInstallation()
    const { databasePath, broker } = installation.scene.gatepass
    const client = new Database(databasePath)
    client.exec(
      'delete from schema_migrations where created_at = (select max(created_at) from schema_migrations)',
    )
    const before = client.prepare('select * from schema_migrations').all()
    const config = readConfig(
      {
        GATEPASS_DATABASE_URL: `file:${databasePath}`,
        GATEPASS_MASTER_KEY: NEW.toString('base64'),
        GATEPASS_USER_VERIFIER: 'open',
        GATEPASS_PUBLIC_URL: 'http://localhost:1',
      },
      'serve',
    )
    await expect(openBroker(config, { log: broker.log })).rejects.toThrow(/not the key/)
    expect(client.prepare('select * from schema_migrations').all()).toEqual(before)
    client.close()
  })
})
