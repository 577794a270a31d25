import { createHash } from 'node:crypto'
import { isRecord, type JsonRecord } from '../../parsing/json-record.ts'
import { isAbsent, kindOf, quote } from '../read-json.ts'
import { at, type Warn } from './metadata-member.ts'

const MAX_NAME_LENGTH = 128
const MAX_VERSION_LENGTH = 64
/** The regular expression suggested by https://semver.org, without its captures. */
const SEMVER =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-(0|[1-9]\d*|\d*[A-Za-z-][\dA-Za-z-]*)(\.(0|[1-9]\d*|\d*[A-Za-z-][\dA-Za-z-]*))*)?(\+[\dA-Za-z-]+(\.[\dA-Za-z-]+)*)?$/

/** Derives a tool's name from its title: `[A-Za-z0-9_.-]`, 1 to 128 characters, always the same for the same title. */
export function toolName(title: string): string {
  const name = sanitize(title)
  return name === '' ? `tool_${createHash('sha256').update(title).digest('hex').slice(0, 8)}` : name
}

/** The warning that a title is not a valid name, with the derived name. */
export function derivedNameWarning(title: string, name: string): string {
  return `${quote(title)} is called \`${name}\`.`
}

function derivedNamespaceWarning(toolSet: string, namespace: string): string {
  return `${quote(toolSet)} became the namespace \`${namespace}\`.`
}

/** Whether the warning only reports a derived name, which requires no action. */
export function isDerivedNameWarning(warning: string): boolean {
  return /^".* (?:is called|became the namespace) `[\w.-]+`\.$/s.test(warning)
}

/** Derives the namespace from `tool_set`, in lower case; `local` if there is none. */
export function readNamespace(toolSet: unknown, path: string, warn: Warn): string {
  if (isAbsent(toolSet)) return 'local'
  if (typeof toolSet !== 'string') {
    warn(path, `It is ${kindOf(toolSet)}, not a name; the tool is in \`local\`.`)
    return 'local'
  }
  const namespace = sanitize(toolSet).toLowerCase() || 'local'
  if (namespace !== toolSet) warn(path, derivedNamespaceWarning(toolSet, namespace))
  return namespace
}

/**
 * Reads a version as SemVer without a `v`. One or two numbers are completed with zeros; other text is dropped with a
 * warning.
 */
export function readVersion(version: unknown, path: string, warn: Warn): string | undefined {
  if (isAbsent(version)) return undefined
  const text = typeof version === 'number' ? String(version) : version
  if (typeof text !== 'string' || text.length > MAX_VERSION_LENGTH) {
    warn(path, 'It is not a version like 1.0.0; the tool has none.')
    return undefined
  }
  const plain = text.trim().replace(/^v/i, '')
  const read = /^\d+$/.test(plain) ? `${plain}.0.0` : /^\d+\.\d+$/.test(plain) ? `${plain}.0` : plain
  if (!SEMVER.test(read)) {
    warn(path, `${quote(version)} is not a version like 1.0.0; the tool has none.`)
    return undefined
  }
  if (read !== version) warn(path, `${quote(version)} was read as ${read}.`)
  return read
}

/** Members that real files contain in two spellings; the camel case one wins. */
const SPELLED_TWICE = [
  ['homePage', 'homepage'],
  ['sqlTables', 'sql_tables'],
  ['sqlQueries', 'sql_queries'],
] as const

/** Warns when two spellings of a member differ. The document itself is stored unchanged. */
export function warnOfSpellings(tool: JsonRecord, path: string, warn: Warn): void {
  for (const [camel, other] of SPELLED_TWICE) {
    if (isAbsent(tool[camel]) || isAbsent(tool[other])) continue
    if (JSON.stringify(tool[camel]) !== JSON.stringify(tool[other]))
      warn(at(path, camel), `\`${other}\` says something else; \`${camel}\` counts.`)
  }
}

const AGENT_MEMBERS = ['agent_id', 'llm_provider_id', 'full_identity_name']

/** The member that shows that a file describes an agent. */
export function agentMember(value: unknown): string | undefined {
  return isRecord(value) ? AGENT_MEMBERS.find((name) => !isAbsent(value[name])) : undefined
}

/**
 * Members that only a tool's metadata has. Many other files have a name and a description too, such as a
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

/** Whether the file has a member that only tools have. */
export function hasToolMember(tool: JsonRecord): boolean {
  return TOOL_MEMBERS.some((name) => Object.hasOwn(tool, name))
}

function sanitize(name: string): string {
  const plain = name.replace(/[^A-Za-z0-9_.-]+/g, '_').replace(/^_+/, '')
  return plain.slice(0, MAX_NAME_LENGTH).replace(/_+$/, '')
}
