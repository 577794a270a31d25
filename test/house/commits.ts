import { spawnSync } from 'node:child_process'

// The form of a commit that a machine can check. CONTRIBUTING.md has the rest: the imperative, and the reason in the body.

/** The rule holds for commits after this one. */
const BASE = '73917f89ab79b727db2bddbc319e464b0d340523'
const MOST_CHARACTERS = 72
const MERGES = /^Merge (?:branch|commit|pull request|remote-tracking branch|tag) /

/**
 * One line for every commit after `base` whose subject is too long or names a merge. A shallow clone, a copy without
 * `.git` or another history does not have the base: then there is nothing to check.
 */
export function commitFaults(root: string, base: string = BASE): string[] {
  const log = spawnSync('git', ['log', '-z', '--format=%h %s', `${base}..HEAD`], {
    cwd: root,
    encoding: 'utf8',
  })
  if (log.status !== 0) return []
  return log.stdout
    .split('\0')
    .filter((line) => line !== '')
    .flatMap((line) => {
      const [hash = '', ...words] = line.split(' ')
      const subject = words.join(' ')
      const length = [...subject].length
      if (length > MOST_CHARACTERS)
        return [`${hash}: the subject has ${length} characters, more than ${MOST_CHARACTERS}`]
      return MERGES.test(subject) ? [`${hash}: "${subject}": rebase the branch instead`] : []
    })
}
