import type { UseOfFeature } from '../../store/every-request.ts'

export const useBranding: UseOfFeature = async ({ call, world, name }) => {
  const path = '/v1/admin/projects/{id}/branding'
  const ofProject = { id: 'default' }
  await call('GET', path, undefined, ofProject)
  await call('PATCH', path, { app_name: `Acme ${name}` }, ofProject)
  const claimed = await call('PATCH', path, { domain: `${name.toLowerCase()}.acme.example` }, ofProject)
  const values = [claimed.domain.challenge.value]
  Object.assign(world.gatepass.broker.outgoing, { lookUpTxt: async () => ({ outcome: 'found', values }) })
  await call('POST', `${path}/domain/verify`, undefined, ofProject)
  await call('PATCH', path, { domain: null }, ofProject)
}
