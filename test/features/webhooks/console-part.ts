import { createWebhook, updateWebhook } from '../../../src/features/webhooks/operations.ts'
import type { ConsolePart } from '../../http/console-part.ts'
import { webhook } from './fixtures.ts'

const URL_OF_HOOK = 'https://hooks.example.com/gatepass'
let id = ''

export const consoleOfWebhooks: ConsolePart = {
  async prepare({ call }) {
    id = (await call('POST', '/v1/webhooks', { url: URL_OF_HOOK })).body.id
  },
  pages: [
    [() => '/webhooks', 200],
    [() => `/webhooks/${id}`, 200],
    [() => `/webhooks/${id}?state=failed`, 200],
  ],
  forms: [
    [
      () => '/webhooks',
      { url: 'https://hooks.example.com/other', types: 'connection.created' },
      'webhook.added',
    ],
    [() => `/webhooks/${id}/rotate`, {}, 'webhook.secret_rotated'],
    [() => `/webhooks/${id}/replay`, { days: '1', only_failed: 'on' }, 'webhook.replayed'],
    [() => `/webhooks/${id}/enabled`, { enabled: 'false' }, 'webhook.changed'],
    [() => `/webhooks/${id}/delete`, {}, 'webhook.deleted'],
  ],
  bodies: [
    ['createWebhook', { page: () => '/webhooks', body: createWebhook.body, without: ['enabled'] }],
    [
      'updateWebhook',
      {
        page: () => `/webhooks/${id}`,
        action: () => `/webhooks/${id}/change`,
        body: updateWebhook.body,
        without: ['enabled'],
      },
    ],
  ],
  endings: [
    {
      path: '/webhooks/:id/delete',
      make: async ({ call }) =>
        (await call('POST', '/v1/webhooks', { url: 'https://hooks.example.com/twice' })).body.id,
      list: '/webhooks',
      said: 'The webhook had already been deleted.',
    },
  ],
  confirmed: [
    ['/webhooks/none/enabled', { enabled: 'true' }],
    ['/webhooks', { url: 'https://hooks.example.com/' }],
  ],
  unconfirmed: [['/webhooks/none/enabled', { enabled: 'false' }, 404]],
  longLists: {
    paths: ['/webhooks/wh_of_lists', '/webhooks/wh_of_lists?state=waiting'],
    async begin({ gatepass }) {
      const { store, now } = gatepass.broker
      const { id: projectId } = await store.projects.ensure('default', 0)
      // probed later than the test ends, so nothing is sent
      const probeAt = now() + 1e6
      await store.webhooks.add(webhook({ id: 'wh_of_lists', projectId, failures: 9, probeAt }), 10)
    },
  },
}
