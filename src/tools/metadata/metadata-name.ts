import { createHash } from 'node:crypto'
import { isAbsent, isRecord, type JsonRecord, kindOf, quote } from '../read-json.ts'
import { at, type Warn } from './metadata-member.ts'

const MAX_NAME_LENGTH = 128
const MAX_VERSION_LENGTH = 64
/** https://semver.org, section "Is there a suggested regular expression", without its captures. */
const SEMVER =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-(0|[1-9]\d*|\d*[A-Za-z-][\dA-Za-z-]*)(\.(0|[1-9]\d*|\d*[A-Za-z-][\dA-Za-z-]*))*)?(\+[\dA-Za-z-]+(\.[\dA-Za-z-]+)*)?$/

/** The name a tool is called by: `[A-Za-z0-9_.-]`, 1 to 128 characters, the same for the same title. */
export function toolName(title: string): string {
  const name = sanitize(title)
  return name === '' ? `tool_${createHash('sha256').update(title).digest('hex').slice(0, 8)}` : name
}

/** The warning that a title is no name, and what the name is. */
export function respelledName(title: string, name: string): string {
  return `${quote(title)} is called \`${name}\`.`
}

function respelledNamespace(toolSet: string, namespace: string): string {
  return `${quote(toolSet)} became the namespace \`${namespace}\`.`
}

/** Whether the warning only says how a name is written, which nobody has to act on. */
export function isRespelling(warning: string): boolean {
  return /^".* (?:is called|became the namespace) `[\w.-]+`\.$/s.test(warning)
}

/** `tool_set` as a namespace, in lower case; `local` when there is none. */
export function readNamespace(toolSet: unknown, path: string, warn: Warn): string {
  if (isAbsent(toolSet)) return 'local'
  if (typeof toolSet !== 'string') {
    warn(path, `It is ${kindOf(toolSet)}, not a name; the tool is in \`local\`.`)
    return 'local'
  }
  const namespace = sanitize(toolSet).toLowerCase() || 'local'
  if (namespace !== toolSet) warn(path, respelledNamespace(toolSet, namespace))
  return namespace
}

/** SemVer without a `v`. One or two numbers are filled up with zeros; what cannot be read is left out. */
export function readVersion(version: unknown, path: string, warn: Warn): string | undefined {
  if (isAbsent(version)) return undefined
  const said = typeof version === 'number' ? String(version) : version
  if (typeof said !== 'string' || said.length > MAX_VERSION_LENGTH) {
    warn(path, 'It is not a version like 1.0.0; the tool has none.')
    return undefined
  }
  const plain = said.trim().replace(/^v/i, '')
  const read = /^\d+$/.test(plain) ? `${plain}.0.0` : /^\d+\.\d+$/.test(plain) ? `${plain}.0` : plain
  if (!SEMVER.test(read)) {
    warn(path, `${quote(version)} is not a version like 1.0.0; the tool has none.`)
    return undefined
  }
  if (read !== version) warn(path, `${quote(version)} was read as ${read}.`)
  return read
}

/** Where two spellings of one member stand side by side, as real files have them, the camel case one counts. */
const SPELLED_TWICE = [
  ['homePage', 'homepage'],
  ['sqlTables', 'sql_tables'],
  ['sqlQueries', 'sql_queries'],
] as const

/** The document is kept as it is; this only says which of two spellings counts. */
export function warnOfSpellings(tool: JsonRecord, path: string, warn: Warn): void {
  for (const [camel, other] of SPELLED_TWICE) {
    if (isAbsent(tool[camel]) || isAbsent(tool[other])) continue
    if (JSON.stringify(tool[camel]) !== JSON.stringify(tool[other]))
      warn(at(path, camel), `\`${other}\` says something else; \`${camel}\` counts.`)
  }
}

const AGENT_MEMBERS = ['agent_id', 'llm_provider_id', 'full_identity_name']

/** The member by which an agent file is known. */
export function agentMember(value: unknown): string | undefined {
  return isRecord(value) ? AGENT_MEMBERS.find((name) => !isAbsent(value[name])) : undefined
}

/**
 * Members that only the metadata of a tool has. A name and a description alone are in many other files too, such as a
 * package.json.
 */
const TOOL_MEMBERS = [
  'parameters',
  'input_args',
  'result',
  'output_arg',
  'configurations',
  'oauth',
  'tool_set',
  'runner',
  'operating_system',
  'sqlTables',
  'sql_tables',
  'sqlQueries',
  'sql_queries',
  'js_code',
  'py_code',
] as const

/** Whether the file says anything that only a tool has. */
export function hasToolMember(tool: JsonRecord): boolean {
  return TOOL_MEMBERS.some((name) => Object.hasOwn(tool, name))
}

function sanitize(name: string): string {
  const plain = name.replace(/[^A-Za-z0-9_.-]+/g, '_').replace(/^_+/, '')
  return plain.slice(0, MAX_NAME_LENGTH).replace(/_+$/, '')
}
