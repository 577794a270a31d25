import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'

/** Where packages of `npm:` imports and modules of `https:` imports are kept from run to run. */
const SHARED = process.env.DENO_DIR || join(homedir(), '.cache', 'deno')
const KEPT = ['npm', 'remote']

export interface DenoCache extends AsyncDisposable {
  /** `DENO_DIR` of one run. */
  readonly directory: string
  /** What tools may read of it: packages open files of their own. */
  readonly readable: readonly string[]
}

/**
 * The cache of one run: downloads are shared, while `localStorage` and the like, which Deno keeps in the same place
 * without asking for permission, are the run's own. Tools cannot write to it: it is outside of their directories.
 */
export async function denoCache(): Promise<DenoCache> {
  const directory = await mkdtemp(join(tmpdir(), 'shinkai-deno-'))
  for (const name of KEPT) {
    await mkdir(join(SHARED, name), { recursive: true })
    await symlink(join(SHARED, name), join(directory, name))
  }
  return {
    directory,
    readable: [join(directory, 'npm'), join(SHARED, 'npm')],
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }),
  }
}
