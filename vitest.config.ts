import { statfsSync } from 'node:fs'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { missingPackages } from './test/packages/missing-packages.ts'
import { patientThreads } from './test/patient-threads.ts'
import { sandboxThreadOfBundle } from './test/program-bundle.ts'
import { coverageOf, shortFiles } from './test/sets.ts'

/**
 * These measure memory, processor time or counters of their own process, which other files in it would change, or load the
 * sources without a feature, which other files must not see.
 */
const ISOLATED = [
  'test/features/*/absent.test.ts',
  'test/features/code/sandbox.test.ts',
  'test/faults/stream-crowds.test.ts',
  'test/http/openapi-documents.test.ts',
  'test/operation/metrics.test.ts',
  'test/properties/scrub.test.ts',
  'test/store/failover.test.ts',
  'test/threats/answers-that-hurt.test.ts',
  'test/threats/costly-schemas.test.ts',
  'test/threats/large-answers.test.ts',
  'test/threats/large-catalogues.test.ts',
  'test/toolexec/code.test.ts',
]

/** The files that take longest, computing or waiting: they begin first, so that none of them is left at the end. */
const LONGEST = [
  'test/threats/large-answers.test.ts',
  'test/features/code/sandbox.test.ts',
  'test/house/features.test.ts',
  'test/faults/kill-points-postgres.test.ts',
  'test/faults/stand-still-postgres.test.ts',
  'test/operation/shutdown-runs.test.ts',
  'test/cli/rotate-key.test.ts',
  'test/store/postgres.test.ts',
  'test/faults/kill-points-sqlite.test.ts',
  'test/faults/stand-still-sqlite.test.ts',
  'test/faults/postgres-restarts.test.ts',
  'test/operation/shutdown-database.test.ts',
  'test/features/webhooks/faults.test.ts',
  'test/docs/quickstarts.test.ts',
  'test/features/scheduled-runs/faults-postgres.test.ts',
  'test/features/audit-archive/command.test.ts',
  'test/cli/backup.test.ts',
  'test/faults/kill-random.test.ts',
  'test/operation/cluster.test.ts',
  'test/features/scheduled-runs/faults-sqlite.test.ts',
  'test/crash.test.ts',
  'test/faults/clock.test.ts',
  'test/faults/failing-writes-postgres.test.ts',
  'test/operation/shutdown.test.ts',
  'test/nodes.test.ts',
  'test/history/history.test.ts',
  'test/history/failover.test.ts',
  'test/cli/package.test.ts',
  'test/faults/archive-killed.test.ts',
  'test/cli/commands.test.ts',
  'test/cli/migrate.test.ts',
  'test/faults/disk-full.test.ts',
  'test/faults/failing-writes-sqlite.test.ts',
  'test/faults/named-requests-postgres.test.ts',
  'test/faults/named-requests-sqlite.test.ts',
  'test/features/embed/browser.test.ts',
  'test/features/telemetry/telemetry.test.ts',
]

/** `npm test -- test/flows/scopes.test.ts` runs that file, whichever command it belongs to. */
const isNamed = process.argv.slice(2).some((argument) => /^(\.\/)?test\/|\.test\.ts$/.test(argument))

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

/** `vitest run` without a mode runs all files. */
const setOf = (mode: string) => (mode === 'short' || mode === 'rest' ? mode : 'all')
const isOf = (set: 'short' | 'rest' | 'all', file: string) =>
  set === 'all' || shortFiles.includes(file) === (set === 'short')

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const rank = ({ moduleId, project }: TestSpecification) => {
      const place = LONGEST.findIndex((file) => moduleId.endsWith(file))
      // a worker is shared by the files that follow each other without a file between that needs one of its own
      return (project.config.isolate ? 0 : LONGEST.length + 1) + (place < 0 ? LONGEST.length : place)
    }
    return sorted.sort((a, b) => rank(a) - rank(b))
  }
}

export default defineConfig(({ mode }) => {
  const set = isNamed ? 'all' : setOf(mode)
  if (set !== 'all') console.log(coverageOf(set))
  return {
    plugins: [sandboxThreadOfBundle, patientThreads, missingPackages],
    test: {
      setupFiles: ['test/random-input.ts'],
      globalSetup: ['test/on-demand/setup.ts'],
      // each test file loads drizzle-orm: 0.3 s of CPU less for each
      execArgv: ['--import', new URL('bin/import-hook.js', import.meta.url).href],
      // for two processors: some files compute while others wait for deadlines and processes
      maxWorkers: 5,
      // beyond what a slow and busy machine needs: a limit is there for what would hang
      testTimeout: 600_000,
      hookTimeout: 600_000,
      expect: { poll: { timeout: 300_000, interval: 20 } },
      sequence: { sequencer: LongestFirst },
      projects: [
        {
          extends: true,
          test: { name: 'isolated', include: ISOLATED.filter((file) => isOf(set, file)) },
        },
        // A worker loads the server once, not for each file: that is half of the processor time.
        {
          extends: true,
          test: {
            name: 'shared',
            include: set === 'short' ? [...shortFiles] : ['test/**/*.test.ts'],
            exclude: [...ISOLATED, ...(set === 'rest' ? shortFiles : [])],
            isolate: false,
          },
        },
      ],
    },
  }
})
