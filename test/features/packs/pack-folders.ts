import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

// Folders of packs that an operator might have.

export const HEAD = {
  id: 'notes',
  name: 'Notes',
  namespace: 'Notes',
  version: '1.0.0',
  summary: 'Notes.',
  provider: 'google',
  base_url: 'https://notes.googleapis.com',
  sources: ['its reference'],
  checked: '2026-11-28',
}

export const TOOL = {
  name: 'GetNote',
  description: 'Reads a note.',
  method: 'GET',
  url: '/notes/{id}',
  input_schema: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
  annotations: { readOnlyHint: true },
  scopes: ['notes.readonly'],
  examples: [{ input: { id: 'n1' }, answer: { id: 'n1', text: 'Buy bread.' } }],
}

export const DELETE = {
  ...TOOL,
  name: 'DeleteNote',
  description: 'Deletes a note for good.',
  method: 'DELETE',
  annotations: { readOnlyHint: false, destructiveHint: true },
  scopes: ['notes'],
  approval: 'ask',
  examples: [{ input: { id: 'n1' }, answer: null }],
}

/** An empty folder for packs. */
export function packsFolder(): string {
  return mkdtempSync(join(tmpdir(), 'packs-'))
}

/** Writes a pack into the folder, and returns the pack's own folder. */
export function writePack(
  folder: string,
  { head = {}, tools = [TOOL], as }: { head?: object; tools?: readonly object[]; as?: string } = {},
): string {
  const whole = { ...HEAD, ...head }
  const path = join(folder, as ?? whole.id)
  mkdirSync(path)
  writeFileSync(join(path, 'pack.json'), JSON.stringify(whole))
  for (const tool of tools) {
    const { name } = tool as typeof TOOL
    writeFileSync(join(path, `${name}.json`), JSON.stringify(tool))
  }
  return path
}
