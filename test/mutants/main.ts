// `npm run mutants`: breaks the sources in one place at a time, in a copy, and expects the named test to fail.
// Takes `--only <text>` (a part of a row, file or fault) and `--jobs <number>`. Exits 1 when a mutant survives.

import { parseArgs } from 'node:util'
import { Copy, type Outcome } from './copy.ts'
import { mutations } from './list.ts'
import type { Mutation } from './mutation.ts'

const { values } = parseArgs({
  options: { only: { type: 'string' }, jobs: { type: 'string', default: '2' } },
})
const chosen = mutations.filter(
  ({ rows, file, fault, test }) =>
    values.only === undefined ||
    rows.includes(values.only) ||
    `${file} ${fault} ${test}`.includes(values.only),
)
const unexpected: string[] = []

/** Works on the items in several copies at a time. */
async function inCopies<T>(items: readonly T[], work: (copy: Copy, item: T) => Promise<void>): Promise<void> {
  const queue = [...items]
  const jobs = Array.from({ length: Math.max(1, Number(values.jobs)) }, async () => {
    await using copy = await Copy.make()
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(copy, item)
  })
  await Promise.all(jobs)
}

function tell(outcome: Outcome, what: string): void {
  console.log(`${typeof outcome === 'string' ? outcome : outcome.unusable}: ${what}`)
}

const namesByFile = new Map<string, Set<string>>()
for (const { test, name } of chosen) namesByFile.set(test, (namesByFile.get(test) ?? new Set()).add(name))
console.log(`${chosen.length} mutants. First the tests of ${namesByFile.size} files, with nothing broken:`)
await inCopies([...namesByFile], async (copy, [file, names]) => {
  const outcome = await copy.test(file, [...names])
  if (outcome === 'passed') return
  tell(outcome, `test/${file}, with nothing broken: its mutants show nothing and are left out`)
  unexpected.push(file)
})
const shown = chosen.filter(({ test }) => !unexpected.includes(test))

const survivors: Mutation[] = []
await inCopies(shown, async (copy, mutation) => {
  const outcome = await copy.run(mutation)
  const { rows, fault, file, test, name } = mutation
  if (outcome === 'passed') survivors.push(mutation)
  else if (typeof outcome !== 'string') unexpected.push(`${file}: ${outcome.unusable}`)
  const verdict = outcome === 'passed' ? 'SURVIVES' : typeof outcome === 'string' ? 'noticed' : 'UNUSABLE'
  const detail = typeof outcome === 'string' ? '' : ` (${outcome.unusable})`
  console.log(
    `${verdict}  ${[rows.join(', '), fault].filter(Boolean).join(': ')} [${file}] by test/${test} "${name}"${detail}`,
  )
})

console.log(
  `\n${chosen.length} mutants, ${survivors.length} survive, ${unexpected.length} could not be tried.`,
)
if (survivors.length + unexpected.length > 0) process.exitCode = 1
