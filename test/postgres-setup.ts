import type { TestProject } from 'vitest/node'
import { startPostgres } from './postgres.ts'

/** One PostgreSQL for the whole run, which starts in half a second; each test has its own database on it. */
export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const cluster = await startPostgres()
  provide('postgresUrl', cluster.url)
  return () => cluster.close()
}
