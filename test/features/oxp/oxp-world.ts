import {
  type FakeAuthorizationServer,
  startFakeAuthorizationServer,
} from '../../fake-authorization-server.ts'
import { type FakeOxpServer, type FakeOxpServerOptions, startFakeOxpServer } from '../../fake-oxp-server.ts'
import { type Answer, type Gatepass, type GatepassOptions, startGatepass } from '../../gatepass.ts'
import { providerBody } from '../../http/world.ts'

/** A Gatepass with the providers `files` and `mail`, and an OXP server as the worker `oxp` whose tools need both. */
export interface OxpWorld extends AsyncDisposable {
  readonly gatepass: Gatepass
  readonly call: Gatepass['call']
  readonly server: FakeOxpServer
  readonly providers: { readonly files: FakeAuthorizationServer; readonly mail: FakeAuthorizationServer }
  /** The answer to the registration of the worker. */
  readonly registered: Answer
  /** Runs a tool as a caller does. */
  execute(tool: string, input?: Record<string, unknown>, userId?: string): Promise<Answer>
  /** The token that Gatepass holds for the user. */
  tokenOf(provider: 'files' | 'mail', userId: string): Promise<string>
}

export interface OxpWorldOptions {
  readonly server?: FakeOxpServerOptions
  /** Settings of the worker beside its `uri`. */
  readonly worker?: Record<string, unknown>
  readonly gatepass?: GatepassOptions
}

export const NEEDED = [
  { id: 'files', scopes: ['read'] },
  { id: 'mail', scopes: ['read', 'send'] },
]

export async function startOxpWorld(options: OxpWorldOptions = {}): Promise<OxpWorld> {
  const [files, mail] = await Promise.all([startFakeAuthorizationServer(), startFakeAuthorizationServer()])
  const server = await startFakeOxpServer({ authorization: NEEDED, ...options.server })
  const gatepass = await startGatepass(options.gatepass)
  const { call } = gatepass
  for (const [id, as] of Object.entries({ files, mail })) {
    const { status, body } = await call('POST', '/v1/admin/auth_providers', providerBody(id, as))
    if (status !== 201) throw new Error(JSON.stringify(body))
  }
  const oxp = { uri: server.url, timeout: 60, retry: 0, ...options.worker }
  const registered = await call('POST', '/v1/workers', { id: 'oxp', pinning: 'record', oxp })
  return {
    gatepass,
    call,
    server,
    providers: { files, mail },
    registered,
    execute: (tool_name, input = {}, user_id) =>
      call('POST', '/v1/tools/execute', { tool_name, input, ...(user_id !== undefined && { user_id }) }),
    async tokenOf(id, userId) {
      const { body } = await call('POST', '/v1/auth/authorize', {
        auth_requirement: { id, oauth2: { scopes: ['read'] } },
        user_id: userId,
      })
      return body.context.token
    },
    async [Symbol.asyncDispose]() {
      await gatepass.close()
      await Promise.all([server.close(), files.close(), mail.close()])
    },
  }
}
