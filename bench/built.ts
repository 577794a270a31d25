import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { cp, mkdtemp, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

let built: Promise<URL> | undefined

/** The folder of the program as npm installs it, made from this checkout the first time. */
export function builtProgram(): Promise<URL> {
  built ??= build()
  return built
}

async function build(): Promise<URL> {
  const folder = await mkdtemp(join(tmpdir(), 'gatepass-built-'))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }))
  execFileSync(process.execPath, ['build/main.ts', join(folder, 'dist')], { cwd: ROOT, stdio: 'inherit' })
  for (const name of ['bin', 'package.json'])
    await cp(join(ROOT, name), join(folder, name), { recursive: true })
  for (const name of ['drizzle', 'node_modules']) await symlink(join(ROOT, name), join(folder, name))
  return pathToFileURL(`${folder}/`)
}
