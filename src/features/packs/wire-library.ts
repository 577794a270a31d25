import { readdirSync, readFileSync } from 'node:fs'
import { BrokerError } from '../../domain/errors.ts'
import { type Checked, checked, parse } from '../../parsing/parse.ts'
import { type Pack, type PackTool, packSchema, packToolSchema } from './wire-format.ts'

const LIBRARY = new URL('./library/', import.meta.url)

/** What of a pack cannot be used. Each fault is a sentence that names the file, the member, and what is allowed. */
export class PackFault extends Error {
  readonly faults: readonly string[]
  constructor(faults: readonly string[]) {
    super(faults.join(' '))
    this.faults = faults
  }
}

/** The ids of the packs in a folder, sorted. */
export function packIds(folder: URL = LIBRARY): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort()
}

const read = new Map<string, Pack>()

/** Reads a pack that Gatepass ships, once. Throws `PackFault`. */
export function shippedPack(id: string): Pack | undefined {
  if (!packIds().includes(id)) return undefined
  const pack = read.get(id) ?? readPack(new URL(`${id}/`, LIBRARY))
  read.set(id, pack)
  return pack
}

/** By namespace, the shipped pack that has it. */
export function shippedNamespaces(): (readonly [string, string])[] {
  return packIds().map((id) => {
    const text = readFileSync(new URL(`${id}/pack.json`, LIBRARY), 'utf8')
    return [parseFile(`${id}/pack.json`, text, HEAD).namespace, id]
  })
}

/** Reads the files of a pack. Throws `PackFault`. */
export function readPack(folder: URL): Pack {
  const names = readdirSync(folder).filter((name) => name.endsWith('.json'))
  const files = names.map((name) => ({ name, text: readFileSync(new URL(name, folder), 'utf8') }))
  return packOfFiles(folder.pathname.split('/').at(-2) ?? '', files)
}

/** A file of a pack's folder. */
export interface PackFile {
  readonly name: string
  readonly text: string
}

const HEAD = checked(packSchema, 'the definition')
const TOOL = checked(packToolSchema, 'the definition')

/** Makes a pack of the files of its folder. Throws `PackFault` with the faults of all files. */
export function packOfFiles(folder: string, files: readonly PackFile[]): Pack {
  const faults: string[] = []
  const readOne = <Of extends Checked>(file: PackFile, schema: Of) => {
    try {
      return parseFile(`${folder}/${file.name}`, file.text, schema)
    } catch (error) {
      if (!(error instanceof PackFault)) throw error
      faults.push(...error.faults)
      return undefined
    }
  }
  const headFile = files.find(({ name }) => name === 'pack.json')
  if (headFile === undefined) throw new PackFault([`${folder} has no file pack.json.`])
  const head = readOne(headFile, HEAD)
  if (head !== undefined && head.id !== folder)
    faults.push(`${folder}/pack.json: id is "${head.id}"; it must be the name of the folder, "${folder}".`)
  const tools: PackTool[] = []
  for (const file of files.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    if (file === headFile) continue
    const tool = readOne(file, TOOL)
    if (tool === undefined) continue
    if (`${tool.name}.json` !== file.name)
      faults.push(`${folder}/${file.name}: name is "${tool.name}"; it must be the name of the file.`)
    tools.push(tool)
  }
  if (head === undefined || faults.length > 0) throw new PackFault(faults)
  return { ...head, tools }
}

function parseFile<Of extends Checked>(file: string, text: string, schema: Of) {
  let value: unknown
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch (error) {
    // V8's message also quotes the text
    const [place] = /\(line \d+ column \d+\)/.exec(String(error)) ?? []
    throw new PackFault([`${file} is not JSON${place === undefined ? '' : ` ${place}`}.`])
  }
  try {
    return parse<Of['schema']>(schema, value)
  } catch (error) {
    if (!(error instanceof BrokerError) || error.faults === undefined) throw error
    throw new PackFault(error.faults.map(({ message }) => `${file}: ${message}`))
  }
}
