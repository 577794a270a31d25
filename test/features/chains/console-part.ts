import type { ConsolePart } from '../../http/console-part.ts'
import type { World } from '../../http/world.ts'

let id = ''

/** A chain that waits for a user's consent. */
async function paused({ call }: World): Promise<string> {
  const steps = [{ toolId: 'Demo.EchoWithToken', args: { text: 'x' } }]
  return (await call('POST', '/v1/tools/run_chain', { user_id: 'new', steps })).body.resume
}

export const consoleOfChains: ConsolePart = {
  async prepare(world) {
    id = await paused(world)
  },
  pages: [
    [() => '/chains', 200],
    [() => `/chains/${id}`, 200],
  ],
  forms: [[() => `/chains/${id}/cancel`, {}, 'tool.cancelled']],
  endings: [
    {
      path: '/chains/:id/cancel',
      make: paused,
      list: '/chains',
      said: 'The chain :id had already been canceled.',
    },
  ],
}
