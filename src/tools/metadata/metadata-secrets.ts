import { isRecord, type JsonRecord } from '../read-json.ts'
import { at, type Warn } from './metadata-member.ts'
import { readInputSchema } from './read-schema.ts'

/**
 * What in tool metadata is a secret. A configuration key that looks like one (`apiKey`, `bot_token`,
 * `IMGFLIP_PASSWORD`) is declared as a secret of the tool under its words in upper case, joined by `_`: `apiKey` and
 * `api_key` are `API_KEY`, `searchEngineApiKey` is `SEARCH_ENGINE_API_KEY`. What runs the tool finds the
 * configuration key of a secret by applying `secretKey` to the document's configuration keys.
 */
export function declaredSecrets(tool: JsonRecord, path: string, warn: Warn): string[] {
  const { properties } = readInputSchema(tool.configurations, at(path, 'configurations'), warn)
  const keys = [...(isRecord(properties) ? Object.keys(properties) : []), ...storedKeys(tool.config)]
  return [...new Set(keys.filter(looksSecret).map(secretKey))]
}

/** The key of the secret that a configuration key stands for. */
function secretKey(configurationKey: string): string {
  return wordsOf(configurationKey).join('_').toUpperCase()
}

const ALWAYS = /^(secrets?|passwords?|passwd|passphrase|pwd|mnemonic|credentials?)$/
const KEY_OF =
  /^(api|private|access|secret|auth|encryption|signing|service|account|client|consumer|license|subscription|master)$/
const RUN_TOGETHER =
  /(api|private|access|secret|auth)key|(access|auth|bot|bearer|api)token|seedphrase|clientsecret/
/** Words that make of a key or a token something public. */
const PUBLIC_KEY =
  /^(public|primary|foreign|sort|partition|cache|object|row|group|json|storage|idempotency|search)$/
const COUNTED_TOKEN = /^(max|min|num|input|output|sell|buy|from|to|stop|pad|eos|bos|page|next)$/
/** Endings that speak about a secret without being one. */
const ABOUT =
  /^(id|name|url|uri|path|file|type|header|prefix|length|limit|count|address|symbol|decimals|amount)$/

/** Whether a configuration key names a secret, by the words it is made of. */
function looksSecret(configurationKey: string): boolean {
  const words = wordsOf(configurationKey)
  const [last = '', before = ''] = words.toReversed()
  if (ABOUT.test(last)) return false
  if (words.some((word) => ALWAYS.test(word)) || RUN_TOGETHER.test(words.join(''))) return true
  if (last === 'token') return !COUNTED_TOKEN.test(before)
  if (last === 'key') return before !== '' && !PUBLIC_KEY.test(before)
  if (last === 'phrase') return before === 'seed' || before === 'recovery'
  return last === 'keys' ? KEY_OF.test(before) : ['bearer', 'jwt', 'cookie', 'cookies'].includes(last)
}

function wordsOf(key: string): string[] {
  return key
    .split(/(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[^A-Za-z0-9]+/)
    .filter(Boolean)
    .map((word) => word.toLowerCase())
}

/** The tool's document without client secrets, tokens, and the values of secret-looking configuration keys. */
export function withoutSecrets(tool: JsonRecord): JsonRecord {
  return mapMembers(tool, (value, name) => {
    if (name === 'oauth') return withoutOAuthSecrets(value)
    if (name === 'configurations') return withoutDefaults(value)
    if (name === 'config') return withoutStoredValues(value)
    return value
  })
}

const OAUTH_SECRETS = ['clientsecret', 'accesstoken', 'idtoken', 'codeverifier', 'password']

function withoutOAuthSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutOAuthSecrets)
  if (!isRecord(value)) return value
  return mapMembers(value, (inner, name) => {
    const plain = name.toLowerCase().replace(/[^a-z]/g, '')
    if (OAUTH_SECRETS.includes(plain)) return undefined
    // it says whether one is asked for; anything else in its place may be a refresh token
    if (plain === 'refreshtoken' && !/^(true|false|null)?$/i.test(String(inner))) return undefined
    return withoutOAuthSecrets(inner)
  })
}

const VALUE_KEYWORDS = ['default', 'value', 'const', 'enum', 'example', 'examples']

/** A configuration schema: the property's keyword is dropped where the property's name looks secret, at any depth. */
function withoutDefaults(value: unknown, isSecret = false): unknown {
  if (Array.isArray(value)) return value.map((inner) => withoutDefaults(inner, isSecret))
  if (!isRecord(value)) return value
  return mapMembers(value, (inner, name) => {
    if (isSecret && VALUE_KEYWORDS.includes(name)) return undefined
    if (looksSecret(name)) return isRecord(inner) ? withoutDefaults(inner, true) : undefined
    return withoutDefaults(inner, isSecret)
  })
}

/** The stored form's configuration: `[{"BasicConfig": {"key_name", "key_value", ...}}]`, or the inner objects alone. */
function withoutStoredValues(config: unknown): unknown {
  if (Array.isArray(config)) return config.map(withoutStoredValues)
  if (!isRecord(config)) return config
  const { key_name: key } = config
  return mapMembers(config, (inner, name) => {
    if (name === 'key_value' && typeof key === 'string' && looksSecret(key)) return undefined
    return looksSecret(name) ? undefined : withoutStoredValues(inner)
  })
}

function storedKeys(config: unknown): string[] {
  if (Array.isArray(config)) return config.flatMap(storedKeys)
  if (!isRecord(config)) return []
  return typeof config.key_name === 'string' ? [config.key_name] : storedKeys(config.BasicConfig)
}

/** Every member changed; one that becomes `undefined` is left out. */
function mapMembers(of: JsonRecord, change: (value: unknown, name: string) => unknown): JsonRecord {
  const members = Object.entries(of).map(([name, value]) => [name, change(value, name)] as const)
  return Object.fromEntries(members.filter(([, value]) => value !== undefined))
}
