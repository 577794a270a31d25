import { readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { bracketedCode, CommandFailure, EXIT } from './failure.ts'

/** A file of tool metadata after reading. A file that cannot be read is refused; the others are imported. */
export interface MetadataFile {
  readonly file: string
  readonly reading:
    | { readonly outcome: 'read'; readonly documents: readonly unknown[] }
    | { readonly outcome: 'refused'; readonly reason: string }
}

/**
 * Reads the file, or every *.json under the directory in the order of their paths, or standard input for `-`. It skips
 * `node_modules` and folders that begin with a dot, because their files are not the user's own.
 */
export async function readMetadataFiles(source: string): Promise<MetadataFile[]> {
  if (source === '-') {
    if (process.stdin.isTTY)
      process.stderr.write('Reading tool metadata from standard input; Ctrl+D ends it.\n')
    return [{ file: 'standard input', reading: parse(await text(process.stdin)) }]
  }
  const found = orFailure(source, () => statSync(source, { throwIfNoEntry: false }))
  if (found === undefined)
    throw new CommandFailure(
      `There is no file or directory "${source}". Name an existing one, or - for standard input.`,
      EXIT.notFound,
    )
  if (!found.isDirectory()) return [{ file: source, reading: readFile(source) }]
  const files = jsonFilesIn(source).sort()
  if (files.length === 0)
    throw new CommandFailure(
      `The directory "${source}" contains no *.json file. Name the directory with the tool metadata.`,
      EXIT.notFound,
    )
  return files.map((file) => ({ file, reading: readFile(file) }))
}

/** The code of the tool whose `metadata.json` the file is, as far as it can be read. */
export function codeBeside(file: string): readonly string[] {
  if (basename(file) !== 'metadata.json') return []
  return ['tool.ts', 'tool.py'].flatMap((name) => {
    try {
      return [readFileSync(join(dirname(file), name), 'utf8')]
    } catch {
      return []
    }
  })
}

function jsonFilesIn(directory: string): string[] {
  const entries = orFailure(directory, () => readdirSync(directory, { withFileTypes: true }))
  return entries.flatMap((entry) => {
    const path = join(directory, entry.name)
    if (entry.isDirectory())
      return entry.name === 'node_modules' || entry.name.startsWith('.') ? [] : jsonFilesIn(path)
    return entry.name.toLowerCase().endsWith('.json') ? [path] : []
  })
}

/** Returns the result of `read`. Throws `CommandFailure` in place of an error of the file system, such as EACCES. */
function orFailure<Value>(path: string, read: () => Value): Value {
  try {
    return read()
  } catch (error) {
    throw new CommandFailure(`"${path}" cannot be read${bracketedCode(error)}.`, EXIT.notFound)
  }
}

function readFile(file: string): MetadataFile['reading'] {
  try {
    return parse(readFileSync(file, 'utf8'))
  } catch (error) {
    return { outcome: 'refused', reason: `The file cannot be read${bracketedCode(error)}.` }
  }
}

/** Parses one document or an array of them. Messages never quote the text, because it may hold secrets. */
function parse(json: string): MetadataFile['reading'] {
  try {
    const value: unknown = JSON.parse(json.replace(/^\uFEFF/, ''))
    if (Array.isArray(value) && value.length === 0)
      return { outcome: 'refused', reason: 'The array is empty. It must contain at least one tool.' }
    return { outcome: 'read', documents: Array.isArray(value) ? value : [value] }
  } catch (error) {
    const place = /position \d+( \(line \d+ column \d+\))?/.exec(
      error instanceof Error ? error.message : '',
    )?.[0]
    return {
      outcome: 'refused',
      reason: `It is not JSON${place === undefined ? '' : `: it cannot be read from ${place} on`}.`,
    }
  }
}
