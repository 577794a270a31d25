import { readdirSync, readFileSync } from 'node:fs'
import type { z } from 'zod'
import { didYouMean } from '../../domain/nearest.ts'
import { type Pack, packSchema, packToolSchema } from './wire-format.ts'

const LIBRARY = new URL('./library/', import.meta.url)

/** A file of a pack that cannot be used. The message names the file, the member, and what is allowed. */
export class PackFault extends Error {}

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

/** Reads the files of a pack. Throws `PackFault`. */
export function readPack(folder: URL): Pack {
  const names = readdirSync(folder).filter((name) => name.endsWith('.json'))
  if (!names.includes('pack.json')) throw new PackFault(`${folder.pathname} has no pack.json.`)
  const head = readFile(folder, 'pack.json', packSchema)
  const folderName = folder.pathname.split('/').at(-2)
  if (head.id !== folderName)
    throw new PackFault(`${folderName}/pack.json: id is "${head.id}"; it must be the name of the folder.`)
  const tools = names
    .filter((name) => name !== 'pack.json')
    .sort()
    .map((name) => {
      const tool = readFile(folder, name, packToolSchema)
      if (`${tool.name}.json` !== name)
        throw new PackFault(`${head.id}/${name}: name is "${tool.name}"; it must be the name of the file.`)
      return tool
    })
  return { ...head, tools }
}

function readFile<Schema extends z.ZodType>(folder: URL, name: string, schema: Schema): z.output<Schema> {
  const file = `${folder.pathname.split('/').at(-2)}/${name}`
  let value: unknown
  try {
    value = JSON.parse(readFileSync(new URL(name, folder), 'utf8'))
  } catch (error) {
    throw new PackFault(`${file} is not JSON: ${error instanceof Error ? error.message : ''}`)
  }
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  throw new PackFault(`${file}: ${parsed.error.issues.map((issue) => sentenceOf(issue, value)).join('; ')}.`)
}

function sentenceOf(issue: z.core.$ZodIssue, value: unknown): string {
  const at = issue.path.join('.') || 'the file'
  if (issue.code === 'unrecognized_keys') {
    const [unknown = ''] = issue.keys
    const hint = didYouMean(unknown, Object.keys({ ...packSchema.shape, ...packToolSchema.shape }))
    return `${at} has ${issue.keys.map((key) => `"${key}"`).join(', ')}, which is no member of it.${hint}`
  }
  if (issue.code === 'invalid_value') {
    const sent = issue.path.reduce<unknown>(
      (part, key) =>
        typeof part === 'object' && part !== null ? (part as Record<PropertyKey, unknown>)[key] : undefined,
      value,
    )
    const known = issue.values.map(String)
    return `${at} is ${JSON.stringify(sent)}; it is one of ${known.join(', ')}.${typeof sent === 'string' ? didYouMean(sent, known) : ''}`
  }
  return `${at}: ${issue.message}`
}
