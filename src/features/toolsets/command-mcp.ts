import type { Api } from '../../cli/api.ts'

export async function addressOfToolset(api: Api, id: string): Promise<string> {
  return (await api.call('getToolset', { params: { id } })).url
}
