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
    ['human approval while a tool runs', 'guides/writing-tools', 'guides/mcp'],
    ['run several tools in a row', 'guides/tools', 'reference/sdk'],
    ['schedule a run for later', 'guides/tools', 'reference/wire'],
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

test('the table has ten questions of each of eight readers', () => {
  expect(Object.values(QUESTIONS).map((questions) => questions.length)).toEqual(Array(8).fill(10))
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
