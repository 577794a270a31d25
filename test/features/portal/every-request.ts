import { expect } from 'vitest'
import type { UseOfFeature } from '../../store/every-request.ts'
import { UserAgent } from '../../user-agent.ts'

export const usePortal: UseOfFeature = async ({ call, world, userId }) => {
  const link = await call(
    'POST',
    '/v1/users/{user_id}/portal',
    { may: ['view', 'export'] },
    { user_id: userId },
  )
  const own = new UserAgent()
  const mine = await own.submitForm(await own.follow(link.url))
  expect([mine.status, new URL(mine.url).pathname]).toEqual([200, '/me'])
  expect((await own.get(`${world.gatepass.url}/me/data`)).status).toBe(200)
}
