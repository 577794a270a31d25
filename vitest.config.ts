import { defineConfig } from 'vitest/config'

/** These measure memory or processor time of their own process, which other files in it would change. */
const MEASURING = [
  'test/code/sandbox.test.ts',
  'test/faults/crowds.test.ts',
  'test/faults/stream-crowds.test.ts',
  'test/http/openapi-documents.test.ts',
  'test/properties/scrub.test.ts',
  'test/threats/answers-that-hurt.test.ts',
  'test/threats/large-answers.test.ts',
  'test/toolexec/code.test.ts',
]

export default defineConfig({
  test: {
    globalSetup: ['test/postgres-setup.ts'],
    // each test file loads drizzle-orm: 0.3 s of CPU less for each
    execArgv: ['--import', new URL('bin/import-hook.js', import.meta.url).href],
    // two processors; the other workers wait for deadlines and processes
    maxWorkers: 4,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    projects: [
      { extends: true, test: { name: 'measuring', include: MEASURING } },
      // A worker loads the server once, not for each file: that is half of the processor time.
      {
        extends: true,
        test: { name: 'shared', include: ['test/**/*.test.ts'], exclude: MEASURING, isolate: false },
      },
    ],
  },
})
