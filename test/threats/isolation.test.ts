import Database from 'better-sqlite3'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { newId, sha256 } from '../../src/domain/ids.ts'
import { normalizeTags } from '../../src/domain/tags.ts'
import { toolName } from '../../src/tools/metadata/metadata-name.ts'
import { anyText } from '../any-text.ts'
import { featureParts } from '../feature-parts.ts'
import { type Answer, startGatepass } from '../gatepass.ts'
import { approve, metadata, providerBody, startWorld, WORKER_SECRET, type World } from '../http/world.ts'
import { propertyRuns } from '../property-runs.ts'
import type { AlphaPart, PrepareAlpha } from './alpha-part.ts'
import { type ApiDocument, type ApiRequest, requestOf, routesOf } from './requests-of-document.ts'

// Two projects in one installation: `default`, whose resources are all called alpha, and `stranger`, whose keys put the
// ids of these resources into every parameter of every route.

let world: World
let document: ApiDocument
let strangerKeys: readonly string[]
/** By id of alpha: an id of the same form that does not exist. */
let twins: ReadonlyMap<string, string>
/** Every spelling in which an answer may repeat an id or its twin. */
let askedFor: readonly string[]
/** Texts that only alpha's resources have, and that the stranger never sends. */
let marks: readonly string[]
let projectId: string

const USER = 'alpha-user'
const HARMLESS = ['x', 'GitHub', 'read', '1.0.0', 'https://example.com/']

const preparations = await featureParts<PrepareAlpha>('isolation')

beforeAll(async () => {
  // the server's periodic jobs change alpha's rows too: it synchronizes workers every 30 seconds
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  world = await startWorld()
  vi.useRealTimers()
  const { gatepass, call } = world
  document = (await call('GET', '/openapi.json', undefined, { key: null })).body

  const token = await world.connect(USER)
  const alpha = async (method: string, path: string, body?: unknown) => {
    const answer = await call(method, path, body)
    if (answer.status >= 300) throw new Error(`${path}: ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  await alpha('PATCH', '/v1/admin/auth_providers/demo', { description: 'alpha-description-of-the-provider' })
  await alpha('POST', '/v1/admin/secrets/ALPHA_SECRET', {
    value: 'alpha-secret-value',
    description: 'alpha-description-of-the-secret',
  })
  await alpha(
    'POST',
    '/v1/tools/import',
    metadata('Alpha Tool', { description: 'alpha-description-of-the-tool' }),
  )
  const need = { auth_requirement: { id: 'demo', oauth2: { scopes: ['alpha-scope'] } } }
  const pending = await alpha('POST', '/v1/auth/authorize', { ...need, user_id: USER })
  const second = await alpha('POST', '/v1/auth/authorize', { ...need, user_id: 'alpha-second-user' })
  await approve(second.url)
  const run = {
    tool_name: 'Demo.Echo',
    input: { text: 'alpha-input-of-the-run' },
    user_id: USER,
    keep_content: true,
  }
  const ran = await alpha('POST', '/v1/tools/execute', run)
  const parts: AlphaPart[] = []
  for (const prepare of preparations) parts.push(await prepare(alpha, run))
  await gatepass.broker.history.flush()
  const [connection] = (await alpha('GET', `/v1/connections?user_id=${USER}`)).items
  const [secret] = (await alpha('GET', '/v1/admin/secrets')).items
  const { store } = gatepass.broker
  projectId = (await store.projects.findByName('default'))?.id ?? ''
  const [provider] = await store.providers.list(projectId)
  const [worker] = await store.workers.list(projectId)
  const tools = await store.tools.list(projectId)
  const apiKey = await store.apiKeys.findByHash(sha256(gatepass.apiKey))

  // resources of the stranger, so that its lists are not empty
  const strangerKey = await gatepass.makeKey('admin', 'stranger')
  strangerKeys = [
    strangerKey,
    await gatepass.makeKey('caller', 'stranger'),
    await gatepass.makeKey('readonly', 'stranger'),
    await gatepass.makeKey('approver', 'stranger'),
  ]
  const stranger = { key: strangerKey }
  await call('POST', '/v1/admin/auth_providers', providerBody('own', world.as), stranger)
  await call('POST', '/v1/admin/secrets/OWN', { value: 'own value' }, stranger)
  await call('POST', '/v1/tools/import', metadata('Own Tool'), stranger)
  const http = { uri: 'http://127.0.0.1:1', secret: WORKER_SECRET, timeout: 1, retry: 0 }
  await call('POST', '/v1/workers', { id: 'own', http }, stranger)

  const ids = [
    pending.id,
    second.id,
    connection.id,
    secret.id,
    provider?.uid,
    worker?.uid,
    apiKey?.id,
    ...tools.map(({ uid }) => uid),
    ran.execution_id,
    ...parts.flatMap(({ ids = [] }) => ids),
    newId('exec'),
  ].filter((id) => id !== undefined)
  twins = new Map([
    // each twin is different: resources made from two ids must not become one resource when made from their twins
    ...ids.map((id, i) => {
      const madeUp = `${i.toString(16).padStart(4, '0')}${'456789abcdef'.repeat(3).slice(0, 28)}`
      return [id, `${id.slice(0, id.indexOf('_'))}_${madeUp}`] as const
    }),
    ['demo', 'omed'],
    [USER, 'omega-user'],
    ['alpha-second-user', 'omega-second-user'],
    ['ALPHA_SECRET', 'OMEGA_SECRET'],
    ...parts.flatMap(({ twins: own = [] }) => own),
    ['Alpha Tool', 'Omega Tool'],
    ['local:Alpha_Tool', 'local:Omega_Tool'],
    ['Demo.Whoami', 'Omed.Whoami'],
    ...tools.map(({ namespace, name }) => [`${namespace}:${name}`, `${namespace}:x${name}`] as const),
  ])
  askedFor = spellingsOf([...twins].flat())
  marks = [
    token,
    projectId,
    'alpha-description',
    'alpha-secret-value',
    ...parts.flatMap(({ marks: own = [] }) => own),
    'alpha-scope',
    'alpha-input-of-the-run',
    connection.account.id,
    worker?.uri ?? '',
    gatepass.apiKey,
    ...tools.map(({ description }) => description),
  ].filter((mark) => mark !== '')
})

afterAll(() => world[Symbol.asyncDispose]())

/** Every row of alpha in the database, as JSON. */
function alphasRows(): string {
  using database = closing(new Database(world.gatepass.databasePath, { readonly: true }))
  const tables = database
    .prepare("select name from sqlite_master where type = 'table'")
    .pluck()
    .all() as string[]
  return JSON.stringify(
    tables.flatMap((table) => {
      const columns = database.pragma(`table_info(${table})`) as { name: string }[]
      if (!columns.some(({ name }) => name === 'project_id')) return []
      return [[table, database.prepare(`select * from "${table}" where project_id = ?`).all(projectId)]]
    }),
    // written in the background, for earlier requests
    (name, value) => (['last_used_at', 'last_accessed_at'].includes(name) ? undefined : value),
    1,
  )
}

function closing(database: Database.Database): Database.Database & Disposable {
  return Object.assign(database, { [Symbol.dispose]: () => void database.close() })
}

/** Every spelling of the ids, the longest first, since an id may be a part of another. */
function spellingsOf(ids: readonly string[]): readonly string[] {
  // the name and namespace of an imported tool and the tags of a toolset are derived from the given texts
  const spellings = ids.flatMap((id) => {
    const name = toolName(id)
    return [id, id.toLowerCase(), encodeURIComponent(id), name, name.toLowerCase(), ...normalizeTags([id])]
  })
  return [...new Set(spellings)].sort((a, b) => b.length - a.length)
}

/** The answer without new ids, times and durations, and with one word for each id that the request had. */
function comparable({ status, headers, body }: Answer): unknown {
  let text = typeof body === 'string' ? body : JSON.stringify(body)
  for (const spelling of askedFor) text = text.replaceAll(spelling, '<asked>')
  text = text
    .replaceAll(/\b[a-z]+_[0-9a-f]{32}\b/g, '<id>')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
    .replaceAll(/"duration":[\d.]+/g, '"duration":0')
    // a key, a one-time link, a session or a webhook's secret that the stranger has just made
    .replaceAll(/\b(gp|arc|gpp|gps|whsec)_[\w+/=-]{32,}/g, '<secret>')
    // a trial of the stranger's own verifier page
    .replaceAll(/\btrial\.[\w.-]+/g, '<trial>')
    // a name of the stranger's own, which an earlier request has made
    .replaceAll(/ Did you mean \\"(?:local\.)?<asked>(?:\.<asked>)?\\"\?/g, '')
  const named = ['content-type', 'allow', 'retry-after', 'www-authenticate', 'x-gatepass-error-kind']
  return { status, headers: named.map((name) => headers.get(name)), text }
}

function inTwin<T>(value: T): T {
  let text = JSON.stringify(value)
  for (const [id, twin] of twins)
    for (const [from, to] of [
      [id, twin],
      [encodeURIComponent(id), encodeURIComponent(twin)],
    ] as const)
      text = text.replaceAll(from, to)
  return JSON.parse(text)
}

describe('threats 37, 38, 51: the resources of another project', () => {
  test('are not shown, not changed and not confirmed to exist, by any parameter of any route', async () => {
    const before = alphasRows()
    const routes = routesOf(document).filter(({ needsKey }) => needsKey)
    expect(routes.length).toBeGreaterThan(30)
    const seen = new Map<string, Set<number>>()
    const harmless = fc.constantFrom(...HARMLESS)
    const fill = (place: string) =>
      // code calls a tool by its id
      place === 'code'
        ? fc.constantFrom(...twins.keys()).map((id) => `return await tools.call(${JSON.stringify(id)}, {})`)
        : // a free-form document only names what it creates
          place === ''
          ? harmless
          : // and a resource with this name must not exist already when its twin is created
            place === 'id' || place === 'name'
            ? fc.constantFrom(...twins.keys())
            : fc.oneof(
                { weight: 9, arbitrary: fc.constantFrom(...twins.keys()) },
                { weight: 1, arbitrary: harmless },
              )
    const ask = async ({ method, path, body }: ApiRequest, key: string) =>
      world.call(method, path, body, { key })

    const wasHandled = (statuses: Set<number>) =>
      [...statuses].some((status) => ![401, 403, 415].includes(status))

    for (const route of routes) {
      const statuses = new Set<number>()
      seen.set(`${route.method} ${route.path}`, statuses)
      const answersAlike = (draw: number) =>
        fc.assert(
          fc.asyncProperty(
            requestOf(route, document, fill),
            fc.constantFrom(...strangerKeys),
            async (request, key) => {
              const answer = await ask(request, key)
              statuses.add(answer.status)
              const text = JSON.stringify([answer.body, ...answer.headers])
              for (const mark of marks) expect(text).not.toContain(mark)
              const twin = inTwin(request)
              if (JSON.stringify(twin) === JSON.stringify(request)) return
              expect(comparable(answer)).toEqual(comparable(await ask(twin, key)))
            },
          ),
          { numRuns: propertyRuns({ dear: 8 }), seed: (fc.readConfigureGlobal().seed ?? 0) + draw },
        )
      // draws others while all requests were refused for their key, role or content type
      for (let draw = 0; draw < 20 && !wasHandled(statuses); draw++) await answersAlike(draw)
      expect(alphasRows(), `${route.method} ${route.path}`).toBe(before)
    }
    // at least one request of each route was refused for another reason than key, role or content type
    for (const [route, statuses] of seen) expect(wasHandled(statuses), route).toBe(true)
  })

  test('are never suggested as what a request may have meant', async () => {
    const key = await world.gatepass.makeKey('admin', 'a project with nothing in it')
    const near = [
      '/v1/tools/Demo.Whoam',
      '/v1/tools/Alpha%20Tol',
      '/v1/admin/auth_providers/dem',
      '/v1/admin/secrets/ALPHA_SECRE',
      '/v1/workers/dem',
    ]
    for (const path of near) {
      const own = await world.call('GET', path)
      expect([own.status, own.body.message], path).toEqual([404, expect.stringContaining('Did you mean')])
      const stranger = await world.call('GET', path, undefined, { key })
      expect([stranger.status, stranger.body.message], path).toEqual([
        404,
        expect.not.stringContaining('mean'),
      ])
    }
  })

  test.each([
    ['GET', '/v1/auth/status?id={auth}', 'caller'],
    ['GET', '/v1/auth/{auth}/events', 'caller'],
    ['POST', '/v1/connections/{conn}/token', 'caller'],
  ])('%s %s needs a key of its project: an id alone is not enough', async (method, template) => {
    const path = template.replaceAll(/\{(\w+)\}/g, (_, kind) => idOf(kind))
    const without = await world.call(method, path, undefined, { key: null })
    expect([without.status, without.body.name]).toEqual([401, 'invalid_authorization'])
    for (const key of strangerKeys.slice(0, 2)) {
      const { status, body } = await world.call(method, path, undefined, { key })
      expect([status, body.name]).toEqual([404, 'not_found'])
    }
  })

  test('the status of a pending authorization holds no token', async () => {
    const { body } = await world.call('GET', `/v1/auth/status?id=${idOf('auth')}`)
    expect(body).toMatchObject({ status: 'pending', context: {} })
  })
})

function idOf(kind: string): string {
  const found = [...twins.keys()].find((id) => id.startsWith(`${kind}_`))
  if (found === undefined) throw new Error(`alpha has no ${kind}`)
  return found
}

describe('threat 41: any request body', () => {
  test('is never answered with an internal error, and a secret in it never comes back', async () => {
    await using gatepass = await startGatepass()
    const SECRET = 'planted-secret-0123456789'
    const secretly = /(^|\.)(client_secret|clientSecret|secret|value)$/
    const fill = (place: string) =>
      secretly.test(place)
        ? fc.constant(SECRET)
        : fc.oneof(
            anyText({ maxLength: 20 }),
            fc.constantFrom(
              ...HARMLESS,
              'http://127.0.0.1:1/',
              '',
              '__proto__',
              '\u0000',
              '\ud800',
              '{{token}}',
            ),
          )
    const writes = routesOf(document).filter(({ method }) => ['POST', 'PATCH', 'PUT'].includes(method))
    expect(writes.length).toBeGreaterThan(10)
    for (const route of writes)
      await fc.assert(
        fc.asyncProperty(
          requestOf(route, document, fill),
          fc.option(fc.jsonValue({ maxDepth: 4 })),
          async ({ method, path, body }, anything) => {
            const answer = await gatepass.call(method, path, anything ?? body)
            if (answer.status !== 501) expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(500)
            expect(JSON.stringify(answer.body)).not.toContain(SECRET)
          },
        ),
        { numRuns: propertyRuns({ dear: 5 }) },
      )
    expect(gatepass.logLines.join('\n')).not.toContain(SECRET)
  })
})
