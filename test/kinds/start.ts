import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { type FakeAuthorizationServer, startFakeAuthorizationServer } from '../fake-authorization-server.ts'
import { type Gatepass, startGatepass } from '../gatepass.ts'
import { approve, providerBody } from '../http/world.ts'
import { KIND_SECRET, PROVIDERS } from './serve.ts'

/** By kind of worker, the namespace of its two tools. */
export const KINDS = {
  worker: 'WorkerKind',
  oxp: 'OxpKind',
  mcp: 'Kind',
  openapi: 'api-kind',
  module: 'ModuleKind',
} as const satisfies Record<string, string>
export type Kind = keyof typeof KINDS
export type ProviderName = (typeof PROVIDERS)[number]

export interface KindsWorld extends AsyncDisposable {
  readonly gatepass: Gatepass
  readonly call: Gatepass['call']
  readonly providers: Readonly<Record<ProviderName, FakeAuthorizationServer>>
  /** Lets the user approve with that account, and returns the token that Gatepass then has for it. */
  connect(provider: ProviderName, userId: string, account?: string): Promise<string>
}

interface Served {
  readonly child: ChildProcess
  readonly url: string
  readonly document?: unknown
}

/** A Gatepass with two providers, a worker process of each of four kinds, and a module in its own process. */
export async function startKinds(): Promise<KindsWorld> {
  const [demo, other] = await Promise.all([startFakeAuthorizationServer(), startFakeAuthorizationServer()])
  const providers = { demo, other }
  const [worker, oxp, mcp, openapi] = await Promise.all(
    (['worker', 'oxp', 'mcp', 'openapi'] as const).map(serve),
  )
  const module = fileURLToPath(new URL('./tools-module.ts', import.meta.url))
  const gatepass = await startGatepass({ environment: { GATEPASS_TOOLS: module } })
  const { call } = gatepass
  const add = async (path: string, body: object) => {
    const answer = await call('POST', path, body)
    if (answer.status !== 201 || answer.body.sync_error !== undefined)
      throw new Error(JSON.stringify(answer.body))
  }
  for (const id of PROVIDERS) {
    const { oauth2, ...entry } = providerBody(id, providers[id])
    const api = { base_url: openapi?.url, hosts: [new URL(openapi?.url ?? '').host] }
    await add('/v1/admin/auth_providers', { ...entry, oauth2: { ...oauth2, api } })
  }
  await add('/v1/workers', { id: 'worker-kind', http: { uri: worker?.url, secret: KIND_SECRET } })
  await add('/v1/workers', { id: 'oxp-kind', oxp: { uri: oxp?.url, api_key: KIND_SECRET } })
  await add('/v1/workers', { id: 'mcp-kind', mcp: { uri: mcp?.url } })
  await add('/v1/workers', { id: 'api-kind', openapi: { document: openapi?.document } })

  return {
    gatepass,
    call,
    providers,
    async connect(provider, userId, account) {
      const as = providers[provider]
      if (account !== undefined)
        as.account = { sub: account, name: account, email: `${account}@example.test`, login: account }
      const need = {
        auth_requirement: { id: provider, oauth2: { scopes: ['read'] } },
        user_id: userId,
        account: account === undefined ? undefined : 'new',
      }
      const { body } = await call('POST', '/v1/auth/authorize', need)
      await approve(body.url)
      const { body: after } = await call('POST', '/v1/auth/authorize', { ...need, account })
      return after.context.token
    },
    async [Symbol.asyncDispose]() {
      await gatepass.close()
      for (const one of [worker, oxp, mcp, openapi]) {
        one?.child.disconnect()
        if (one !== undefined && one.child.exitCode === null) await once(one.child, 'exit')
      }
      await Promise.all([demo.close(), other.close()])
    },
  }
}

async function serve(kind: string): Promise<Served> {
  const child = fork(new URL('./serve.ts', import.meta.url), [kind])
  const [message] = (await once(child, 'message')) as [Omit<Served, 'child'>] // as serve.ts sends it
  return { child, ...message }
}
