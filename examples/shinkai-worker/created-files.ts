import { constants } from 'node:fs'
import { open, readdir } from 'node:fs/promises'
import { extname, join } from 'node:path'

/** A file that a tool wrote into its home: its path as the tool knows it and, of small files, the content. */
export interface CreatedFile {
  readonly path: string
  readonly size: number
  readonly mimeType: string
  readonly text?: string
  /** In base64, of files that are not text in UTF-8. */
  readonly blob?: string
}

const MAX_FILES = 20
/** Of all files together: the answer has to stay below the 4 MB that Gatepass reads. */
const MAX_BYTES = 256 * 1024
const MAX_DEPTH = 8

const TYPES: Readonly<Record<string, string>> = {
  '.csv': 'text/csv',
  '.gif': 'image/gif',
  '.html': 'text/html',
  '.jpg': 'image/jpeg',
  '.json': 'application/json',
  '.md': 'text/markdown',
  '.mp3': 'audio/mpeg',
  '.pdf': 'application/pdf',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain',
  '.wav': 'audio/wav',
  '.webp': 'image/webp',
}

/** The files in the folder, in the order of their paths. Links are left out: they may lead anywhere. */
export async function createdFiles(folder: string): Promise<CreatedFile[]> {
  const files: CreatedFile[] = []
  let room = MAX_BYTES
  for await (const path of filesIn(folder, MAX_DEPTH)) {
    if (files.length === MAX_FILES) break
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    try {
      const { size } = await file.stat()
      const about = { path, size, mimeType: TYPES[extname(path).toLowerCase()] ?? 'application/octet-stream' }
      if (size > room) {
        files.push(about)
        continue
      }
      room -= size
      files.push({ ...about, ...contentOf(await file.readFile()) })
    } finally {
      await file.close()
    }
  }
  return files
}

async function* filesIn(folder: string, depth: number): AsyncGenerator<string> {
  const entries = await readdir(folder, { withFileTypes: true })
  for (const entry of entries.sort((one, other) => (one.name < other.name ? -1 : 1))) {
    const path = join(folder, entry.name)
    if (entry.isFile()) yield path
    else if (entry.isDirectory() && depth > 0 && !entry.name.startsWith('.')) yield* filesIn(path, depth - 1)
  }
}

function contentOf(bytes: Buffer): Pick<CreatedFile, 'text' | 'blob'> {
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) }
  } catch {
    return { blob: bytes.toString('base64') }
  }
}
