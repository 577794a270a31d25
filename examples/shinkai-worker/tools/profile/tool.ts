import { getAccessToken, getHomePath } from './shinkai-local-support.ts'

type CONFIG = { apiUrl: string; apiKey?: string }
type INPUTS = { field?: string }
type OUTPUT = { profile: unknown; kept: string }

export async function run(config: CONFIG, inputs: INPUTS): Promise<OUTPUT> {
  const token = await getAccessToken('GitHub')
  const headers: Record<string, string> = { authorization: `Bearer ${token}`, 'user-agent': 'shinkai-tool' }
  if (config.apiKey) headers['x-api-key'] = config.apiKey
  const response = await fetch(config.apiUrl, { headers })
  if (!response.ok) throw new Error(`The API answered ${response.status}.`)
  const profile: Record<string, unknown> = await response.json()
  const path = `${await getHomePath()}/profile.json`
  await Deno.writeTextFile(path, JSON.stringify(profile))
  console.log('The profile was read.')
  return { profile: inputs.field ? profile[inputs.field] : profile, kept: await Deno.readTextFile(path) }
}
