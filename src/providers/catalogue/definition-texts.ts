import { existsSync, readdirSync, readFileSync } from 'node:fs'

/** One file, which the build makes of the folder. */
const BUILT = new URL('./definitions.json', import.meta.url)
const FOLDER = new URL('./definitions/', import.meta.url)

let texts: ReadonlyMap<string, string> | undefined

/**
 * The definitions that Gatepass ships, as JSON by their ids. They are kept as text: a process needs few of them, and the
 * objects would take several times the memory.
 */
export function definitionTexts(): ReadonlyMap<string, string> {
  texts ??= existsSync(BUILT) ? readBuilt() : readFolder()
  return texts
}

function readBuilt(): Map<string, string> {
  const built: Record<string, string> = JSON.parse(readFileSync(BUILT, 'utf8'))
  return new Map(Object.entries(built))
}

function readFolder(): Map<string, string> {
  const names = readdirSync(FOLDER).filter((name) => name.endsWith('.json'))
  return new Map(
    names.sort().map((name) => [name.slice(0, -'.json'.length), readFileSync(new URL(name, FOLDER), 'utf8')]),
  )
}
