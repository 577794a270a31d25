import { expect, test } from 'vitest'
import { resourceOf, toolsetOf } from '../../src/mcp/authorization-server/resources.ts'

const ORIGIN = new URL('https://gatepass.example/')

test.each([
  ['/mcp', '/mcp', undefined],
  ['/mcp/', '/mcp', undefined],
  ['/mcp/mail', '/mcp/mail', 'mail'],
  ['/mcp/mail/', '/mcp/mail', 'mail'],
])('a client names %s: the audience, and the toolset that its user is shown', (path, audience, toolset) => {
  const resource = `${ORIGIN.origin}${path}`
  expect(resourceOf(ORIGIN, resource)).toBe(`${ORIGIN.origin}${audience}`)
  expect(toolsetOf(resource)).toBe(toolset)
})

const OTHERS = ['/', '/mcpx', '/mcp/a/b', '/mcp/A', '/mcp?a=b', '/mcp#a', '/other']
test.each(OTHERS)('%s is no resource', (path) => {
  expect(resourceOf(ORIGIN, `${ORIGIN.origin}${path}`)).toBeUndefined()
})

test.each([
  'https://evil.example/mcp',
  'http://gatepass.example/mcp',
  'https://gatepass.example:8443/mcp',
  'https://user@gatepass.example/mcp',
  'https://:password@gatepass.example/mcp',
])('%s is of another origin, so its audience is none of ours', (resource) => {
  expect(resourceOf(ORIGIN, resource)).toBeUndefined()
})
