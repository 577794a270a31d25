import { isRecord, type JsonRecord } from '../../../parsing/json-record.ts'
import { patternFault } from '../../../providers/callback-members.ts'
import { exampleOf, type ImportNote, variableName } from './imported.ts'
import { type NangoTemplates, textsOf } from './nango-values.ts'

// Nango's `credentials` and those values of `connection_config` that are no part of URLs: fields that people fill in.

type Field = Readonly<Record<string, unknown>>

// What a key looks like (`pattern`, `example`) is left out, since keys change their form.

const PLACEHOLDER = /\$\{([^}]*)\}/g

export class NangoTyped {
  /** The fields that templates named so far, by their names here. */
  readonly fields: Record<string, Field> = {}
  readonly #declared: JsonRecord
  readonly #config: JsonRecord
  readonly #mode: string
  readonly #templates: NangoTemplates
  readonly #notes: ImportNote[]

  constructor(entry: JsonRecord, templates: NangoTemplates, notes: ImportNote[]) {
    this.#mode = String(entry.auth_mode)
    const known = this.#mode === 'API_KEY' ? { apiKey: {} } : { username: {}, password: {} }
    this.#declared = isRecord(entry.credentials) ? entry.credentials : known
    this.#config = isRecord(entry.connection_config) ? entry.connection_config : {}
    this.#templates = templates
    this.#notes = notes
  }

  /** The text in our form; `undefined` if it names a value that users do not type, or makes one value of others. */
  text(written: string): string | undefined {
    let isClear = true
    const text = written.replaceAll(PLACEHOLDER, (_, place: string) => {
      const found = this.value(place)
      if (found === undefined) isClear = false
      return found ?? ''
    })
    return isClear ? text : undefined
  }

  /** Whether the text, in our form, names a secret field. */
  namesSecret(text: string): boolean {
    return Object.entries(this.fields).some(([name, { secret }]) => secret && text.includes(`{{${name}}}`))
  }

  /** What the place in a template of Nango's is in our form; `undefined` if users do not type it. */
  value(place: string): string | undefined {
    if (place === 'accessToken') return this.#mode === 'TWO_STEP' ? '{{access_token}}' : undefined
    const [, group, member = place] = /^(credentials|connectionConfig)\.(\w+)$/.exec(place) ?? []
    if (!/^\w+$/.test(member)) return undefined
    const name = variableName(member)
    if (name === undefined) return undefined
    if (group === 'connectionConfig') return this.#configured(member, name)
    const about = Object.hasOwn(this.#declared, member) ? this.#declared[member] : undefined
    if (!isRecord(about)) return undefined
    if (about.hidden === true) return String(about.default_value ?? '')
    return this.#add(name, about, this.#isSecret(member, about))
  }

  /** A value of `connection_config` that only headers and parameters have may be a second key, which is sealed. */
  #configured(member: string, name: string): string | undefined {
    if (Object.hasOwn(this.#templates.variables, name)) return `{{${name}}}`
    const about = Object.hasOwn(this.#config, member) ? this.#config[member] : undefined
    if (!isRecord(about) || about.automated === true) return undefined
    if (about.hidden === true) return String(about.default_value ?? '')
    return this.#add(name, about, about.secret === true || /key|token|secret|password/i.test(member))
  }

  #add(name: string, about: JsonRecord, isSecret: boolean): string {
    const { title, enum: options } = about
    if (about.optional === true && this.fields[name] === undefined)
      this.#notes.push({ member: `credentials.${name}`, reason: 'may be left empty there' })
    const words = name.replaceAll('_', ' ')
    const label = typeof title === 'string' && title !== '' ? title.slice(0, 100) : words
    const form = textsOf(options).length > 0 ? { one_of: textsOf(options) } : patternOf(about)
    this.fields[name] ??= { label, ...(isSecret ? { secret: true } : form) }
    return `{{${name}}}`
  }

  /** Only a user name beside a password, an e-mail address, and what is said to be public are shown again. */
  #isSecret(member: string, { secret, format }: JsonRecord): boolean {
    if (secret === true) return true
    if (secret === false || format === 'email') return false
    if (!/^(?:user_?name|email|login)$/i.test(member)) return true
    const { password } = this.#declared
    return isRecord(password) && password.hidden === true
  }
}

function patternOf({ pattern, example }: JsonRecord): Field {
  if (typeof pattern !== 'string' || patternFault(pattern) !== undefined) return {}
  return { pattern, ...exampleOf(pattern, example) }
}
