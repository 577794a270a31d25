import { statfsSync } from 'node:fs'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { sandboxThreadOfBundle } from './test/program-bundle.ts'

/** These measure memory, processor time or counters of their own process, which other files in it would change. */
const MEASURING = [
  'test/code/sandbox.test.ts',
  'test/faults/crowds.test.ts',
  'test/faults/stream-crowds.test.ts',
  'test/http/openapi-documents.test.ts',
  'test/operation/metrics.test.ts',
  'test/properties/scrub.test.ts',
  'test/threats/answers-that-hurt.test.ts',
  'test/threats/large-answers.test.ts',
  'test/threats/large-catalogues.test.ts',
  'test/toolexec/code.test.ts',
]

/** `npm run test:faults` repeats the faults of these often, `npm test` a few times (`test/faults/repetitions.ts`). */
const REPEATED = [
  'test/nodes.test.ts',
  'test/faults/clock.test.ts',
  'test/faults/webhooks.test.ts',
  'test/faults/crowds.test.ts',
  'test/faults/stream-crowds.test.ts',
  'test/threats/large-answers.test.ts',
]

/**
 * Only `npm run test:faults` runs these. Their SQLite twins are in `npm test`, where the same code kills the same processes
 * at the same points; restarts of PostgreSQL are in `store/postgres-failures` there, and the store without partitions in
 * `store/postgres`. `.ci/run` runs both commands.
 */
const OFTEN_ONLY = [
  'test/faults/failing-writes-postgres.test.ts',
  'test/faults/kill-points-postgres.test.ts',
  'test/faults/kill-random.test.ts',
  'test/faults/named-requests-postgres.test.ts',
  'test/faults/postgres-restarts.test.ts',
  'test/faults/scheduled-postgres.test.ts',
  'test/faults/stand-still-postgres.test.ts',
  'test/store/partitioned.test.ts',
]

/** The files that take longest, most of it waiting: they begin first, so that none of them is left at the end. */
const LONGEST = [
  'test/threats/large-answers.test.ts',
  'test/code/sandbox.test.ts',
  'test/cli/rotate-key.test.ts',
  'test/store/postgres.test.ts',
  'test/operation/shutdown.test.ts',
  'test/operation/cluster.test.ts',
  'test/crash.test.ts',
  'test/cli/backup.test.ts',
  'test/faults/stand-still-postgres.test.ts',
  'test/faults/stand-still-sqlite.test.ts',
  'test/cli/commands.test.ts',
  'test/operation/shutdown-runs.test.ts',
  'test/operation/shutdown-database.test.ts',
  'test/cli/migrate.test.ts',
  'test/faults/scheduled-postgres.test.ts',
  'test/faults/kill-points-postgres.test.ts',
  'test/faults/failing-writes-postgres.test.ts',
  'test/faults/kill-points-sqlite.test.ts',
  'test/faults/scheduled-sqlite.test.ts',
  'test/faults/failing-writes-sqlite.test.ts',
  'test/nodes.test.ts',
  'test/faults/kill-random.test.ts',
  'test/faults/postgres-restarts.test.ts',
]

/**
 * Begins last in `npm run test:faults`: the threads that read its answers have 30 s, which is too short beside files that
 * keep the processors busy and what `.ci/run` installs meanwhile.
 */
const LAST_OF_FAULTS = 'test/threats/large-answers.test.ts'

/**
 * SQLite waits for the disk at each commit, and a start of the server makes dozens. In a folder in memory it need not,
 * and what a killed process has written is there too. Tests make their folders below TMPDIR.
 */
const IN_MEMORY = '/dev/shm'
const MEMORY_BYTES = 2 ** 31
if (process.env.TMPDIR === undefined && hasSpace(IN_MEMORY)) process.env.TMPDIR = IN_MEMORY

function hasSpace(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize > MEMORY_BYTES
  } catch {
    return false // there is none on this system
  }
}

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const rank = ({ moduleId, project }: TestSpecification) => {
      if (project.name === 'faults' && moduleId.endsWith(LAST_OF_FAULTS)) return Number.POSITIVE_INFINITY
      const place = LONGEST.findIndex((file) => moduleId.endsWith(file))
      // a worker is shared by the files that follow each other without a file between that needs one of its own
      return (project.config.isolate ? 0 : LONGEST.length + 1) + (place < 0 ? LONGEST.length : place)
    }
    return sorted.sort((a, b) => rank(a) - rank(b))
  }
}

export default defineConfig(({ mode }) => ({
  plugins: [sandboxThreadOfBundle],
  test: {
    setupFiles: ['test/random-seed.ts'],
    globalSetup: ['test/on-demand/setup.ts'],
    // each test file loads drizzle-orm: 0.3 s of CPU less for each
    execArgv: ['--import', new URL('bin/import-hook.js', import.meta.url).href],
    // for two processors: some files compute while others wait for deadlines and processes
    maxWorkers: 5,
    // beyond what a slow and busy machine needs: a limit is there for what would hang
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 120_000, interval: 20 } },
    sequence: { sequencer: LongestFirst },
    projects:
      mode === 'faults'
        ? [
            {
              extends: true,
              test: { name: 'faults', include: [...REPEATED, ...OFTEN_ONLY], env: { FAULTS: 'many' } },
            },
          ]
        : [
            { extends: true, test: { name: 'measuring', include: MEASURING } },
            // A worker loads the server once, not for each file: that is half of the processor time.
            {
              extends: true,
              test: {
                name: 'shared',
                include: ['test/**/*.test.ts'],
                exclude: [...MEASURING, ...OFTEN_ONLY],
                isolate: false,
              },
            },
          ],
  },
}))
