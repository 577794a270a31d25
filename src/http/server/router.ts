import type { Result, Router } from 'hono/router'
import { TrieRouter } from 'hono/router/trie-router'

/**
 * hono's trie, and in front of it what it has found for paths without parameters. Hono's own quicker router takes no
 * `/v1/auth/{id}/events` beside `/v1/auth/status`, and then all of a request goes through the trie.
 */
export function createRouter<T>(): Router<T> {
  const trie = new TrieRouter<T>()
  const fixed = new Set<string>()
  const found = new Map<string, Result<T>>()
  return {
    name: 'TrieRouter with fixed paths',
    add(method, path, handler) {
      trie.add(method, path, handler)
      if (!/[:*]/.test(path)) fixed.add(path)
      found.clear()
    },
    match(method, path) {
      const known = found.get(`${method} ${path}`)
      if (known !== undefined) return known
      const result = trie.match(method, path)
      if (fixed.has(path) && METHODS.has(method)) found.set(`${method} ${path}`, result)
      return result
    },
  }
}

/** What is remembered is bounded by these and the paths there are. */
const METHODS = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])
