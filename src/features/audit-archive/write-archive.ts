import { randomUUID } from 'node:crypto'
import { type FileHandle, open, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { moveIntoPlace } from '../../copying/durable-file.ts'
import type { AuditAnchor, AuditBlock } from '../../domain/audit.ts'
import { BrokerError } from '../../domain/errors.ts'
import { type ArchiveHeader, archiveName, blockLines, endLine, headerLine } from './format.ts'

const BUFFER_CHARACTERS = 256 * 1024

/** Writes one archive to a file that has a temporary name until it is complete. */
export interface ArchiveWriter {
  /** The name of the file while it is written. */
  readonly path: string
  add(block: AuditBlock): Promise<void>
  /** Writes the end, and makes the file durable. */
  end(anchor: AuditAnchor): Promise<void>
  /** Renames the file to its final name, durably and never over another file. Returns the name. Throws `already_exists`. */
  giveName(anchor: AuditAnchor): Promise<string>
  /** Removes what was written. */
  discard(): Promise<void>
}

/** Creates the file, readable only by its owner. Removes unfinished files of earlier runs that begin at the same entry. */
export async function createArchiveWriter(folder: string, header: ArchiveHeader): Promise<ArchiveWriter> {
  const begin = `${header.projectId}-${header.firstSeq}.`
  for (const name of await readdir(folder))
    if (name.startsWith(begin) && name.endsWith('.partial')) await rm(join(folder, name), { force: true })
  // a random name: a process whose lease ran out must not rename the file of the process that took the lease over
  const path = join(folder, `${begin}${randomUUID()}.partial`)
  const file: FileHandle = await open(path, 'wx', 0o600)
  let isOpen = true
  let buffer = `${headerLine(header)}\n`

  async function close(): Promise<void> {
    if (isOpen) await file.close()
    isOpen = false
  }

  return {
    path,
    async add(block) {
      buffer += `${blockLines(block).join('\n')}\n`
      if (buffer.length < BUFFER_CHARACTERS) return
      const text = buffer
      buffer = ''
      await file.writeFile(text)
    },
    async end(anchor) {
      await file.writeFile(`${buffer}${endLine(anchor)}\n`)
      await file.sync()
      await close()
    },
    async giveName(anchor) {
      const name = archiveName(anchor)
      if (!(await moveIntoPlace(path, join(folder, name)))) throw alreadyExists(join(folder, name))
      await syncFolder(folder)
      return name
    },
    async discard() {
      await close()
      await rm(path, { force: true })
    },
  }
}

/** Makes the names of the files in a folder durable. */
export async function syncFolder(folder: string): Promise<void> {
  const directory = await open(folder, 'r')
  await directory.sync().finally(() => directory.close())
}

function alreadyExists(path: string): BrokerError {
  return new BrokerError(
    'already_exists',
    `${path} exists already, and does not belong to the present state of this trail. An archive never replaces a file: move it elsewhere.`,
  )
}
