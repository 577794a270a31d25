import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { AnyJson } from '../../any-json.ts'
import { approve, providerBody, startWorld, type World } from '../../http/world.ts'
import { expectListedNamesToRun } from '../../listed-names.ts'
import { answerJson, bearerOf, type Loopback, listen, type RecordedRequest, record } from '../../loopback.ts'
import { onDemand } from '../../on-demand/ask.ts'

// The files of examples/tools: three in Gatepass's process, the fourth started by an MCP client. GitHub, Slack and Brave
// are a server of the test, which takes only tokens that the user has granted for it.

const FOLDER = new URL('../../../examples/tools/', import.meta.url)
const IN_PROCESS = ['github.ts', 'issue-to-slack.ts', 'web-search.ts']
const OVER_MCP = 'release.ts'
const path = (file: string) => fileURLToPath(new URL(file, FOLDER))
const BRAVE_KEY = 'the key of Brave'

let world: World
let api: Loopback
let requests: RecordedRequest[] = []
const environment = new Map<string, string | undefined>()

beforeAll(async () => {
  await onDemand('sdk')
  api = await listen(async (req, res) => {
    const request = await record(req)
    requests.push(request)
    const answered = answerOf(request)
    return answerJson(res, answered.status ?? 200, answered.body)
  })
  for (const name of ['GITHUB_API', 'SLACK_API', 'BRAVE_API']) {
    environment.set(name, process.env[name])
    process.env[name] = api.url // read when the module is loaded
  }
  world = await startWorld({ gatepass: { environment: { GATEPASS_TOOLS: IN_PROCESS.map(path).join(',') } } })
  for (const id of ['github', 'slack']) {
    const { status } = await world.call('POST', '/v1/admin/auth_providers', providerBody(id, world.as))
    expect(status).toBe(201)
  }
})
afterAll(async () => {
  for (const [name, value] of environment)
    if (value === undefined) delete process.env[name]
    else process.env[name] = value
  await world[Symbol.asyncDispose]()
  await api.close()
})
beforeEach(() => {
  requests = []
})

const DRAFT = { id: 7, html_url: 'https://github.example.test/7', body: 'Fixes a fault.' }
const REPOSITORY = {
  full_name: 'ada/engine',
  description: null,
  language: 'Ada',
  stargazers_count: 3,
  private: false,
}

/** What each API answers, and which scope of the user's it asks for. */
const ANSWERS: Readonly<Record<string, { readonly scope?: string; readonly body: unknown }>> = {
  'GET /user/repos': { scope: 'read:user', body: [REPOSITORY] },
  'GET /repos/ada/engine/issues/4': {
    scope: 'repo',
    body: { title: 'It stops', html_url: 'https://github.example.test/4', state: 'open', id: 4 },
  },
  'POST /chat.postMessage': { scope: 'chat:write', body: { ok: true, ts: '1' } },
  'GET /web/search': {
    body: {
      web: {
        results: [{ title: 'Gatepass', url: 'https://example.test/', description: 'A broker.', age: '1 d' }],
      },
    },
  },
  'POST /repos/ada/engine/releases': { scope: 'repo', body: DRAFT },
  'PATCH /repos/ada/engine/releases/7': { scope: 'repo', body: DRAFT },
}

function answerOf(request: RecordedRequest): { readonly status?: number; readonly body: unknown } {
  const answer = ANSWERS[`${request.method} ${request.path}`]
  if (answer === undefined) return { status: 404, body: { message: 'Not Found' } }
  const token = bearerOf(request.headers) ?? ''
  const isAllowed =
    answer.scope === undefined
      ? request.headers['x-subscription-token'] === BRAVE_KEY
      : world.as.isLive(token) && world.as.grantOf(token)?.scopes.includes(answer.scope)
  if (!isAllowed) return { status: 401, body: { message: 'Unauthorized' } }
  if (request.params.channel === 'nowhere') return { body: { ok: false, error: 'channel_not_found' } }
  return answer
}

/** Runs a tool for a user who approves what it asks for. */
async function run(tool_name: string, input: object, user_id: string): Promise<AnyJson> {
  const execute = () => world.execute(tool_name, { input, user_id })
  const asked = await execute()
  const link = asked.body.output.requires_authorization?.url
  if (link === undefined) return asked.body.output
  await approve(link)
  return (await execute()).body.output
}

const sent = () => requests.map(({ method, path }) => `${method} ${path}`)

describe('github.ts', () => {
  test('lists the repositories of the user who approved', async () => {
    const { private: _, ...repository } = REPOSITORY
    expect(await run('github.list_repositories', { count: 3 }, 'ada')).toMatchObject({
      value: { repositories: [repository] },
    })
    expect(requests).toMatchObject([{ query: { per_page: '3', sort: 'pushed' } }])
  })
})

describe('issue-to-slack.ts', () => {
  const input = { repository: 'ada/engine', issue: 4, channel: '#engines' }

  test('reads at GitHub and posts at Slack, each with the token for it', async () => {
    const { value } = await run('issues.post_to_slack', input, 'grace')
    expect(value).toEqual({ posted: 'It stops', channel: '#engines' })
    expect(requests.at(-1)?.json).toEqual({
      channel: '#engines',
      text: 'It stops (open)\nhttps://github.example.test/4',
    })
  })

  test('posts nothing where there is no such issue', async () => {
    const { error } = await run('issues.post_to_slack', { ...input, issue: 5 }, 'grace')
    expect(error.message).toMatch(/answered 404\.$/)
    expect(sent()).toEqual(['GET /repos/ada/engine/issues/5'])
  })

  test('says why Slack refuses', async () => {
    const { error } = await run('issues.post_to_slack', { ...input, channel: 'nowhere' }, 'grace')
    expect(error.message).toBe('Slack refused the message: channel_not_found.')
  })
})

describe('web-search.ts', () => {
  test('searches with the secret, and not before it is set', async () => {
    const search = () => run('web.search', { query: 'gatepass' }, 'ada')
    expect((await search()).error.message).toContain('needs the secret BRAVE_API_KEY')
    expect(requests).toEqual([])
    await world.call('POST', '/v1/admin/secrets/BRAVE_API_KEY', { value: BRAVE_KEY })
    expect((await search()).value).toEqual({
      pages: [{ title: 'Gatepass', url: 'https://example.test/', description: 'A broker.' }],
    })
    expect(requests).toMatchObject([{ query: { q: 'gatepass', count: '5' } }])
  })
})

describe('release.ts', () => {
  let client: Client
  let asked: string[]
  let agrees: boolean
  let names: boolean
  beforeAll(async () => {
    const capabilities = { elicitation: { form: {}, url: {} } }
    client = new Client(
      { name: 'test', version: '1' },
      { capabilities, versionNegotiation: { mode: 'auto' } },
    )
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      if ('url' in params) {
        asked.push('consent')
        await approve(params.url)
        return { action: 'accept' }
      }
      asked.push(params.message)
      if (!params.message.startsWith('Which')) return { action: 'accept', content: { publish: agrees } }
      return names
        ? { action: 'accept', content: { tag: 'v1.2.0', prerelease: false } }
        : { action: 'decline' }
    })
    await client.connect(
      new StdioClientTransport({
        command: process.execPath,
        args: [path(OVER_MCP)],
        env: {
          PATH: process.env.PATH ?? '',
          GATEPASS_URL: world.gatepass.url,
          GATEPASS_API_KEY: world.gatepass.apiKey,
          GATEPASS_USER: 'ada',
          GITHUB_API: api.url,
        },
      }),
    )
  })
  afterAll(() => client.close())
  beforeEach(() => {
    asked = []
    agrees = names = true
  })

  const release = (onprogress = (_: { readonly message?: string | undefined }) => {}) =>
    client.callTool({ name: 'release', arguments: { repository: 'ada/engine' } }, { onprogress })

  test('asks for consent, the version and agreement, and writes one draft', async () => {
    const reported = new Set<string | undefined>()
    const { structuredContent } = await release(({ message }) => void reported.add(message))
    expect(structuredContent).toEqual({ published: true, url: DRAFT.html_url })
    expect(asked).toEqual(['consent', 'Which version of ada/engine?', 'Publish v1.2.0?\n\nFixes a fault.'])
    expect(requests).toMatchObject([
      { method: 'POST', json: { tag_name: 'v1.2.0', prerelease: false, draft: true } },
      { method: 'PATCH', json: { draft: false } },
    ])
    const own = [...reported].filter((one) => !one?.startsWith('Fulfilling')) // what the client reports of its rounds
    expect(own).toEqual(['Writing the draft', 'Asking for agreement', 'Publishing'])
  })

  test('leaves the draft of a user who does not agree', async () => {
    agrees = false
    expect((await release()).structuredContent).toEqual({ published: false, url: DRAFT.html_url })
    expect(sent()).toEqual(['POST /repos/ada/engine/releases'])
  })

  test('writes nothing for a user who names no version', async () => {
    names = false
    expect((await release()).content).toEqual([{ type: 'text', text: 'Nothing was released.' }])
    expect(sent()).toEqual([])
  })
})

test('their listed names run', async () => {
  const names = await expectListedNamesToRun(world.call)
  expect(names).toEqual(
    expect.arrayContaining(['github_list_repositories', 'issues_post_to_slack', 'web_search']),
  )
})

test('all files are run here, and each has less than 60 lines', () => {
  const files = readdirSync(FOLDER)
  expect(files.sort()).toEqual([...IN_PROCESS, OVER_MCP].sort())
  for (const file of files)
    expect(readFileSync(new URL(file, FOLDER), 'utf8').split('\n').length).toBeLessThan(60)
})
