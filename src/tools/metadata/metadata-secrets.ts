import { isRecord, type JsonRecord } from '../../parsing/json-record.ts'
import { asText } from '../read-json.ts'
import { at, type Warn } from './metadata-member.ts'
import { readInputSchema } from './read-schema.ts'

/**
 * Finds the secrets in tool metadata. A configuration key that looks like a secret's (`apiKey`, `bot_token`,
 * `IMGFLIP_PASSWORD`) declares a secret of the tool, whose key is the words in upper case joined by `_`: `apiKey` and
 * `api_key` become `API_KEY`, `searchEngineApiKey` becomes `SEARCH_ENGINE_API_KEY`. A worker maps secrets back by
 * applying `secretKey` to the document's configuration keys.
 */
export function declaredSecrets(tool: JsonRecord, path: string, warn: Warn): string[] {
  const { properties } = readInputSchema(tool.configurations, at(path, 'configurations'), warn)
  const keys = [...(isRecord(properties) ? Object.keys(properties) : []), ...storedKeys(tool.config)]
  return [...new Set(keys.filter(isSecretName).map(secretKey))]
}

/** The key of the secret for a configuration key. */
function secretKey(configurationKey: string): string {
  return wordsOf(configurationKey).join('_').toUpperCase()
}

/** Words that make a key secret, at any place in it. */
const SECRET_WORD = /^(secrets?|passwords?|passwd|passphrase|pwd|mnemonic|credentials?)$/
/** Words before `keys` that make the keys secret. */
const BEFORE_KEYS =
  /^(api|private|access|secret|auth|encryption|signing|service|account|client|consumer|license|subscription|master)$/
/** Names of secrets, searched for in the key's words joined together. */
const JOINED_WORDS =
  /(api|private|access|secret|auth)key|(access|auth|bot|bearer|api)token|seedphrase|clientsecret/
/** Words before `key` that make the key public. */
const BEFORE_PUBLIC_KEY =
  /^(public|primary|foreign|sort|partition|cache|object|row|group|json|storage|idempotency|search)$/
/** Words before `token` that make it another kind of token, such as a count, a coin or a page. */
const BEFORE_OTHER_TOKEN = /^(max|min|num|input|output|sell|buy|from|to|stop|pad|eos|bos|page|next)$/
/** Endings of keys that describe a secret without being one. */
const ABOUT =
  /^(id|name|url|uri|path|file|type|header|prefix|length|limit|count|address|symbol|decimals|amount)$/

/** Whether the words of a configuration key name a secret. */
function isSecretName(configurationKey: string): boolean {
  const words = wordsOf(configurationKey)
  const [last = '', before = ''] = words.toReversed()
  if (ABOUT.test(last)) return false
  if (words.some((word) => SECRET_WORD.test(word)) || JOINED_WORDS.test(words.join(''))) return true
  if (last === 'token') return !BEFORE_OTHER_TOKEN.test(before)
  if (last === 'key') return before !== '' && !BEFORE_PUBLIC_KEY.test(before)
  if (last === 'phrase') return before === 'seed' || before === 'recovery'
  return last === 'keys' ? BEFORE_KEYS.test(before) : ['bearer', 'jwt', 'cookie', 'cookies'].includes(last)
}

function wordsOf(key: string): string[] {
  return key
    .split(/(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[^A-Za-z0-9]+/)
    .filter(Boolean)
    .map((word) => word.toLowerCase())
}

/** The tool's document without client secrets, tokens and the values of configuration keys that look secret. */
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
    // the format allows only a flag here; any other value may be a real refresh token
    if (plain === 'refreshtoken' && !/^(true|false|null)?$/i.test(asText(inner))) return undefined
    return withoutOAuthSecrets(inner)
  })
}

const VALUE_KEYWORDS = ['default', 'value', 'const', 'enum', 'example', 'examples']

/** A configuration schema without the value keywords of properties whose name looks secret, at any depth. */
function withoutDefaults(value: unknown, isSecret = false): unknown {
  if (Array.isArray(value)) return value.map((inner) => withoutDefaults(inner, isSecret))
  if (!isRecord(value)) return value
  return mapMembers(value, (inner, name) => {
    if (isSecret && VALUE_KEYWORDS.includes(name)) return undefined
    if (isSecretName(name)) return isRecord(inner) ? withoutDefaults(inner, true) : undefined
    return withoutDefaults(inner, isSecret)
  })
}

/**
 * The configuration in a Shinkai node's stored form, `[{"BasicConfig": {"key_name", "key_value", ...}}]` or the inner
 * objects alone, without secret values.
 */
function withoutStoredValues(config: unknown): unknown {
  if (Array.isArray(config)) return config.map(withoutStoredValues)
  if (!isRecord(config)) return config
  const { key_name: key } = config
  return mapMembers(config, (inner, name) => {
    if (name === 'key_value' && typeof key === 'string' && isSecretName(key)) return undefined
    return isSecretName(name) ? undefined : withoutStoredValues(inner)
  })
}

function storedKeys(config: unknown): string[] {
  if (Array.isArray(config)) return config.flatMap(storedKeys)
  if (!isRecord(config)) return []
  return typeof config.key_name === 'string' ? [config.key_name] : storedKeys(config.BasicConfig)
}

/** Maps every member; those that become `undefined` are left out. */
function mapMembers(of: JsonRecord, change: (value: unknown, name: string) => unknown): JsonRecord {
  const members = Object.entries(of).map(([name, value]) => [name, change(value, name)] as const)
  return Object.fromEntries(members.filter(([, value]) => value !== undefined))
}
