import { Gatepass } from '../../../src/sdk/client/gatepass.ts'

// Examples of `@gatepass/sdk`; each is named after its operation (`operationId`). The API reference shows the body of each
// function, and `npm run types` checks that it compiles.

const gatepass = new Gatepass({ baseUrl: 'http://localhost:8400', apiKey: 'the-key' })

export const SDK_SNIPPETS = {
  async authorize() {
    const authorization = await gatepass.connect('ada', 'github', { scopes: ['read:user'] })
    if (authorization.status === 'pending') console.log('Please approve:', authorization.url)
  },
  async getAuthorizationStatus() {
    const authorization = await gatepass.authorization('auth_example1')
    await authorization.wait()
  },
  async confirmUser() {
    const { nextUri } = await gatepass.confirmUser({ flowId: 'example-flow', user: 'ada' })
    console.log('Redirect the browser to', nextUri)
  },
  async listConnections() {
    for await (const { provider, account } of gatepass.connections.list({ user: 'ada' }))
      console.log(provider, account.name)
  },
  async getConnection() {
    const { status } = await gatepass.connections.get('conn_example1')
    console.log(status)
  },
  async setDefaultConnection() {
    await gatepass.connections.setDefault('conn_example1')
  },
  async getConnectionToken() {
    const { value, expiresAt } = await gatepass.token('ada', 'github')
    console.log(value.length, expiresAt)
  },
  async deleteConnection() {
    const { revocation } = await gatepass.connections.delete('conn_example1')
    console.log(revocation)
  },
  async createPortalLink() {
    const { url } = await gatepass.portal('ada', { userDisplay: 'Ada L.', may: ['disconnect', 'connect'] })
    console.log('Redirect the browser of Ada to', url)
  },
  async listTools() {
    for await (const { name } of gatepass.tools.list({ q: 'repositories', user: 'ada' })) console.log(name)
  },
  async getTool() {
    const tool = await gatepass.tools.get('Hub.CountWords')
    console.log(tool.description)
  },
  async getToolRequirements() {
    const { met } = await gatepass.tools.requirements(['Hub.ListRepositories', 'Hub.CountWords'], {
      user: 'ada',
    })
    console.log(met)
  },
  async authorizeTool() {
    const authorization = await gatepass.tools.authorize('Hub.ListRepositories', { user: 'ada' })
    console.log(authorization.status)
  },
  async executeTool() {
    const result = await gatepass.tools.execute('Hub.ListRepositories', { count: 2 }, { user: 'ada' })
    if (result.outcome === 'value') console.log(result.value)
    if (result.outcome === 'requires_authorization') console.log(result.authorization.url)
  },
  async runTool() {
    const value = await gatepass.tools.run('Hub.CountWords', { text: 'to be or not' })
    console.log(value)
  },
  async streamTool() {
    for await (const event of gatepass.tools.stream('Hub.CountWords', { text: 'to be or not' }))
      console.log(event)
  },
  async runChain() {
    const steps = [
      { tool: 'Hub.ListRepositories', input: { count: 2 } },
      { tool: 'Hub.CountWords', input: { text: 'to be or not' } },
    ]
    const { status } = await gatepass.tools.chain(steps, { user: 'ada' })
    console.log(status)
  },
  async executeCode() {
    const result = await gatepass.code.execute("return await tools.call('Hub.CountWords', { text: 'to be' })")
    if (result.outcome === 'value') console.log(result.value)
  },
  async listExecutions() {
    for await (const { tool, status } of gatepass.executions.list({ tool: 'Hub.ListRepositories' }))
      console.log(tool, status)
  },
  async getExecution() {
    const { input, attempts } = await gatepass.executions.get('exec_example1')
    console.log(input, attempts)
  },
  async listScheduledTools() {
    for await (const { id, runAt } of gatepass.scheduled.list()) console.log(id, runAt)
  },
  async getScheduledTool() {
    const { status } = await gatepass.scheduled.get('exec_example8')
    console.log(status)
  },
  async cancelScheduledTool() {
    await gatepass.scheduled.cancel('exec_example8')
  },
  async proxyGet() {
    const response = await gatepass.fetch('ada', 'github', '/userinfo')
    console.log(await response.json())
  },
  async listWorkers() {
    for await (const { id, status } of gatepass.admin.workers.list()) console.log(id, status)
  },
  async createWorker() {
    const http = { uri: 'https://hub.example', secret: 'a-secret-that-the-worker-shares' }
    await gatepass.admin.workers.create({ id: 'hub', http })
  },
  async listAuthProviders() {
    for await (const { id, status } of gatepass.admin.providers.list()) console.log(id, status)
  },
  async importTools() {
    const { items } = await gatepass.admin.import({ name: 'Word count', parameters: { type: 'object' } })
    console.log(items)
  },
  async setSecret() {
    await gatepass.admin.secrets.set('HUB_KEY', 'the-key-of-the-hub')
  },
  async createApiKey() {
    const { key } = await gatepass.admin.keys.create({ role: 'caller', name: 'agent', expires_in: 86_400 })
    console.log(key.length)
  },
  async createPolicy() {
    const match = { tools: ['Hub.*'], providers: ['github'], scopes: ['delete_repo'] }
    await gatepass.admin.policies.create({ id: 'no-deletion', effect: 'deny', match })
  },
  async createWebhook() {
    const webhook = await gatepass.admin.webhooks.create({ url: 'https://app.example.com/webhooks' })
    console.log(webhook.secret.length)
  },
  async createToolset() {
    const instructions = 'Ask before you change anything.'
    await gatepass.admin.toolsets.create({ id: 'github', namespaces: ['Hub'], instructions })
  },
  async listAuditEntries() {
    for await (const { at, action } of gatepass.admin.audit.list({ action: 'authorization.completed' }))
      console.log(at, action)
  },
}
