import { afterAll, beforeAll, expect, test } from 'vitest'
import type { AnyJson } from '../../any-json.ts'
import { connect } from '../../mcp/clients.ts'
import { type PacksWorld, startPacksWorld } from './simulated-world.ts'

// A scripted model does ten everyday jobs over `/mcp` with packs alone. Every id, address and link comes from an earlier answer,
// so a job fails if an answer lacks what the next tool needs. The user consents and approves by the links that the client shows.

const PACKS = [
  ...['gmail', 'google-calendar', 'google-contacts', 'google-docs', 'google-drive', 'slack', 'github'],
  ...['trello', 'linear', 'todoist', 'notion', 'zendesk'],
]

let world: PacksWorld
let users = 0
beforeAll(async () => {
  world = await startPacksWorld(PACKS)
})
afterAll(() => world[Symbol.asyncDispose]())

interface Job {
  call(tool: string, input: object): Promise<AnyJson>
  /** Calls that a person approved. */
  approved: number
}

/** Runs the job as a new user, with a client that opens links. Returns the body of the last request to a service. */
async function doJob(job: (model: Job) => Promise<void>): Promise<AnyJson> {
  const user = `user-${++users}`
  const model: Job = {
    approved: 0,
    async call(tool, input) {
      const result = await connected.client.callTool({ name: tool, arguments: { ...input } })
      const [content] = result.content as { text: string }[]
      if (result.isError) throw new Error(`${tool}: ${content?.text}`)
      return JSON.parse(content?.text ?? 'null')
    },
  }
  await using connected = await connect(world, {
    era: 'modern',
    user,
    capabilities: { elicitation: { url: {} } },
  })
  connected.client.setRequestHandler('elicitation/create', async ({ params }) => {
    const { url } = params as unknown as { url: string }
    if (url.includes('/approve/')) {
      model.approved++
      await world.approve(url, user)
    } else await world.consent(url)
    return { action: 'accept' as const }
  })
  await job(model)
  const body = world.served.at(-1)?.request.body ?? ''
  return body.startsWith('{') ? JSON.parse(body) : body
}

const lastUrl = () => world.served.at(-1)?.request.url.href ?? ''

test('1. answer a mail', async () => {
  const sent = await doJob(async (model) => {
    const { messages } = await model.call('Gmail_SearchMessages', { query: 'is:unread from:ada@example.com' })
    const mail = await model.call('Gmail_GetMessage', { message_id: messages[0].id })
    const { headers } = mail.payload
    const [, from = headers.From] = /<(.+)>/.exec(headers.From) ?? []
    await model.call('Gmail_ReplyToMessage', {
      thread_id: mail.threadId,
      in_reply_to: headers['Message-ID'],
      to: [from],
      subject: `Re: ${headers.Subject}`,
      text: 'Ten is fine.',
    })
    expect(model.approved).toBe(1)
  })
  const mail = Buffer.from(sent.raw, 'base64url').toString()
  expect(sent.threadId).toMatch(/./)
  for (const line of [
    'To: ada@example.com',
    'Subject: Re: Plan for Monday',
    'In-Reply-To: <plan-17@example.com>',
  ])
    expect(mail).toContain(line)
})

test('2. book a meeting with somebody of the contacts, where the calendar is free', async () => {
  const sent = await doJob(async (model) => {
    const { results } = await model.call('GoogleContacts_SearchContacts', { query: 'Ada' })
    const guest = results[0].person.emailAddresses[0].value
    const { items } = await model.call('GoogleCalendar_ListCalendars', {})
    const own = items.find(({ primary }: AnyJson) => primary)
    const day = { from: '2026-11-30T08:00:00+01:00', to: '2026-11-30T18:00:00+01:00' }
    const { calendars } = await model.call('GoogleCalendar_FindBusyTimes', { ...day, calendars: [own.id] })
    const start = Object.values<AnyJson>(calendars)[0].busy[0].end
    const end = new Date(Date.parse(start) + 30 * 60_000).toISOString()
    await model.call('GoogleCalendar_CreateEvent', {
      ...{ calendar_id: own.id, title: 'Planning', attendees: [guest], start, end },
    })
    expect(model.approved).toBe(1)
  })
  expect(sent).toMatchObject({
    summary: 'Planning',
    start: { dateTime: '2026-11-30T10:00:00Z' },
    attendees: [{ email: 'ada@example.com' }],
  })
})

test('3. file an issue from a chat message, and say so in its thread', async () => {
  const sent = await doJob(async (model) => {
    const { messages } = await model.call('Slack_SearchMessages', { query: 'plan' })
    const [found] = messages.matches
    const { items } = await model.call('GitHub_ListMyRepositories', {})
    const [owner, repo] = items[0].full_name.split('/')
    const issue = await model.call('GitHub_CreateIssue', {
      ...{ owner, repo, title: found.text, body: `From ${found.permalink}` },
    })
    await model.call('Slack_SendMessage', {
      channel: found.channel.id,
      thread_ts: found.ts,
      text: `Filed as ${issue.html_url}`,
    })
    expect(model.approved).toBe(2)
  })
  expect(sent).toMatchObject({
    channel: 'C024BE91L',
    thread_ts: '1764320400.000200',
    text: expect.stringMatching(/^Filed as https:\/\/github\.com\/example\/shop\/issues\/\d+$/),
  })
})

test('4. summarise a document, and share the summary', async () => {
  const sent = await doJob(async (model) => {
    const { files } = await model.call('GoogleDrive_SearchFiles', { query: "name contains 'plan'" })
    const document = files.find(({ mimeType }: AnyJson) => mimeType.endsWith('document'))
    const { title, body } = await model.call('GoogleDocs_GetDocument', { document_id: document.id })
    const made = await model.call('GoogleDocs_CreateDocument', { title: `Summary: ${title}` })
    await model.call('GoogleDocs_InsertText', { document_id: made.documentId, text: body.slice(0, 5) })
    await model.call('GoogleDrive_ShareFile', {
      ...{ file_id: made.documentId, type: 'user', role: 'reader', email: 'bob@example.com' },
    })
    expect(model.approved).toBe(1)
  })
  expect(sent).toMatchObject({ role: 'reader', emailAddress: 'bob@example.com' })
  expect(lastUrl()).toMatch(/\/files\/[\w-]+\/permissions/)
})

test('5. move a card to the list Done', async () => {
  await doJob(async (model) => {
    const { items: boards } = await model.call('Trello_ListMyBoards', {})
    const { items: lists } = await model.call('Trello_ListLists', { board_id: boards[0].id })
    const [from, to] = ['To do', 'Done'].map((name) => lists.find((list: AnyJson) => list.name === name))
    const { items: cards } = await model.call('Trello_ListCards', { list_id: from.id })
    const moved = await model.call('Trello_UpdateCard', { card_id: cards[0].id, list_id: to.id, done: true })
    expect(moved.idList).toBe(to.id)
  })
})

test('6. move an issue on to Done', async () => {
  const sent = await doJob(async (model) => {
    const { data: teams } = await model.call('Linear_ListTeams', {})
    const { data: states } = await model.call('Linear_ListStates', { team_id: teams.teams.nodes[0].id })
    const done = states.workflowStates.nodes.find(({ type }: AnyJson) => type === 'completed')
    const { data: found } = await model.call('Linear_SearchIssues', { query: 'checkout' })
    const { data: changed } = await model.call('Linear_UpdateIssue', {
      issue: found.searchIssues.nodes[0].id,
      state_id: done.id,
    })
    expect(changed.issueUpdate.issue.state.name).toBe(done.name)
  })
  expect(JSON.stringify(sent.variables)).toContain('00000022-')
})

test('7. make tasks of the open points of a page', async () => {
  const sent = await doJob(async (model) => {
    const { results } = await model.call('Notion_Search', { query: 'launch' })
    const page = results.find(({ object }: AnyJson) => object === 'page')
    const { markdown } = await model.call('Notion_GetPageMarkdown', { page_id: page.id })
    const open = [...markdown.matchAll(/^- \[ \] (.+)$/gm)].map(([, text]) => text)
    const { results: projects } = await model.call('Todoist_ListProjects', {})
    expect(open.length).toBeGreaterThan(0)
    for (const content of open)
      await model.call('Todoist_CreateTask', { content, project_id: projects[0].id })
  })
  expect(sent).toMatchObject({ content: 'Write the announcement', project_id: '6XGgm6PHrGgMpCF2' })
})

test('8. answer a customer', async () => {
  await doJob(async (model) => {
    const { tickets } = await model.call('Zendesk_ListTickets', {})
    const open = tickets.find(({ status }: AnyJson) => status === 'open')
    const answered = await model.call('Zendesk_AddTicketComment', {
      ...{ ticket_id: open.id, text: 'The money is on its way.', public: true, status: 'solved' },
    })
    expect([answered.ticket.status, model.approved]).toEqual(['solved', 1])
  })
})

test('9. move a meeting to another time', async () => {
  const sent = await doJob(async (model) => {
    const { items: calendars } = await model.call('GoogleCalendar_ListCalendars', {})
    const { id: calendar_id } = calendars.find(({ primary }: AnyJson) => primary)
    const { items } = await model.call('GoogleCalendar_ListEvents', { calendar_id })
    const later = (time: string) => new Date(Date.parse(time) + 60 * 60_000).toISOString()
    const [event] = items
    await model.call('GoogleCalendar_UpdateEvent', {
      ...{ calendar_id, event_id: event.id },
      ...{ start: later(event.start.dateTime), end: later(event.end.dateTime) },
    })
    expect(model.approved).toBe(1)
  })
  expect(sent.start.dateTime).toBe('2026-11-30T10:00:00.000Z')
})

test('10. tell a channel which issues are open', async () => {
  const sent = await doJob(async (model) => {
    const { items: repositories } = await model.call('GitHub_ListMyRepositories', {})
    const [owner, repo] = repositories[0].full_name.split('/')
    const { items } = await model.call('GitHub_ListIssues', { owner, repo, state: 'open' })
    const { channels } = await model.call('Slack_ListConversations', {})
    const channel = channels.find(({ name }: AnyJson) => name === 'launch')
    const lines = items.map(({ html_url, title }: AnyJson) => `<${html_url}|${title}>`)
    await model.call('Slack_SendMessage', { channel: channel.id, text: lines.join('\n') })
    expect(model.approved).toBe(1)
  })
  expect(sent.text.split('\n')).toHaveLength(2)
})
