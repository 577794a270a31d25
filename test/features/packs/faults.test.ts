import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { Pack, PackTool } from '../../../src/features/packs/wire-format.ts'
import { packIds, shippedPack } from '../../../src/features/packs/wire-library.ts'
import { isRecord } from '../../../src/parsing/json-record.ts'
import type { AnyJson } from '../../any-json.ts'
import { defined } from '../../store/fixtures.ts'
import { differences, type Recording, requestOf } from './recordings.ts'

// A comparison that finds nothing would prove nothing. Into each tool that is compared with a recorded request of a client, one
// fault at a time is put, of six kinds; the comparison notices it, or the reason why not is below.

type Faulty = AnyJson

/** Each puts its fault into a part of the tool that the recorded arguments use; `false`: the tool has no such part. */
const KINDS: Readonly<Record<string, (tool: Faulty, isUsed: (part: unknown) => boolean) => boolean>> = {
  'another method': (tool) => {
    tool.method = tool.method === 'PUT' ? 'POST' : 'PUT'
    return true
  },
  'a letter in the path': (tool) => {
    tool.url = tool.url.replace(/^(https:\/\/[^/]+|\{\{\w+\}\})?\//, '$1/x')
    return true
  },
  'a renamed member': (tool, isUsed) => rename(tool.body, isUsed) || rename(tool.query, isUsed),
  'a missing constant': (tool) => dropConstant(tool.query) || dropConstant(tool.body),
  'another form of list': (tool, isUsed) => relist(tool.query, isUsed) || relist(tool.body, isUsed),
  'a lost level of nesting': (tool, isUsed) => flatten(tool.body, isUsed),
}

type IsUsed = (part: unknown) => boolean

function rename(part: Faulty, isUsed: IsUsed): boolean {
  if (!isRecord(part)) return false
  const name = Object.keys(part).find((one) => !one.startsWith('$') && isUsed(part[one]))
  if (name === undefined) return false
  const record = part as Faulty
  record[`${name}x`] = record[name]
  delete record[name]
  return true
}

function dropConstant(part: Faulty): boolean {
  if (!isRecord(part)) return false
  const record = part as Faulty
  for (const [name, value] of Object.entries(record)) {
    if (name.startsWith('$')) return false
    if (isRecord(value) && dropConstant(value)) return true
    if (isRecord(value) || Array.isArray(value) || /[{}]/.test(String(value))) continue
    delete record[name]
    return true
  }
  return false
}

function relist(part: Faulty, isUsed: IsUsed): boolean {
  if (!isRecord(part)) return false
  const record = part as Faulty
  for (const [name, value] of Object.entries(record))
    if (isRecord(value) && '$join' in value && isUsed(value)) {
      record[name] = value.$join
      return true
    } else if (isRecord(value) && '$map' in value && isUsed(value)) {
      record[name] = value.$map
      return true
    } else if (isRecord(value) && relist(value, isUsed)) return true
  return false
}

function flatten(body: Faulty, isUsed: IsUsed): boolean {
  if (!isRecord(body)) return false
  const record = body as Faulty
  for (const [name, value] of Object.entries(record)) {
    if (
      name.startsWith('$') ||
      !isRecord(value) ||
      !isUsed(value) ||
      Object.keys(value).some((one) => one.startsWith('$'))
    )
      continue
    delete record[name]
    Object.assign(record, value)
    return true
  }
  return false
}

/** The faults that recordings cannot show. */
const UNNOTICED: readonly RegExp[] = [
  // Slack's client posts a form for every method, so its recordings are compared by their arguments alone; library.test.ts compares
  // method and path with Slack's description
  /^slack\.\w+: (?:another method|a letter in the path)$/,
  // the recorded list has one element, which is the same joined and repeated
  /^trello\.Search: another form of list$/,
]

const packs = packIds().map((id) => defined(shippedPack(id)))

async function isNoticed(pack: Pack, tool: PackTool, recording: Recording): Promise<boolean> {
  const others = pack.tools.filter(({ name }) => name !== tool.name)
  const properties = tool.input_schema.properties as object
  const input = Object.entries(recording.args)
    .filter(([name]) => !['cloud_id', 'subdomain', 'instance_url'].includes(name))
    .map(([name, value]) => (name in properties ? [name, value] : ['page', String(value)]))
  try {
    const sent = await requestOf({ ...pack, tools: [...others, tool] }, tool.name, Object.fromEntries(input))
    return differences(sent, recording).length > 0
  } catch {
    return true // the definition or the call is refused
  }
}

test('a fault in a tool is noticed by the comparison with what a client sends', async () => {
  const counts: Record<string, number> = {}
  const unnoticed: string[] = []
  for (const pack of packs) {
    const file = new URL(`./recorded/${pack.id}.json`, import.meta.url)
    const recordings: Recording[] = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : []
    for (const tool of pack.tools) {
      const own = recordings.filter((one) => one.tool === tool.name && one.known_difference === undefined)
      if (own.length === 0) continue
      const args = own.flatMap((one) => Object.keys(one.args))
      const isUsed = (part: unknown) => {
        const named = [...JSON.stringify(part).matchAll(/\{([a-z][\w.]*)\}/g)].map(([, name = '']) => name)
        return named.length === 0 || named.some((name) => args.includes(name))
      }
      for (const [kind, put] of Object.entries(KINDS)) {
        const faulty = structuredClone(tool)
        if (!put(faulty, isUsed)) continue
        counts[kind] = (counts[kind] ?? 0) + 1
        const noticed = await Promise.all(own.map((recording) => isNoticed(pack, faulty, recording)))
        if (!noticed.includes(true)) unnoticed.push(`${pack.id}.${tool.name}: ${kind}`)
      }
    }
  }
  expect(unnoticed.filter((one) => !UNNOTICED.some((reason) => reason.test(one)))).toEqual([])
  const put = Object.values(counts).reduce((sum, count) => sum + count, 0)
  // 435 of 450 when this was written
  expect(put).toBeGreaterThan(400)
  expect(unnoticed.length).toBeLessThanOrEqual(15)
  expect(Object.keys(counts).sort()).toEqual(Object.keys(KINDS).sort())
})
