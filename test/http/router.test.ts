import { TrieRouter } from 'hono/router/trie-router'
import { expect, test } from 'vitest'
import { createRouter } from '../../src/http/server/router.ts'

const ROUTES = [
  ['ALL', '/connect/*'],
  ['POST', '/v1/auth/authorize'],
  ['GET', '/v1/auth/status'],
  ['GET', '/v1/auth/:id/events'],
  ['GET', '/v1/tools/:name'],
  ['POST', '/v1/tools/execute'],
  ['GET', '/connect/:id'],
  ['GET', '/'],
] as const

test.each([
  ['POST', '/v1/auth/authorize'],
  ['GET', '/v1/auth/authorize'],
  ['GET', '/v1/auth/status'],
  ['GET', '/v1/auth/status/'],
  ['GET', '/v1/auth/a/events'],
  ['GET', '/v1/tools/execute'],
  ['POST', '/v1/tools/execute'],
  ['GET', '/connect/a'],
  ['GET', '/connect/:id'],
  ['PURGE', '/'],
  ['GET', '/'],
])('finds for %s %s what hono finds, the second time too', (method, path) => {
  const trie = new TrieRouter<string>()
  const router = createRouter<string>()
  for (const [i, [method, path]] of ROUTES.entries())
    for (const one of [trie, router]) one.add(method, path, `handler ${i}`)
  const expected = trie.match(method, path)
  expect(router.match(method, path)).toEqual(expected)
  expect(router.match(method, path)).toEqual(expected)
})
