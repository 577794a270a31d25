import type { TestProject } from 'vitest/node'
import { startPostgres } from './postgres.ts'

/** One PostgreSQL for the whole run: it starts in half a second, and each test has a database of its own on it. */
export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const cluster = await startPostgres()
  provide('postgresUrl', cluster.url)
  return () => cluster.close()
}
