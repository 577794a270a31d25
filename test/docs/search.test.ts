import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type MiniSearch from 'minisearch'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { find, indexOf, type Place } from '../../build/docs/search.ts'
import { buildSite, searchPlaces } from '../../build/docs/site.ts'

// What readers type, and the page that answers it: the first that the search shows. Where two pages answer, both are named.

const QUESTIONS: Readonly<Record<string, readonly (readonly [question: string, ...pages: string[]])[]>> = {
  'who builds an agent': [
    ['getting started', 'start/agent-builder'],
    ['langchain', 'guides/agents'],
    ['vercel ai sdk tools', 'guides/agents'],
    ['openai agents', 'guides/agents'],
    ['how do I show the consent link to the user', 'guides/agents'],
    ['run code written by the model', 'guides/code'],
    ['call an api without seeing the token', 'guides/proxy'],
    ['human approval while a tool runs', 'guides/approvals', 'guides/writing-tools', 'guides/mcp'],
    ['run several tools in a row', 'guides/tools', 'reference/sdk'],
    ['schedule a run for later', 'guides/tools', 'reference/wire'],
    ['my agent gets a link instead of a result, what now', 'guides/agents'],
    ['give langchain the tools of a user', 'guides/agents'],
    [
      'does the model ever see the access token',
      'reference/security',
      'reference/provider-definitions',
      'guides/proxy',
      'start/agent-builder',
      'overview',
    ],
    ['wait until the user has approved and then go on', 'guides/agents', 'guides/approvals'],
    ['ask a person before a dangerous tool runs', 'guides/approvals'],
  ],
  'who writes a tool': [
    ['write my own tool', 'start/tool-author', 'guides/writing-tools'],
    ['tool needs two providers', 'guides/writing-tools'],
    ['tool secrets', 'guides/writing-tools'],
    ['how does my tool report progress', 'guides/writing-tools'],
    ['make tools from an openapi spec', 'guides/http-tools'],
    ['swagger', 'guides/http-tools'],
    ['add a remote mcp server', 'guides/mcp-servers'],
    ['oxp server', 'guides/oxp'],
    ['import tool metadata', 'guides/tool-metadata'],
    ['serve my tools over mcp', 'guides/tools-over-mcp'],
    ['how does my tool get the token', 'start/tool-author', 'guides/writing-tools'],
    ['return a file or image from a tool', 'guides/writing-tools'],
    [
      'my tool needs an api key instead of oauth',
      'guides/credentials',
      'guides/writing-tools',
      'guides/http-tools',
    ],
    ['test a tool on my laptop', 'start/tool-author', 'guides/writing-tools'],
    ['which scopes does my tool need', 'start/tool-author', 'guides/writing-tools'],
  ],
  'who uses an MCP client': [
    ['connect claude', 'start/mcp-user'],
    ['cursor', 'start/mcp-user', 'guides/mcp'],
    ['chatgpt connector', 'start/mcp-user', 'guides/mcp'],
    ['mcp login', 'guides/mcp-login'],
    ['which mcp clients may log in', 'guides/mcp-login'],
    ['give a client only some tools', 'guides/toolsets'],
    ['toolset', 'guides/toolsets'],
    ['disconnect my account', 'guides/portal'],
    ['delete my data', 'guides/portal'],
    ['url elicitation', 'guides/mcp', 'guides/agents'],
    ['connect claude desktop', 'start/mcp-user'],
    ['add the server to cursor', 'start/mcp-user', 'guides/mcp'],
    ['why does my client ask me to log in again', 'guides/mcp-login'],
    ['use tools of a remote mcp server', 'guides/mcp-servers'],
    ['hide tools I do not want', 'guides/toolsets'],
  ],
  'who develops an application': [
    ['connect button', 'guides/embedding'],
    ['how do I add a provider', 'guides/providers'],
    ['slack', 'guides/providers'],
    ['github', 'guides/github'],
    ['webhook signature', 'guides/webhooks'],
    ['our logo and colors', 'guides/branding'],
    ['custom domain', 'guides/own-domain'],
    ['why did the consent fail', 'guides/explain'],
    ['typescript client', 'reference/sdk'],
    ['logout', 'guides/portal'],
    ['show connect button in my website', 'guides/embedding'],
    ['embed the connect page in an iframe', 'guides/embedding'],
    ['get notified when a user connects an account', 'guides/webhooks'],
    ['how do I tell who my user is', 'reference/settings', 'start/application-developer'],
    ["call the provider's api directly with the users token", 'guides/proxy'],
  ],
  'who writes Python': [
    ['python', 'start/python'],
    ['pip install', 'start/python'],
    ['arcadepy', 'start/python', 'start/coming-from'],
    ['python quickstart', 'start/python'],
    ['use it from python', 'start/python'],
    ['httpx', 'start/python'],
    ['python requests', 'start/python'],
    ['rest api', 'reference/wire'],
    ['curl examples', 'reference/wire'],
    ['openapi.json', 'reference/wire', 'guides/http-tools'],
    ['pip install', 'start/python'],
    ['write a tool in python', 'start/python'],
    ['async client', 'start/python'],
    ['fastapi', 'start/python'],
    ['catch an error in python', 'start/python'],
  ],
  'who runs it': [
    ['deploy to kubernetes', 'operate/deploy'],
    ['docker compose', 'operate/deploy'],
    ['systemd', 'operate/deploy'],
    ['rotate master key', 'operate/keys'],
    ['backup and restore', 'operate/backup'],
    ['prometheus metrics', 'operate/operation', 'operate/observability'],
    ['opentelemetry', 'operate/observability'],
    ['upgrade to a new version', 'operate/upgrade'],
    ['environment variables', 'reference/settings'],
    ['several nodes postgres', 'operate/scaling'],
    ['run in docker', 'operate/deploy'],
    ['how much memory and cpu does it need', 'operate/scaling', 'evidence/performance'],
    ['backup and restore the database', 'operate/backup'],
    ['change the encryption key', 'operate/keys'],
    ['upgrade to a new version without downtime', 'operate/upgrade'],
  ],
  'who reviews its security': [
    ['threat model', 'evidence/threats', 'start/security-reviewer'],
    ['security promises', 'reference/security', 'start/security-reviewer'],
    ['pkce', 'reference/standards'],
    ['what is not promised', 'reference/security'],
    ['report a vulnerability', 'security-policy'],
    ['hardening', 'security-policy'],
    ['verify audit log', 'operate/audit'],
    ['kill -9', 'evidence/reliability'],
    ['benchmark', 'evidence/performance'],
    ['deny a tool for some users', 'guides/policies'],
    ['where are tokens stored and how are they encrypted', 'reference/security', 'operate/keys'],
    ['what happens if the database is stolen', 'reference/security', 'evidence/threats'],
    ['protection against csrf', 'reference/security', 'evidence/threats', 'security-policy'],
    ['who can read the audit log', 'operate/audit'],
    ['report a vulnerability', 'security-policy'],
  ],
  'who comes from another product': [
    ['migrate from nango', 'operate/moving', 'start/coming-from'],
    ['arcade', 'start/coming-from'],
    ['coming from shinkai', 'start/coming-from'],
    ['nango connections import', 'operate/moving'],
    ['import connections csv', 'operate/moving'],
    ['difference to arcade', 'start/coming-from'],
    ['arcade engine worker', 'start/coming-from'],
    ['switch from oxp', 'start/coming-from'],
    ['import nango providers.yaml', 'reference/provider-definitions', 'start/coming-from'],
    ['move from one gatepass to another', 'operate/moving'],
    ['migrate from nango', 'operate/moving', 'start/coming-from'],
    ['import my existing refresh tokens', 'operate/moving'],
    ['arcade python client', 'start/python', 'start/coming-from'],
    ['difference to auth0', 'start/coming-from'],
    ['run shinkai tools unchanged', 'start/coming-from', 'guides/tool-metadata'],
  ],
}

const folder = mkdtempSync(join(tmpdir(), 'gatepass-docs-search-'))
let index: MiniSearch<Place>
let kinds: ReadonlyMap<string, string>

beforeAll(async () => {
  const places = searchPlaces((await buildSite(folder)).pages)
  index = indexOf(places)
  kinds = new Map(places.map(({ address, kind }) => [address, kind]))
})
afterAll(() => rmSync(folder, { recursive: true }))

const pageOf = ({ address }: Place) => address.replace(/\.html.*/, '')

test.each(['AcceptMergeRequest', 'gitlab AcceptMergeRequest'])(
  'finds the pack that has “%s” first',
  (question) => {
    const [first] = find(index, question)
    expect(first && pageOf(first)).toBe('packs/gitlab')
  },
)

test('the table has fifteen questions of each of eight readers', () => {
  expect(Object.values(QUESTIONS).map((questions) => questions.length)).toEqual(Array(8).fill(15))
})

describe.each(Object.entries(QUESTIONS))('a reader %s', (_, questions) => {
  test.each(questions)('finds the page for “%s” first', (question, ...pages) => {
    const [first] = find(index, question)
    expect(pages).toContain(first && pageOf(first))
  })
})

test.each([['oauth', 'security', 'token', 'refresh', 'provider', 'consent']])(
  'the changelog is not among the first five places of “%s”',
  (...questions) => {
    for (const question of questions) {
      const first = find(index, question).slice(0, 5)
      expect(
        first.map(({ address }) => kinds.get(address)),
        question,
      ).not.toContain('project')
    }
  },
)

test('no place has none of the words', () => {
  expect(find(index, 'qqqqxyz')).toEqual([])
  expect(find(index, 'how do I')).toEqual([])
})
