import type { ConsolePart } from '../../http/console-part.ts'

const CLIENT = { provider: 'todoist', client_id: 'client', client_secret: 'secret' }

export const consoleOfPacks: ConsolePart = {
  prepare: ({ call }) =>
    call('POST', '/v1/packs', { id: 'todoist', tools: ['ListTasks', 'DeleteTask'], approvals: false }),
  pages: [
    [() => '/packs', 200],
    [() => '/packs?search=mail', 200],
    [() => '/packs/gmail', 200],
    [() => '/packs/todoist', 200],
  ],
  forms: [
    [() => '/packs/spotify', { tool: 'Search', approvals: 'none' }, 'worker.accepted'],
    [() => '/packs/todoist/client', CLIENT, 'provider.changed'],
    [() => '/packs/todoist/update', {}, 'worker.changed'],
  ],
  faults: [
    ['/packs/gmail', { tool: 'SendMessage', approvals: 'group', group: '' }, 'approvals'],
    ['/packs/gmail', { tool: 'SendMesage', approvals: 'none' }, 'has no tool'],
    ['/packs/gmail', { approvals: 'none' }, 'tools must have at least 1 item'],
  ],
  confirmed: [
    ['/packs/none', { tool: 'X' }],
    ['/packs/none/client', CLIENT],
    ['/packs/none/update', {}],
  ],
}
