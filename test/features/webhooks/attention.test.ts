import { expect, test } from 'vitest'
import { startWorld } from '../../http/world.ts'
import { type Page, UserAgent } from '../../user-agent.ts'

const textOf = ({ body }: Page) => body.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ')

test('a webhook that was disabled for its receiver needs attention, not one that an administrator disabled', async () => {
  await using world = await startWorld()
  const admin = new UserAgent()
  const overview = `${world.gatepass.url}/dashboard`
  await admin.submitForm(await admin.follow(overview), { key: world.gatepass.apiKey })
  const { broker } = world.gatepass
  const { id: projectId } = await broker.store.projects.ensure('default', 0)
  const { id } = (await world.call('POST', '/v1/webhooks', { url: 'https://gone.example.com/in' })).body
  const enable = (enabled: boolean) => world.call('PATCH', `/v1/webhooks/${id}`, { enabled })
  await enable(false)
  expect(textOf(await admin.get(overview))).not.toContain('gone.example.com')
  await enable(true)
  const entry = broker.audit.of(projectId, { action: 'webhook.disabled', subject: id, reason: 'gone' })
  await broker.store.webhooks.disable({ id, projectId, reason: 'gone' }, broker.now(), entry)
  expect(textOf(await admin.get(overview))).toContain(
    'The webhook to gone.example.com: It is disabled, since the receiver answered 410 (Gone).',
  )
})
