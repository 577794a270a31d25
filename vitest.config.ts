import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/postgres-setup.ts'],
    // each test file loads drizzle-orm: 0.3 s of CPU less for each
    execArgv: ['--import', new URL('bin/import-hook.js', import.meta.url).href],
    // most of the time is spent waiting: for leases, deadlines and processes
    maxWorkers: 3,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})
