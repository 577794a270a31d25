import { readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ConfigError } from '../config-error.ts'
import { BrokerError } from '../domain/errors.ts'
import type { AllowsHttp } from '../egress/endpoint.ts'
import { readYaml } from '../parsing/read-yaml.ts'
import { type Definition, readDefinition } from '../providers/definition/read-definition.ts'

// The operator's own definitions of providers: the files of the folder `GATEPASS_PROVIDERS`.

/** A definition, and the file that has it. */
export interface ProviderFile {
  readonly file: string
  readonly definition: Definition
}

const MODULES = ['.ts', '.mts', '.js', '.mjs']
const DOCUMENTS = ['.json', '.yaml', '.yml']

/** Reads all definition files of the folder. Throws `ConfigError` with the faults of the folder or of all files. */
export async function readProviderFiles(
  folder: string | undefined,
  options: { readonly allowsHttp: AllowsHttp },
): Promise<readonly ProviderFile[]> {
  if (folder === undefined) return []
  const read: ProviderFile[] = []
  const faults: string[] = []
  for (const name of definitionFilesOf(folder)) {
    const file = join(folder, name)
    try {
      read.push({ file, definition: readDefinition(await definitionIn(file), options) })
    } catch (error) {
      faults.push(...faultsOf(error).map((fault) => `${file}: ${fault}`))
    }
  }
  for (const [at, { file, definition }] of read.entries()) {
    const earlier = read.slice(0, at).find((other) => other.definition.id === definition.id)
    if (earlier !== undefined)
      faults.push(`${file}: id is "${definition.id}", which ${earlier.file} has already.`)
  }
  if (faults.length > 0) throw new ConfigError(faults.map((fault) => `GATEPASS_PROVIDERS: ${fault}`))
  return read
}

/** The names of the folder's definition files, sorted. Other files are ignored. */
function definitionFilesOf(folder: string): string[] {
  return namesIn(folder)
    .filter((name) => [...MODULES, ...DOCUMENTS].includes(extname(name)) && !name.endsWith('.d.ts'))
    .sort()
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    throw new ConfigError(faultsOf(error).map((fault) => `GATEPASS_PROVIDERS: ${folder} ${fault}`))
  }
}

/** Why a file cannot be read. The message names the place in the file if it is known. */
class FileFault extends Error {}

async function definitionIn(file: string): Promise<unknown> {
  if (MODULES.includes(extname(file))) return defaultExportOf(file)
  const text = readFileSync(file, 'utf8').replace(/^\uFEFF/, '')
  const isJson = extname(file) === '.json'
  if (isJson) {
    const parsed = parsedJson(text)
    if (parsed !== undefined) return parsed.value
  }
  const yaml = await readYaml(text)
  if (yaml.outcome === 'read' && !isJson) return yaml.value
  // the YAML parser also finds the place of most faults in JSON
  const why = yaml.outcome === 'read' ? '' : yaml.why
  throw new FileFault(`is no ${isJson ? 'JSON' : 'YAML'}${why}.`)
}

function parsedJson(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}

async function defaultExportOf(file: string): Promise<unknown> {
  const definitionModule = pathToFileURL(file).href
  let exported: { readonly default?: unknown }
  try {
    exported = await import(definitionModule)
  } catch (error) {
    throw new FileFault(`cannot be loaded: ${String(error).replaceAll(/\s+/g, ' ').slice(0, 500)}.`)
  }
  if (exported.default === undefined)
    throw new FileFault('has no default export: write `export default { … }`.')
  return plainData(exported.default)
}

/** A copy of what JSON can express: getters are read once, and class instances become plain objects. */
function plainData(value: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(value))
  } catch {
    throw new FileFault(
      'has a default export that is not plain data, such as a function or an object that contains itself.',
    )
  }
}

function faultsOf(error: unknown): readonly string[] {
  if (error instanceof FileFault) return [error.message]
  if (error instanceof BrokerError) return error.faults?.map(({ message }) => message) ?? [error.message]
  if (error instanceof Error && 'code' in error) return [`cannot be read (${error.code}).`]
  throw error
}
