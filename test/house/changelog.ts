import { readFileSync } from 'node:fs'
import { join } from 'node:path'

// A release is read by people who upgrade: each section of the changelog says in few lines what they must do.

const MOST_LINES = 40

/** One line for every release in `CHANGELOG.md` of `root` with too many bullets. */
export function changelogFaults(root: string): string[] {
  const [, ...releases] = readFileSync(join(root, 'CHANGELOG.md'), 'utf8').split(/^## /m)
  return releases.flatMap((release) => {
    const [title = ''] = release.split('\n')
    const lines = release.match(/^- /gm)?.length ?? 0
    return lines > MOST_LINES
      ? [`CHANGELOG.md: ${title} has ${lines} lines, more than ${MOST_LINES}: put them together`]
      : []
  })
}
