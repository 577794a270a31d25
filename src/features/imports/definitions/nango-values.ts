import { isRecord, type JsonRecord } from '../../../parsing/json-record.ts'
import { patternFault } from '../../../providers/callback-members.ts'
import { variableFault } from '../../../providers/variables.ts'
import { ANY_PART, exampleOf, type ImportNote, variableName } from './imported.ts'

// Nango's `${connectionConfig.name}`: a variable if people give its value, a kept value if the provider tells it.

export interface NangoValues {
  readonly variables: Record<string, Record<string, unknown>>
  readonly keptValues: Record<string, Record<string, unknown>>
  readonly callbackMembers: Record<string, string>
}

/** What the entry says of the values that its templates may name, and what was made of those that they did name. */
export class NangoTemplates implements NangoValues {
  readonly variables: NangoValues['variables'] = {}
  readonly keptValues: NangoValues['keptValues'] = {}
  readonly callbackMembers: NangoValues['callbackMembers'] = {}
  readonly notes: ImportNote[]
  readonly #declared: JsonRecord
  readonly #fromCallback: readonly string[]
  readonly #fromTokens: readonly string[]

  constructor(entry: JsonRecord, notes: ImportNote[]) {
    this.notes = notes
    this.#declared = isRecord(entry.connection_config) ? entry.connection_config : {}
    this.#fromCallback = textsOf(entry.redirect_uri_metadata)
    this.#fromTokens = textsOf(entry.token_response_metadata)
    for (const name of this.#fromCallback) {
      const pattern = this.#patternOf(name)
      if (pattern === undefined)
        notes.push({
          member: 'redirect_uri_metadata',
          reason: 'the source gives no usable pattern for a value of the callback',
        })
      else if (/^[\w.-]{1,64}$/.test(name)) this.callbackMembers[name] = pattern
    }
  }

  /**
   * The URL in our form, of the first alternative (`a || b`) that only names what people can give. Another alternative
   * that is the same URL with a fixed value is that variable's default.
   */
  url(member: string, written: string, { mayBeKept = false } = {}): string | undefined {
    const [first = '', ...others] = written.split(/\s*\|\|\s*/)
    const url = this.#template(member, first, { mayBeKept })
    if (url === undefined) return undefined
    for (const other of others) {
      const fixed = fixedValue(first, other)
      const name = fixed && variableName(fixed.name)
      const variable =
        name !== undefined && Object.hasOwn(this.variables, name) ? this.variables[name] : undefined
      if (fixed !== undefined && variable !== undefined && takes(variable, fixed.value))
        variable.value = fixed.value
      else this.notes.push({ member, reason: 'has an alternative, of which the first is carried over' })
    }
    return url
  }

  /** The text in our form if it only names kept values and what `known` has. */
  text(written: string, known: ReadonlyMap<string, string>): string | undefined {
    let isClear = true
    const text = written.replaceAll(PLACEHOLDER, (_, place: string) => {
      const literal = known.get(place)
      if (literal !== undefined) return literal
      const name = /^connectionConfig\.(.+)$/.exec(place)?.[1]
      const kept = name !== undefined && this.#isTold(name) ? this.#keep(name) : undefined
      if (kept === undefined) isClear = false
      return `{{${kept}}}`
    })
    return isClear ? text : undefined
  }

  /**
   * The parameter's value in our form, of the first alternative that only names what the entry's own client is given: such
   * a value is a variable of the entry, and may be any text where no URL names it. Optional values cannot be left out here.
   */
  param(member: string, written: string): string | undefined {
    const alternatives = written.split(/\s*\|\|\s*/)
    const text = alternatives.map((one) => this.#ofEntry(one)).find((one) => one !== undefined)
    if (text === undefined) this.notes.push({ member, reason: 'names a value of the connection' })
    else if (alternatives.length > 1)
      this.notes.push({ member, reason: 'has an alternative, of which one is carried over' })
    return text
  }

  #ofEntry(written: string): string | undefined {
    let isClear = true
    const text = written.replaceAll(PLACEHOLDER, (_, place: string) => {
      const name = /^connectionConfig\.(.+)$/.exec(place)?.[1] ?? ''
      const about = this.#declared[name]
      const isGiven = isRecord(about) && about.optional !== true && about.secret !== true
      const variable = isGiven && !this.#isTold(name) ? this.#declare(name, ANY_TEXT) : undefined
      if (variable === undefined) isClear = false
      return `{{${variable}}}`
    })
    return isClear && !/\{\{(?!\w+\}\})/.test(text) ? text : undefined
  }

  #template(
    member: string,
    written: string,
    { mayBeKept }: { readonly mayBeKept: boolean },
  ): string | undefined {
    const faults: ImportNote[] = []
    const refuse = (name: string, reason: string) => {
      faults.push({ member: `${member}.${name}`, reason })
      return ''
    }
    const url = written.replaceAll(PLACEHOLDER, (_, place: string) => {
      const name = /^connectionConfig\.(.+)$/.exec(place)?.[1]
      if (name === undefined) return refuse(place, 'names a value that is none of a connection')
      const isVariable = Object.hasOwn(this.variables, variableName(name) ?? '')
      if (this.#isTold(name) && !isVariable && (mayBeKept || !this.#isAsked(name))) {
        if (!mayBeKept) return refuse(name, 'names a value that the provider tells only at the consent')
        const kept = this.#keep(name)
        return kept === undefined
          ? refuse(name, 'names a value of the provider without a usable pattern')
          : `{{${kept}}}`
      }
      const variable = this.#declare(name)
      return variable === undefined
        ? refuse(name, 'names a value that is neither a host nor a part of a path')
        : `{{${variable}}}`
    })
    this.notes.push(...faults)
    return faults.length === 0 ? url : undefined
  }

  /** Whether people are asked for the value. */
  #isAsked(name: string): boolean {
    const about = this.#declared[name]
    return isRecord(about) && about.automated !== true
  }

  /** Whether the provider tells the value. */
  #isTold(name: string): boolean {
    const about = this.#declared[name]
    const isAutomated = isRecord(about) && about.automated === true
    return isAutomated || this.#fromCallback.includes(name) || this.#fromTokens.includes(name)
  }

  #keep(name: string): string | undefined {
    const kept = variableName(name)
    const pattern = this.#patternOf(name)
    const from = this.#fromCallback.includes(name)
      ? 'authorization_response'
      : this.#fromTokens.includes(name)
        ? 'token_response'
        : undefined
    if (kept === undefined || pattern === undefined || from === undefined) return undefined
    const at = from === 'token_response' ? `$.${name}` : name
    this.keptValues[kept] = { from, at, pattern }
    return kept
  }

  /** @param otherwise the pattern where the source gives none; by default that of a part of a URL, which is noted */
  #declare(name: string, otherwise?: string): string | undefined {
    const about = this.#declared[name]
    const key = variableName(name)
    if (key === undefined) return undefined
    if (Object.hasOwn(this.variables, key)) return key
    const declared = isRecord(about) ? about : {}
    if (declared.format === 'uri' || declared.format === 'email') return undefined
    const options = textsOf(declared.enum)
    if (options.length > 0) {
      if (options.some((value) => variableFault({ pattern: '.*', value }) !== undefined)) return undefined
      this.variables[key] = { ...labelOf(declared), one_of: options, ...defaultOf(declared) }
      return key
    }
    const pattern = this.#patternOf(name) ?? FORMATS.get(String(declared.format))
    if (pattern === undefined && otherwise === undefined)
      this.notes.push({
        member: `connection_config.${name}`,
        reason: 'the source gives no usable pattern: any host or label is accepted',
      })
    const used = pattern ?? otherwise ?? ANY_PART
    const isText = otherwise !== undefined
    const values = { ...exampleOf(used, declared.example, { isText }), ...defaultOf(declared) }
    if (Object.keys(values).length === 0) return undefined
    this.variables[key] = { ...labelOf(declared), pattern: used, ...values }
    return key
  }

  #patternOf(name: string): string | undefined {
    const about = this.#declared[name]
    if (!isRecord(about) || typeof about.pattern !== 'string') return undefined
    return patternFault(about.pattern) === undefined ? about.pattern : undefined
  }
}

/** A value that no URL names. */
const ANY_TEXT = '.{1,255}'
const PLACEHOLDER = /\$\{([^}]*)\}/g
/** What Nango's formats allow, as patterns. */
const FORMATS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    hostname: '[A-Za-z0-9-]+(\\.[A-Za-z0-9-]+)+',
    uuid: '[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}',
  }),
)

function labelOf({ title }: JsonRecord): { label?: string } {
  return typeof title === 'string' && title !== '' ? { label: title.slice(0, 100) } : {}
}

function defaultOf({ default_value: value }: JsonRecord): { value?: string } {
  return typeof value === 'string' && value !== '' ? { value } : {}
}

function takes({ pattern, one_of: options }: Record<string, unknown>, value: string): boolean {
  if (Array.isArray(options)) return options.includes(value)
  return variableFault({ pattern: String(pattern), value }) === undefined
}

/** The value that makes one URL the other, if the first has one placeholder. */
function fixedValue(template: string, url: string): { name: string; value: string } | undefined {
  const [, before, name, after] = /^([^$]*)\$\{connectionConfig\.([^}]+)\}([^$]*)$/.exec(template) ?? []
  if (before === undefined || name === undefined || after === undefined) return undefined
  if (!url.startsWith(before) || !url.endsWith(after) || url.length <= before.length + after.length)
    return undefined
  return { name, value: url.slice(before.length, url.length - after.length) }
}

export function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((text) => typeof text === 'string') : []
}
