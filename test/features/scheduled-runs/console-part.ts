import type { ConsolePart } from '../../http/console-part.ts'
import type { World } from '../../http/world.ts'

let id = ''

async function scheduled({ call }: World): Promise<string> {
  const later = { tool_name: 'Demo.Echo', input: { text: 'x' }, run_at: '2099-01-01T00:00:00Z' }
  return (await call('POST', '/v1/tools/execute', later)).body.execution_id
}

export const consoleOfScheduledRuns: ConsolePart = {
  async prepare(world) {
    id = await scheduled(world)
  },
  pages: [
    [() => '/scheduled', 200],
    [() => `/runs/${id}`, 200],
  ],
  forms: [[() => `/runs/${id}/cancel`, {}, 'tool.cancelled']],
  endings: [
    {
      path: '/runs/:id/cancel',
      make: scheduled,
      list: '/runs/:id',
      said: 'It had already been canceled.',
    },
  ],
}
