import { readFileSync } from 'node:fs'
import { newId } from '../../../src/domain/ids.ts'
import type { Example } from '../../../src/http/reference/example.ts'
import { answeredFile } from '../../answered-file.ts'
import type { AnyJson } from '../../any-json.ts'
import type { OpenApiDocument } from '../../sdk/wire-types/openapi.ts'
import { approve, providerBody } from '../world.ts'
import { normalizer } from './normalize.ts'
import { type ExampleWorld, WORKER_SECRET } from './world.ts'

/** The parts of a request for an operation, beside the method and the template of its path. */
export interface Request {
  /** Default: an administrator's key. */
  readonly key?: string
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** A request and its answer, before anything in them is replaced. */
export interface Recorded {
  readonly operationId: string
  readonly path: string
  readonly method: string
  readonly request: Request
  readonly status: number
  readonly mediaType: string | undefined
  readonly answer: AnyJson
  readonly text: string
}

/**
 * Sends a request for each operation to real servers, in an order in which earlier requests make what later ones need.
 * Throws when one is refused.
 */
export async function recordExamples(world: ExampleWorld): Promise<readonly Recorded[]> {
  const { gatepass, provider, worker } = world
  const recorded: Recorded[] = []
  const document: OpenApiDocument = (await gatepass.call('GET', '/openapi.json')).body
  const routes = new Map(
    Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { operationId }]) => [operationId, { method, path }] as const),
    ),
  )

  /** A connection of the project, by a grant without a user. */
  async function recordConnectionOfProject(): Promise<void> {
    const { oauth2, ...entry } = providerBody('crm', provider)
    const { client_id, client_secret, token_request } = oauth2
    const machine = { grant: { type: 'client_credentials' }, client_id, client_secret, token_request }
    await gatepass.call('POST', '/v1/admin/auth_providers', { ...entry, oauth2: machine })
    const shared_with = { users: ['*'], agents: ['support-bot'], tools: ['Crm.*'] }
    const body = { provider_id: 'crm', owner: 'project', name: 'CRM', scopes: ['read:user'], shared_with }
    const { id } = await send('addConnectionOfProject', { body })
    await send('listConnectionsOfProject')
    await send('getConnectionOfProject', { params: { id } })
    await send('updateConnectionOfProject', { params: { id }, body: { shared_with: { users: ['ada'] } } })
    await send('testConnectionOfProject', { params: { id } })
    await send('deleteConnectionOfProject', { params: { id } })
  }

  /** A call that a group approves, and remembers for an hour. */
  async function recordApprovals(): Promise<void> {
    const key = await gatepass.makeKey('approver')
    const approve = { by: { group: 'security' }, remember: ['once', 'hour'] }
    const policy = {
      id: 'lists-are-seen',
      effect: 'approve',
      match: { tools: ['Hub.ListRepositories'] },
      approve,
    }
    await gatepass.call('POST', '/v1/admin/policies', policy)
    const { body } = await gatepass.call('POST', '/v1/tools/run', {
      toolId: 'Hub.ListRepositories',
      args: { owner: 'ada' },
      user_id: 'ada',
    })
    const params = { id: body.requires_authorization.id }
    await send('listApprovals', { key })
    const { digest } = await send('getApproval', { params, key })
    const decision = { decision: 'approve', digest, approver: 'bob', remember: 'hour', fixed: ['owner'] }
    await send('decideApproval', { params, body: decision, key })
    const { items } = await send('listStandingApprovals')
    await send('deleteStandingApproval', { params: { id: items[0].id } })
    await gatepass.call('DELETE', '/v1/admin/policies/lists-are-seen')
  }

  async function send(operationId: string, request: Request = {}): Promise<Recorded['answer']> {
    const route = routes.get(operationId)
    if (route === undefined) throw new Error(`There is no operation ${operationId}.`)
    const { params = {}, query = {}, body, headers = {}, key } = request
    const path = route.path.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(params[name] ?? ''))
    const search = new URLSearchParams(query).toString()
    const whole = path.replaceAll('%2F', '/') + (search && `?${search}`)
    const answered = await gatepass.call(route.method.toUpperCase(), whole, body, {
      headers,
      ...(key !== undefined && { key }),
    })
    const { status, body: answer } = answered
    const mediaType = answered.headers.get('content-type')?.replace(/;.*$/, '')
    if (status >= 300) throw new Error(`${operationId}: ${status} ${JSON.stringify(answer)}`)
    const text = typeof answer === 'string' ? answer : JSON.stringify(answer)
    recorded.push({
      operationId,
      method: route.method,
      path: whole,
      request,
      status,
      mediaType,
      answer,
      text,
    })
    return answer
  }

  // providers and workers
  const { oauth2, ...entry } = providerBody('github', provider)
  const api = { base_url: new URL(provider.userInfoUrl).origin, hosts: [] }
  await send('createAuthProvider', {
    body: { ...entry, description: 'GitHub', oauth2: { ...oauth2, api } },
  })
  await send('listAuthProviders', { query: { limit: '1' } })
  await send('getAuthProvider', { params: { id: 'github' } })
  await send('listProviderCatalogue', { query: { search: 'zendesk', limit: '1' } })
  await send('getCatalogueDefinition', { params: { id: 'zendesk-sell' } })
  await send('updateAuthProvider', { params: { id: 'github' }, body: { description: 'GitHub of the team' } })
  const http = { uri: worker.url, secret: WORKER_SECRET, timeout: 30, retry: 0 }
  await send('testWorker', { body: { id: 'hub', http } })
  await send('createWorker', { body: { id: 'hub', http } })
  await send('listWorkers', { query: { limit: '1' } })
  await send('getWorker', { params: { id: 'hub' } })
  await send('updateWorker', { params: { id: 'hub' }, body: { http: { timeout: 20 } } })
  await send('getWorkerHealth', { params: { id: 'hub' } })
  await send('listWorkerTools', { params: { id: 'hub' }, query: { limit: '1' } })
  await send('acceptWorkerRequirements', { params: { id: 'hub' } })

  // a user's consent
  const ada = { user_id: 'ada' }
  const need = { auth_requirement: { provider_id: 'github', oauth2: { scopes: ['read:user'] } }, ...ada }
  const { id, url } = await send('authorize', { body: need })
  await send('authorizeTool', { body: { tool_name: 'Hub.ListRepositories', ...ada } })
  const both = { tool_names: ['Hub.ListRepositories', 'Hub.CountWords'], ...ada, authorize: true }
  await send('getToolRequirements', { body: both })
  await approve(url)
  await send('getAuthorizationStatus', { query: { id, wait: '45' } })
  await send('streamAuthorizationStatus', { params: { id } })
  await send('explainAuthorization', { params: { id } })
  const session = await send('createConnectSession', {
    body: { ...ada, provider_id: 'github', scopes: ['repo'], allowed_origin: 'https://app.example' },
  })
  const ofPage = { origin: 'https://app.example', authorization: `Bearer ${session.session_token}` }
  await send('getCurrentConnectSession', { query: { wait: '1' }, headers: ofPage })
  await send('cancelCurrentConnectSession', { headers: ofPage })
  await send('streamCurrentConnectSession', { headers: ofPage })
  await send('restartCurrentConnectSession', { headers: ofPage })
  const trial = { ...ada, verifier_url: 'https://app.example/verify' }
  const { flow_id } = await send('validateCustomVerifier', { body: trial })
  await send('confirmUser', { body: { flow_id, ...ada } })
  await send('getSessionVerification')
  await send('confirmSessionVerification', { body: { unsafe_skip_verification: true } })
  const connection = (await send('listConnections', { query: ada })).items[0].id
  await send('getConnection', { params: { id: connection } })
  await send('explainConnection', { params: { id: connection } })
  await send('setDefaultConnection', { params: { id: connection }, body: { default: true } })
  await send('getConnectionToken', { params: { id: connection } })
  await send('listUserConnections', { query: ada })
  const asAda = { 'x-gatepass-user': 'ada' }
  await send('proxyGet', { params: { provider: 'github', path: 'userinfo' }, headers: asAda })

  // tools
  await send('listTools', { query: { q: 'repositories', ...ada } })
  await send('getTool', { params: { name: 'Hub.CountWords' } })
  await send('listFormattedTools', { query: { format: 'openai', limit: '1' } })
  await send('getFormattedTool', { params: { name: 'Hub.CountWords' }, query: { format: 'anthropic' } })
  const metadata = {
    name: 'Word count',
    version: '1.0.0',
    description: 'Counts words.',
    parameters: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  }
  await send('importTools', { body: metadata })
  await send('bindTool', {
    params: { name: 'Word count' },
    body: { worker_id: 'hub', tool: 'Hub.CountWords' },
  })
  await send('deleteTool', { params: { name: 'Word count' } })
  await send('listOxpTools')
  const words = { text: 'to be or not' }
  const list = { count: 2 }
  const { execution_id } = await send('executeTool', {
    body: { tool_name: 'Hub.ListRepositories', input: list, ...ada, keep_content: true },
  })
  await send('runTool', { body: { toolId: 'Hub.CountWords', args: words } })
  await send('streamTool', { body: { toolId: 'Hub.CountWords', args: words } })
  const steps = [
    { toolId: 'Hub.ListRepositories', args: list },
    { toolId: 'Hub.CountWords', args: words },
  ]
  await send('runChain', { body: { steps, ...ada } })
  const code = "const { words } = await tools.call('Hub.CountWords', { text: 'to be' })\nreturn words * 2"
  await send('executeCode', { body: { code } })
  const call = { tool_id: 'Hub.CountWords', input: words }
  await send('callOxpTool', { body: { request: call } })
  await send('listExecutions', { query: { tool: 'Hub.ListRepositories', limit: '1' } })
  await send('getExecution', { params: { id: execution_id } })
  await send('getFile', { params: { id: await answeredFile(gatepass.broker, gatepass.apiKey) } })
  const later = { tool_name: 'Hub.CountWords', input: words, run_at: '2027-03-03T09:00:00' }
  const scheduled = (await gatepass.call('POST', '/v1/tools/execute', later)).body.execution_id
  await send('listScheduledTools', { query: { limit: '1' } })
  await send('getScheduledTool', { params: { id: scheduled } })
  await send('cancelScheduledTool', { params: { id: scheduled } })

  // administration
  await send('setSecret', { params: { key: 'HUB_KEY' }, body: { value: 'the-key-of-the-hub' } })
  await send('listSecrets')
  await send('getSecret', { params: { key: 'HUB_KEY' } })
  await send('deleteSecret', { params: { key: 'HUB_KEY' } })
  const { id: key } = await send('createApiKey', {
    body: { role: 'caller', name: 'agent', expires_in: 86_400 },
  })
  await send('listApiKeys', { query: { limit: '1' } })
  await send('getApiKey', { params: { id: key } })
  await send('rotateApiKey', { params: { id: key }, body: { grace: 3600 } })
  await send('revokeApiKey', { params: { id: key } })
  const { projects, mcpConsents } = gatepass.broker.store
  const { id: projectId } = await projects.ensure('default', 0)
  const redirectUri = 'https://claude.ai/api/mcp/auth_callback'
  const approval = {
    id: newId('mcpc'),
    projectId,
    userId: 'ada',
    clientId: 'https://claude.ai/oauth/client.json',
    redirectUri,
    clientName: 'Claude',
    scopes: ['mcp'],
    createdAt: gatepass.broker.now(),
  }
  await mcpConsents.put(approval)
  await send('createPortalLink', {
    params: { user_id: 'ada' },
    body: { user_display: 'Ada L.', may: ['view', 'disconnect', 'connect'] },
  })
  await send('listMcpClients', { query: ada })
  await send('deleteMcpClient', { params: { id: approval.id } })
  await send('createProject', { body: { name: 'staging' } })
  await send('listProjects')
  const branding = { app_name: 'Acme', accent: '#0b57d0', support_url: 'https://acme.example/help' }
  await send('changeBranding', { params: { id: 'default' }, body: branding })
  await send('getBranding', { params: { id: 'default' } })
  const branded = '/v1/admin/projects/default/branding'
  const claimed = await gatepass.call('PATCH', branded, { domain: 'auth.acme.example' })
  const values = [claimed.body.domain.challenge.value]
  Object.assign(gatepass.broker.outgoing, { lookUpTxt: async () => ({ outcome: 'found', values }) })
  await send('verifyDomain', { params: { id: 'default' } })
  await gatepass.call('PATCH', branded, { domain: null })
  const match = { tools: ['Hub.*'], providers: ['github'], scopes: ['delete_repo'] }
  await send('createPolicy', { body: { id: 'no-deletion', effect: 'deny', match } })
  await send('listPolicies')
  await send('getPolicy', { params: { id: 'no-deletion' } })
  await send('updatePolicy', { params: { id: 'no-deletion' }, body: { enabled: false } })
  await send('testPolicies', { body: { tool_name: 'Hub.ListRepositories', ...ada } })
  await send('dryRunPolicies', {
    body: { policies: [{ id: 'no-ada', effect: 'deny', match: { users: ['ada'] } }] },
  })
  const quota = { limit: 100, per: 'user', window: 'day' }
  await gatepass.call('POST', '/v1/admin/policies', {
    id: 'hundred-a-day',
    effect: 'deny',
    match: { tools: ['Hub.*'], quota },
  })
  await gatepass.call('POST', '/v1/tools/execute', { tool_name: 'Hub.ListRepositories', ...ada })
  await send('listQuotas')
  await recordConnectionOfProject()
  await recordApprovals()
  await gatepass.call('DELETE', '/v1/admin/policies/hundred-a-day')
  await send('deletePolicy', { params: { id: 'no-deletion' } })
  const receiver = `${worker.url}/webhooks`
  const hook = await send('createWebhook', {
    body: { url: receiver, types: ['connection.needs_authorization', 'connection.deleted'] },
  })
  const ofHook = { params: { id: hook.id } }
  await send('listWebhooks')
  await send('getWebhook', ofHook)
  await send('updateWebhook', { ...ofHook, body: { description: 'Tells users to connect again' } })
  await send('rotateWebhookSecret', { ...ofHook, body: { overlap_seconds: 3600 } })
  await send('testWebhook', ofHook)
  await send('replayWebhook', { ...ofHook, body: { only_failed: true } })
  await send('listWebhookDeliveries', ofHook)
  await send('deleteWebhook', ofHook)
  const set = { id: 'github', namespaces: ['Hub'], instructions: 'Ask before you change anything.' }
  await send('createToolset', { body: set })
  await send('listToolsets')
  await send('getToolset', { params: { id: 'github' } })
  await send('listToolsetTools', { params: { id: 'github' }, query: { limit: '1' } })
  await send('updateToolset', { params: { id: 'github' }, body: { tags: ['weather'], names: 'bare' } })
  await send('deleteToolset', { params: { id: 'github' } })
  await send('listPacks', { query: { limit: '2' } })
  await send('getPack', { params: { id: 'gmail' }, query: { tools: 'GetProfile' } })
  await send('addPack', { body: { id: 'gmail', tools: ['GetProfile'] } })
  await send('updatePack', { params: { id: 'gmail' }, body: { dry_run: true } })
  await send('listAuditEntries', { query: { action: 'authorization.completed', limit: '1' } })
  await send('exportAuditEntries', { query: { action: 'authorization.completed' } })
  await send('getDiagnosis')
  for (const operation of ['getHealth', 'getReadiness', 'getArcadeHealth', 'getOxpHealth', 'getMetrics'])
    await send(operation)

  // the ends
  await send('deleteConnection', { params: { id: connection } })
  const { url: again } = await send('authorize', { body: need })
  await approve(again)
  const last = (await send('listUserConnections', { query: ada })).items[0].id
  await send('deleteUserConnection', { params: { id: last } })
  await send('importConnections', {
    body: {
      connections: [
        {
          user_id: 'grace',
          provider_id: 'github',
          access_token: 'gho_of-elsewhere',
          refresh_token: 'ghr_of-elsewhere',
          scopes: ['repo'],
          account: { id: '9', name: 'grace' },
        },
        { user_id: 'linus', provider_id: 'github' },
      ],
    },
  })
  await send('deleteWorker', { params: { id: 'hub' } })
  await send('deleteAuthProvider', { params: { id: 'github' } })
  return recorded
}

/** The examples as the page shows them, without secrets: the first request for each operation. */
export function toExamples(world: ExampleWorld, recorded: readonly Recorded[]): Record<string, Example> {
  const normalize = normalizer(world)
  const snippets = sdkSnippets()
  const examples = new Map<string, Example>()
  for (const { operationId, path, request, status, mediaType, answer } of recorded) {
    if (examples.has(operationId)) continue
    const { headers, body } = request
    const example: Example = {
      path: path.replaceAll('%3A', ':'),
      ...(headers && { headers }),
      ...(body !== undefined && { body }),
      status,
      ...(mediaType !== undefined && { mediaType }),
      ...(answer !== '' && { answer: mediaType === 'text/plain' ? shortened(answer) : answer }),
    }
    const sdk = snippets.get(operationId)
    examples.set(operationId, {
      ...JSON.parse(
        normalize(JSON.stringify(example)).replaceAll(
          /(digest\\*":\\*")[\w-]{43}/g,
          '$1fS0zQm1hZ2VzdC1vZi10aGUtY2FsbC1pcy1zaG93bjE',
        ),
      ),
      ...(sdk && { sdk }),
    })
  }
  return Object.fromEntries([...examples].toSorted(([one], [other]) => (one < other ? -1 : 1)))
}

/** The bodies of the functions of sdk-snippets.ts, by their names. */
function sdkSnippets(): ReadonlyMap<string, string> {
  const source = readFileSync(new URL('./sdk-snippets.ts', import.meta.url), 'utf8')
  const functions = source.matchAll(/^ {2}async (\w+)\(\) \{\n([\s\S]*?)\n {2}\},$/gm)
  return new Map([...functions].map(([, name = '', body = '']) => [name, body.replaceAll(/^ {4}/gm, '')]))
}

/** The first lines of the metrics. */
function shortened(text: string): string {
  return text.split('\n').slice(0, 3).join('\n')
}
