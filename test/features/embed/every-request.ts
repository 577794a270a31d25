import type { UseOfFeature } from '../../store/every-request.ts'
import { UserAgent } from '../../user-agent.ts'

export const useConnectSessions: UseOfFeature = async ({ call, world, userId, providerId }) => {
  const allowed_origin = 'https://app.example'
  const need = { user_id: userId, provider_id: providerId, scopes: ['read', 'write'] }
  const begun = await call('POST', '/v1/connect_sessions', { ...need, allowed_origin })
  const page = { key: begun.session_token, headers: { origin: allowed_origin } }
  const browser = new UserAgent()
  const form = { session_token: begun.session_token }
  await browser.post(`${world.gatepass.url}/connect/session`, form, {
    headers: { origin: allowed_origin },
  })
  await browser.get(begun.url)
  const current = '/v1/connect_sessions/current'
  await call('POST', `${current}/cancel`, undefined, {}, page)
  await call('GET', `${current}/events`, undefined, {}, page)
  await call('POST', `${current}/restart`, undefined, {}, page)
  await call('GET', current, undefined, {}, page)
  await call('POST', `${current}/cancel`, undefined, {}, page)
}
