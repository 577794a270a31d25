import { globSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

/**
 * What features add to a suite of the core: all that the files `test/features/<feature>/<suite>.ts` export. The suite
 * names no feature, so a feature can be removed together with its tests.
 */
export async function featureParts<Part>(suite: string): Promise<readonly Part[]> {
  const files = globSync(`test/features/*/${suite}.ts`, { cwd: ROOT }).sort()
  const modules = await Promise.all(files.map((file): Promise<object> => import(join(ROOT, file))))
  return modules.flatMap((module) => Object.values(module) as Part[])
}
