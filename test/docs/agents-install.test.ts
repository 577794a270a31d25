import { readFileSync } from 'node:fs'
import { satisfies } from 'semver'
import { expect, test } from 'vitest'

// docs/guides/agents.md: what each framework's section has its reader install.

const page = readFileSync('docs/guides/agents.md', 'utf8')
const packagesOf = (lock: string) => JSON.parse(readFileSync(lock, 'utf8')).packages
const packages = { ...packagesOf('package-lock.json'), ...packagesOf('test/packages/package-lock.json') }
const sections = page.split(/^## /m).filter((section) => section.includes('npm install'))

test('every framework has a line', () => {
  expect(sections).toHaveLength(6)
})

test.each(sections.map((section) => [section.split('\n', 1)[0], section]))(
  '%s: the line installs what the program imports, in the versions that tests run',
  (_, section = '') => {
    const [, line = ''] = /^npm install (.+)$/m.exec(section) ?? []
    const [, example = ''] = /\((?:\.\.\/)+(examples\/agents\/[\w-]+\.ts)\)/.exec(section) ?? []
    const installed = line.split(' ').map((one) => /^(@?[^@]+)(?:@(.+))?$/.exec(one)?.slice(1) ?? [])
    for (const [name = '', range] of installed.filter(([one]) => one !== '@gatepass/sdk'))
      expect(satisfies(packages[`node_modules/${name}`].version, range ?? ''), `${name}@${range}`).toBe(true)
    const imported = [...readFileSync(example, 'utf8').matchAll(/from '((?:@[\w-]+\/)?[\w-]+)[^']*'/g)]
    const needed = imported.map(([, name]) => name).filter((name) => name !== 'node')
    expect(installed.map(([name]) => name)).toEqual(expect.arrayContaining(needed))
    for (const [, range] of installed.slice(1)) expect(range).toMatch(/^\d+(\.\d+)*$/)
  },
)
