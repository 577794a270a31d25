import type { UseOfFeature } from '../../store/every-request.ts'

export const useToolsets: UseOfFeature = async ({ call, name, run }) => {
  const toolset = { id: `toolset-${name}` }
  await call('POST', '/v1/toolsets', { ...toolset, tools: [run.tool_name], names: 'bare' })
  await call('GET', '/v1/toolsets')
  await call('GET', '/v1/toolsets/{id}', undefined, toolset)
  await call('PATCH', '/v1/toolsets/{id}', { instructions: 'changed' }, toolset)
  await call('GET', '/v1/toolsets/{id}/tools', undefined, toolset)
  await call('DELETE', '/v1/toolsets/{id}', undefined, toolset)
}
