import { readFileSync } from 'node:fs'
import { ConfigError } from '../config-error.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Settings that hold a secret. `GATEPASS_MASTER_KEY` is not among them: it names its files itself (`file:/path`). */
const FILE_OF_SECRET = /^(GATEPASS_(?:DATABASE_URL|API_KEY|[A-Z0-9_]+_CLIENT_SECRET))_FILE$/

/**
 * The environment with each `GATEPASS_<NAME>_FILE` replaced by `GATEPASS_<NAME>` with the content of the file, so that
 * containers and services can get secrets as files. Throws `ConfigError` with all faults.
 */
export function withSecretFiles(environment: Environment): Environment {
  const faults: string[] = []
  const replaced: Record<string, string | undefined> = { ...environment }
  for (const [name, value] of Object.entries(environment)) {
    const setting = FILE_OF_SECRET.exec(name)?.[1]
    if (setting === undefined) continue
    delete replaced[name]
    const path = value?.trim()
    if (path === undefined || path === '') continue
    if (environment[setting]?.trim())
      faults.push(`${name} and ${setting} are both set: keep the one that is meant.`)
    else {
      const content = readText(path)
      if (content === undefined) faults.push(`${name} names a file that cannot be read: ${path}.`)
      else if (content === '') faults.push(`${name} names a file that is empty: ${path}.`)
      else replaced[setting] = content
    }
  }
  if (faults.length > 0) throw new ConfigError(faults)
  return replaced
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    return undefined
  }
}
