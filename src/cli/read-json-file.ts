import { readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { bracketedCode, CommandFailure, EXIT } from './failure.ts'

/** The JSON object of a file, or of standard input for `-`. Messages never quote it, because it may hold secrets. */
export async function readJsonFile(source: string): Promise<Record<string, unknown>> {
  const value = parseJsonText(await readTextFile(source), source)
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value }
  throw new CommandFailure(`${nameOf(source)} must contain one JSON object.`, EXIT.usage)
}

export async function readTextFile(source: string): Promise<string> {
  if (source === '-') return text(process.stdin)
  try {
    return readFileSync(source, 'utf8')
  } catch (error) {
    throw new CommandFailure(`The file "${source}" cannot be read${bracketedCode(error)}.`, EXIT.notFound)
  }
}

export function parseJsonText(json: string, source: string): unknown {
  try {
    return JSON.parse(json.replace(/^\uFEFF/, ''))
  } catch {
    throw new CommandFailure(`${nameOf(source)} is not JSON.`, EXIT.usage)
  }
}

function nameOf(source: string): string {
  return source === '-' ? 'Standard input' : `The file "${source}"`
}
