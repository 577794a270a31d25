import type { Feature } from '../feature.ts'

/** The Open Execution Protocol: its servers as workers, and the tools in its dialect. */
export const oxp: Feature = {
  operations: () => import('./operations.ts'),
  toolFormat: async () => (await import('./wire-tools.ts')).oxpFormat,
  workers: async () => ({
    type: 'oxp',
    backend: async () => (await import('./backend.ts')).oxpBackend,
    wire: async () => (await import('./wire-worker.ts')).oxpWorker,
    form: {
      name: 'OXP server',
      what: 'A server of the Open eXecution Protocol.',
      fields: {
        uri: {
          label: 'Address',
          type: 'url',
          placeholder: 'https://oxp.example.com',
          hint: 'Where /tools and /tools/call are.',
        },
        api_key: 'API key',
        jwt_secret: 'JWT secret',
      },
    },
    option: { description: 'an OXP server', address: 'uri', secret: 'api_key' },
  }),
}
