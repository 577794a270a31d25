import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** Files of deploy/ by their path below it. */
export function deployFiles(pattern = '**/*'): ReadonlyMap<string, string> {
  const folder = join(ROOT, 'deploy')
  const entries = globSync(pattern, { cwd: folder, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
  return new Map(entries.map((path) => [path.slice(folder.length + 1), readFileSync(path, 'utf8')]))
}

export function deployFile(path: string): string {
  return readFileSync(join(ROOT, 'deploy', path), 'utf8')
}
