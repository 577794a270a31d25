import type { Result, Router } from 'hono/router'
import { TrieRouter } from 'hono/router/trie-router'

/**
 * hono's trie router with a cache for paths without parameters. hono's faster router does not support
 * `/v1/auth/{id}/events` beside `/v1/auth/status`, and the trie alone is slow for every request.
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

/** The cache holds at most one result for each of these methods and each fixed path. */
const METHODS = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])
