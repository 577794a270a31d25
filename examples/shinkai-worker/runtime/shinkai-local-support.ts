// The module that Shinkai provides next to a tool's code. `Deno` is Deno's or its replacement in Node.
declare const Deno: { readonly env: { get(name: string): string | undefined } }

interface Entry {
  readonly name: string
  readonly accessToken?: string
}

/** The user's token of the tool's own `oauth` entry with that name, in any case; never of another entry. */
export async function getAccessToken(providerName: string): Promise<string> {
  const entries: Entry[] = JSON.parse(Deno.env.get('SHINKAI_OAUTH') || '[]')
  const found =
    entries.find(({ name }) => name === providerName) ??
    entries.find(({ name }) => name.toLowerCase() === String(providerName).toLowerCase())
  if (found === undefined) throw new Error(`OAuth configuration not found for provider: ${providerName}`)
  return found.accessToken ?? ''
}

export async function getHomePath(): Promise<string> {
  return Deno.env.get('SHINKAI_HOME') || ''
}

export async function getMountPaths(): Promise<string[]> {
  return listOf('SHINKAI_MOUNT')
}

export async function getAssetPaths(): Promise<string[]> {
  return listOf('SHINKAI_ASSETS')
}

export async function getShinkaiNodeLocation(): Promise<string> {
  return Deno.env.get('SHINKAI_NODE_LOCATION') || ''
}

function listOf(name: string): string[] {
  const paths = (Deno.env.get(name) || '').split(',')
  return paths.map((path) => path.trim()).filter((path) => path !== '')
}
