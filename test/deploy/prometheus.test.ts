import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ROOT } from './files.ts'

// promtool comes with Prometheus. Without it the test is skipped; test/operation/dashboard.test.ts compares rules and
// metrics everywhere.
const hasPromtool = spawnSync('promtool', ['--version']).status === 0

test.skipIf(!hasPromtool)(
  'each alert fires by its figures and by no others, as promtool evaluates them',
  () => {
    const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', 'rules.test.yml'], {
      cwd: join(ROOT, 'deploy/prometheus'),
      encoding: 'utf8',
      timeout: 60_000,
    })
    expect({ status, output: `${stdout}${stderr}` }).toMatchObject({ status: 0 })
  },
)
