import { expect } from 'vitest'
import { beginFeatureWork, ownJobs, sharedJobs } from '../../src/background-jobs.ts'
import type { Broker } from '../../src/broker.ts'
import { registerServer } from '../../src/services/server-registration.ts'
import { answeredFile } from '../answered-file.ts'
import type { AnyJson } from '../any-json.ts'
import { featureParts } from '../feature-parts.ts'
import type { CallOptions } from '../gatepass.ts'
import { approve, metadata, providerBody, WORKER_SECRET, type World } from '../http/world.ts'
import { type ApiDocument, routesOf } from '../threats/requests-of-document.ts'
import { everyPage } from './every-page.ts'
import { mcpConsent } from './fixtures.ts'

type Call = (
  method: string,
  /** A path of the document, with the names of its parameters. */
  route: string,
  body?: unknown,
  ids?: Readonly<Record<string, string>>,
  options?: CallOptions,
) => Promise<AnyJson>

/** What the round of a feature may use. */
export interface FeatureRound {
  readonly call: Call
  readonly world: World
  readonly name: string
  readonly projectId: string
  readonly userId: string
  /** A provider at which the user has a connection. */
  readonly providerId: string
  readonly connection: { readonly id: string }
  readonly authorization: { readonly id: string }
  /** The body of a request that runs a tool. */
  readonly run: { readonly tool_name: string; readonly input: object; readonly user_id: string }
}

/** Uses every endpoint of a feature, and each of its statements. */
export type UseOfFeature = (round: FeatureRound) => Promise<unknown>
const usesOfFeatures = await featureParts<UseOfFeature>('every-request')

/** Uses every endpoint of the API document and every background job. */
export interface EveryRequest {
  /** Uses every endpoint and job once; `name` is part of the names of what it creates. */
  round(name: string): Promise<void>
  /** Fails when a route of the document was not answered with success, except those that this world cannot serve. */
  expectAllAnswered(): void
}

export async function everyRequest(world: World): Promise<EveryRequest> {
  const document: ApiDocument = (await world.call('GET', '/openapi.json', undefined, { key: null })).body
  /** `METHOD /path/{of}/the/document`, of every request that was answered with success. */
  const answered = new Set<string>()

  async function call(
    method: string,
    route: string,
    body?: unknown,
    ids: Readonly<Record<string, string>> = {},
    options: CallOptions = {},
  ) {
    const path = route.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(ids[name] ?? 'missing'))
    const answer = await world.call(method, path, body, options)
    if (answer.status >= 300)
      throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
    answered.add(`${method} ${route.split('?')[0]}`)
    return answer.body
  }

  async function defaultProject(): Promise<string> {
    return (await world.gatepass.broker.store.projects.ensure('default', 0)).id
  }

  /** Creates, changes and deletes one resource of each kind. */
  async function useEverything(name: string): Promise<void> {
    const user = `user-of-${name}`
    const { as } = world

    for (const path of ['/health', '/v1/health', '/ready', '/metrics', '/v1/admin/diagnosis', '/oxp/health'])
      await call('GET', path)

    await call('POST', '/v1/admin/projects', { name: `project-${name}` })
    await call('GET', '/v1/admin/projects')
    const projectId = await defaultProject()
    const consent = mcpConsent({
      projectId,
      userId: user,
      clientId: name,
      grantId: name,
    })
    await world.gatepass.broker.store.mcpConsents.put(consent)
    await call('GET', `/v1/admin/mcp_clients?user_id=${user}`)
    await call('DELETE', '/v1/admin/mcp_clients/{id}', undefined, { id: consent.id })
    const key = await call('POST', '/v1/admin/keys', { name: `key-${name}`, role: 'caller' })
    await call('GET', '/v1/admin/keys')
    const successor = await call('POST', '/v1/admin/keys/{id}/rotate', { grace: 60 }, { id: key.id })
    await call('GET', '/v1/admin/keys/{id}', undefined, { id: key.id })
    await call('DELETE', '/v1/admin/keys/{id}', undefined, { id: successor.id })

    await call('POST', '/v1/admin/auth_providers', providerBody(name, as))
    await call('GET', '/v1/admin/auth_providers')
    await call('GET', '/v1/admin/provider_catalogue')
    await call('GET', '/v1/admin/provider_catalogue/{id}', undefined, { id: 'github' })
    await call('GET', '/v1/admin/auth_providers/{id}', undefined, { id: name })
    await call('PATCH', '/v1/admin/auth_providers/{id}', { description: 'changed' }, { id: name })

    for (const secrets of ['/v1/admin/secrets', '/v1/secrets']) {
      const key = { key: `SECRET_${name}` }
      await call(secrets === '/v1/secrets' ? 'PUT' : 'POST', `${secrets}/{key}`, { value: 'one' }, key)
      await call('PUT', `${secrets}/{key}`, { value: 'two' }, key)
      await call('GET', secrets)
      await call('GET', `${secrets}/{key}`, undefined, key)
      await call('DELETE', `${secrets}/{key}`, undefined, key)
    }

    const need = { auth_requirement: { id: name, oauth2: { scopes: ['read'] } }, user_id: user }
    const begun = await call('POST', '/v1/auth/authorize', need)
    await call('GET', `/v1/auth/status?id=${begun.id}&wait=0`)
    await approve(begun.url)
    await call('POST', '/v1/auth/authorize', need)
    await call('GET', `/v1/auth/status?id=${begun.id}`)
    await call('GET', '/v1/auth/{id}/events', undefined, { id: begun.id })
    const [connection] = (await call('GET', `/v1/connections?user_id=${user}`)).items
    await call('GET', `/v1/connections?provider_id=${name}`)
    await call('GET', '/v1/connections')
    await call('GET', '/v1/connections/{id}', undefined, connection)
    await call('PATCH', '/v1/connections/{id}', { default: true }, connection)
    await call('POST', '/v1/connections/{id}/token', {}, connection)
    const keyed = {
      fields: { api_key: { secret: true } },
      place: { bearer: '{{api_key}}' },
      unchecked: true,
      api: { base_url: 'https://keys.example/v1' },
    }
    await call('POST', '/v1/admin/auth_providers', { id: `keyed-${name}`, credentials: keyed })
    const typed = { user_id: user, provider_id: `keyed-${name}`, fields: { api_key: `key-of-${name}` } }
    const { id: ofKey } = await call('POST', '/v1/connections', typed)
    await call('DELETE', '/v1/connections/{id}', undefined, { id: ofKey })
    const { clientId: client_id, clientSecret: client_secret, tokenUrl: endpoint } = world.as
    const token_request = { endpoint, auth_method: 'client_secret_basic' }
    const machine = { grant: { type: 'client_credentials' }, client_id, client_secret, token_request }
    await call('POST', '/v1/admin/auth_providers', { id: `machine-${name}`, oauth2: machine })
    const sharing = { name: `Shared ${name}`, shared_with: { users: ['*'] } }
    const shared = await call('POST', '/v1/admin/connections', {
      provider_id: `machine-${name}`,
      ...sharing,
    })
    await call('GET', '/v1/admin/connections')
    await call('GET', '/v1/admin/connections/{id}', undefined, shared)
    await call('PATCH', '/v1/admin/connections/{id}', { name: `Still shared ${name}` }, shared)
    await call('POST', '/v1/admin/connections/{id}/test', undefined, shared)
    await call('DELETE', '/v1/admin/connections/{id}', undefined, shared)
    for (const id of [`keyed-${name}`, `machine-${name}`])
      await call('DELETE', '/v1/admin/auth_providers/{id}', undefined, { id })
    await call('GET', `/v1/admin/user_connections?user_id=${user}`)

    const http = { uri: world.worker.url, secret: WORKER_SECRET, timeout: 60, retry: 0 }
    await call('POST', '/v1/workers/test', { http })
    await call('GET', '/v1/workers')
    await call('GET', '/v1/workers/{id}', undefined, { id: 'demo' })
    await call('PATCH', '/v1/workers/{id}', { http: { timeout: 6 } }, { id: 'demo' })
    await call('GET', '/v1/workers/{id}/health', undefined, { id: 'demo' })
    await call('GET', '/v1/workers/{id}/tools', undefined, { id: 'demo' })
    await call('POST', '/v1/workers/{id}/accept', {}, { id: 'demo' })
    await call('POST', '/v1/workers', { id: `worker-${name}`, http: { ...http, uri: 'http://127.0.0.1:1' } })
    await call('DELETE', '/v1/workers/{id}', undefined, { id: `worker-${name}` })

    // before the import: afterwards the list has the imported tool in place of this one
    const listed = await call('GET', '/oxp/tools')
    const { id: tool_id } = listed.items.find((one: { id: string }) => one.id.startsWith('Demo.Echo'))
    await call('POST', '/v1/tools/import', metadata(`Tool ${name}`))
    await call(
      'POST',
      '/v1/tools/{name}/binding',
      { worker_id: 'demo', tool: 'Echo' },
      { name: `Tool ${name}` },
    )
    await call('GET', '/v1/tools')
    await call('GET', '/v1/tools/{name}', undefined, { name: 'Demo.Echo' })
    await call('GET', '/v1/formatted_tools')
    await call('GET', '/v1/formatted_tools/{name}', undefined, { name: 'Demo.Echo' })
    await call('POST', '/v1/tools/requirements', { tool_names: ['Demo.Echo'], user_id: user })
    await call('POST', '/v1/tools/authorize', { tool_name: 'Demo.Whoami', user_id: user })
    const run = { tool_name: 'Demo.Echo', input: { text: 'hello' }, user_id: user }
    const ran = await call('POST', '/v1/tools/execute', { ...run, keep_content: true })
    await call('POST', '/v1/tools/run', { toolId: 'Demo.Echo', args: { text: 'hello' }, user_id: user })
    await call('POST', '/v1/tools/run_stream', {
      toolId: 'Demo.Echo',
      args: { text: 'hello' },
      user_id: user,
    })
    await call('POST', '/oxp/tools/call', {
      request: { tool_id, input: { text: 'hello' }, context: { user_id: user } },
    })
    for (const use of usesOfFeatures)
      await use({
        call,
        world,
        name,
        projectId,
        userId: user,
        providerId: name,
        run,
        connection,
        authorization: begun,
      })
    await world.gatepass.broker.history.flush()
    await call('GET', '/v1/executions')
    await call('GET', `/v1/executions?user_id=${user}&tool=Demo.Echo&status=completed`)
    await call('GET', '/v1/executions/{id}', undefined, { id: ran.execution_id })
    const file = await answeredFile(world.gatepass.broker, world.gatepass.apiKey)
    await call('GET', '/v1/files/{id}', undefined, { id: file })

    await call('GET', `/v1/admin/audit?user_id=${user}`)
    await call('GET', '/v1/admin/audit/export')
    await everyPage(world, user)
    await call('DELETE', '/v1/connections/{id}', undefined, connection)
    await approve((await call('POST', '/v1/auth/authorize', need)).url)
    const [again] = (await call('GET', `/v1/admin/user_connections?user_id=${user}`)).items
    await call('DELETE', '/v1/admin/user_connections/{id}', undefined, again)
    const foreign = { user_id: `import-${name}`, provider_id: name, access_token: 'of-elsewhere' }
    for (const replace of [false, true])
      await call('POST', '/v1/admin/user_connections/import', { connections: [foreign], replace })
    await call('DELETE', '/v1/tools/{name}', undefined, { name: `Tool ${name}` })
    await call('DELETE', '/v1/admin/auth_providers/{id}', undefined, { id: name })
  }

  async function callRefused(): Promise<void> {
    for (const { method, path } of routesOf(document))
      if (REFUSED.test(`${method} ${path}`))
        await world.call(method, path.replaceAll(/\{\w+\}/g, 'demo'), method === 'GET' ? undefined : {})
  }

  /** Runs the jobs that the timers of the server run at times that a test does not choose. */
  async function runBackgroundJobs(broker: Broker): Promise<void> {
    const features = beginFeatureWork(broker)
    const registration = await registerServer(broker.store, broker.sealer)
    const own = ownJobs(broker, { features, registration })
    for (const { run } of [...own, ...sharedJobs(broker)]) await run()
    await registration.leave()
    for (const work of features) await work.close(1_000)
    const { processes } = broker.store
    await processes.enter('other')
    await processes.beat('other')
    await processes.leave('other')
    await processes.isAlive('other', 1_000)
    // declares all processes dead, also this one, which then enters under another id
    await processes.declareDead(-1)
  }

  async function round(name: string): Promise<void> {
    const { broker } = world.gatepass
    await useEverything(name)
    await callRefused()
    await runBackgroundJobs(broker)
    await broker.uses.flush()
  }

  return {
    round,
    expectAllAnswered() {
      const routes = routesOf(document).map(({ method, path }) => `${method} ${path}`)
      expect(routes.filter((route) => !answered.has(route) && !REFUSED.test(route))).toEqual([])
    },
  }
}

/** Routes that need another verifier, worker or provider than this world has: they are called, and refuse. */
const REFUSED =
  /confirm_user|validate_custom_verifier|session_verification|workers\/\{id\}\/authorize|^\w+ \/proxy\//
