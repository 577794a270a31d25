import { constants } from 'node:fs'
import { lstat, open, opendir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import type { Pack } from './wire-format.ts'
import { PackFault, type PackFile, packOfFiles } from './wire-library.ts'

// Reads packs from a folder that Gatepass does not ship. Nothing outside it is read: symbolic links are refused, and names
// come from the folder alone. Sizes and numbers are bounded, and other requests are served between files.

const MAX_PACKS = 100
/** As many tools as a worker takes (`requests`), and `pack.json`. */
const MAX_FILES = 201
const MAX_FILE_BYTES = 256 * 1024
/** How many names of a folder are looked at, with those of other files. */
const MAX_NAMES = 1_000

export interface FoundPacks {
  readonly packs: readonly Pack[]
  /** By the names of the folders of packs that cannot be used. */
  readonly faults: ReadonlyMap<string, readonly string[]>
}

/** Reads every pack of a folder of packs: one in each of its folders. A pack with a fault does not keep others from being used. */
export async function readPacksIn(folder: string): Promise<FoundPacks> {
  const packs: Pack[] = []
  const faults = new Map<string, readonly string[]>()
  const { names, isCut } = await namesIn(folder)
  let count = 0
  for (const name of names) {
    const path = join(folder, name)
    try {
      const kind = await lstat(path)
      if (kind.isSymbolicLink()) throw new PackFault([`${name} is a symbolic link, which is not followed.`])
      if (!kind.isDirectory()) continue
      if (++count > MAX_PACKS)
        throw new PackFault([`${name} is not read: a folder of packs has at most ${MAX_PACKS}.`])
      packs.push(await readPackFolder(path))
    } catch (error) {
      faults.set(name, faultsOf(error, name))
    }
  }
  if (isCut)
    faults.set('', [`The folder of packs has more than ${MAX_NAMES} names: the others are not read.`])
  return { packs, faults }
}

/** Reads a pack whose folder may be anywhere. Throws `PackFault`. */
export async function readPackFolder(path: string): Promise<Pack> {
  const folder = basename(path)
  try {
    const { names, isCut } = await namesIn(path)
    const chosen = names.filter((name) => name.endsWith('.json'))
    if (isCut || chosen.length > MAX_FILES)
      throw new PackFault([
        `${folder} has more than ${MAX_FILES} files: a pack has at most ${MAX_FILES - 1} tools.`,
      ])
    const files: PackFile[] = []
    for (const name of chosen) {
      const text = await textOf(join(path, name), `${folder}/${name}`)
      files.push({ name, text })
    }
    await setImmediate()
    return packOfFiles(folder, files)
  } catch (error) {
    throw new PackFault(faultsOf(error, folder))
  }
}

/** The names in a folder, sorted, without hidden ones. */
async function namesIn(folder: string): Promise<{ readonly names: string[]; readonly isCut: boolean }> {
  const names: string[] = []
  for await (const { name } of await opendir(folder)) {
    if (names.length === MAX_NAMES) return { names: names.sort(), isCut: true }
    if (!name.startsWith('.')) names.push(name)
  }
  return { names: names.sort(), isCut: false }
}

async function textOf(path: string, name: string): Promise<string> {
  // O_NONBLOCK: opening a named pipe would wait for its writer
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
  const file = await open(path, flags).catch((error: unknown) => {
    throw new PackFault(faultsOf(error, name))
  })
  try {
    if (!(await file.stat()).isFile()) throw new PackFault([`${name} is not a file.`])
    const bytes = Buffer.alloc(MAX_FILE_BYTES + 1)
    const { bytesRead } = await file.read(bytes, 0, bytes.length, 0)
    if (bytesRead > MAX_FILE_BYTES)
      throw new PackFault([`${name} is larger than ${MAX_FILE_BYTES / 1024} KiB.`])
    return bytes.toString('utf8', 0, bytesRead)
  } finally {
    await file.close()
  }
}

function faultsOf(error: unknown, name: string): readonly string[] {
  if (error instanceof PackFault) return error.faults
  if (!(error instanceof Error) || !('code' in error)) throw error
  return [
    error.code === 'ELOOP'
      ? `${name} is a symbolic link, which is not followed.`
      : `${name} cannot be read (${error.code}).`,
  ]
}
