// How each client is made, and the call of it that does what a tool does with the arguments `a`. Written after the clients' own
// documentation, and not after the tools, which are compared with what the clients send.

/** The value of each member that is given. */
const given = (members) =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))

const google = (name, version, packageName, calls) => ({
  package: `@googleapis/${packageName}`,
  compare: 'exact',
  ignoreQuery: ['key'],
  make: (library, url) => library[name]({ version, auth: 'k', rootUrl: `${url}/`, retry: false }),
  calls,
})

const mail = ({ to, subject, text }) =>
  Buffer.from(
    `To: ${to.join(', ')}\r\nSubject: ${subject}\r\nMIME-Version: 1.0\r\nContent-Type: text/plain; charset=UTF-8\r\nContent-Transfer-Encoding: base64\r\n\r\n${Buffer.from(text).toString('base64')}`,
  ).toString('base64url')
const draft = (a) => ({ message: given({ raw: mail(a), threadId: a.thread_id }) })

const PERSON = 'names,emailAddresses,phoneNumbers,organizations'
const DRIVES = { supportsAllDrives: true }

export const SERVICES = {
  gmail: google('gmail', 'v1', 'gmail', {
    CreateDraft: (c, a) => c.users.drafts.create({ userId: 'me', requestBody: draft(a) }),
    UpdateDraft: (c, a) => c.users.drafts.update({ userId: 'me', id: a.draft_id, requestBody: draft(a) }),
    SendDraft: (c, a) => c.users.drafts.send({ userId: 'me', requestBody: { id: a.draft_id } }),
    DeleteDraft: (c, a) => c.users.drafts.delete({ userId: 'me', id: a.draft_id }),
    SearchMessages: (c, a) =>
      c.users.messages.list(
        given({
          userId: 'me',
          q: a.query,
          labelIds: a.label_ids,
          maxResults: a.limit,
          pageToken: a.page_token,
        }),
      ),
    GetMessage: (c, a) =>
      c.users.messages.get(
        given({ userId: 'me', id: a.message_id, format: a.format, metadataHeaders: a.metadata_headers }),
      ),
    GetThread: (c, a) => c.users.threads.get(given({ userId: 'me', id: a.thread_id, format: a.format })),
    ChangeManyMessageLabels: (c, a) =>
      c.users.messages.batchModify({
        userId: 'me',
        requestBody: given({
          ids: a.message_ids,
          addLabelIds: a.add_labels,
          removeLabelIds: a.remove_labels,
        }),
      }),
    GetAttachment: (c, a) =>
      c.users.messages.attachments.get({ userId: 'me', messageId: a.message_id, id: a.attachment_id }),
  }),
  'google-calendar': google('calendar', 'v3', 'calendar', {
    ListEvents: (c, a) =>
      c.events.list(
        given({
          calendarId: a.calendar_id,
          timeMin: a.from,
          timeMax: a.to,
          q: a.query,
          maxResults: a.limit,
          singleEvents: true,
          orderBy: 'startTime',
        }),
      ),
    UpdateEvent: (c, a) =>
      c.events.patch({
        calendarId: a.calendar_id,
        eventId: a.event_id,
        requestBody: given({ summary: a.title }),
      }),
    QuickAddEvent: (c, a) => c.events.quickAdd({ calendarId: a.calendar_id, text: a.text }),
    FindBusyTimes: (c, a) =>
      c.freebusy.query({
        requestBody: { timeMin: a.from, timeMax: a.to, items: a.calendars.map((id) => ({ id })) },
      }),
  }),
  'google-drive': google('drive', 'v3', 'drive', {
    ExportFile: (c, a) => c.files.export({ fileId: a.file_id, mimeType: a.format }),
    DownloadFile: (c, a) => c.files.get({ fileId: a.file_id, alt: 'media', ...DRIVES }),
    CreateFolder: (c, a) =>
      c.files.create({
        ...DRIVES,
        fields: 'id,name,webViewLink',
        requestBody: given({
          name: a.name,
          parents: a.parent_ids,
          mimeType: 'application/vnd.google-apps.folder',
        }),
      }),
    MoveFile: (c, a) =>
      c.files.update({
        ...DRIVES,
        fileId: a.file_id,
        addParents: a.to_folder_id,
        removeParents: a.from_folder_id,
        fields: 'id,name,parents',
        requestBody: {},
      }),
    ShareFile: (c, a) =>
      c.permissions.create({
        ...DRIVES,
        fileId: a.file_id,
        sendNotificationEmail: a.notify,
        fields: 'id,type,role,emailAddress',
        requestBody: given({ type: a.type, role: a.role, emailAddress: a.email }),
      }),
  }),
  'google-docs': google('docs', 'v1', 'docs', {
    InsertText: (c, a) =>
      c.documents.batchUpdate({
        documentId: a.document_id,
        requestBody: { requests: [{ insertText: { location: { index: a.index }, text: a.text } }] },
      }),
    ReplaceText: (c, a) =>
      c.documents.batchUpdate({
        documentId: a.document_id,
        requestBody: {
          requests: [
            {
              replaceAllText: {
                containsText: { text: a.find, matchCase: a.match_case },
                replaceText: a.replace,
              },
            },
          ],
        },
      }),
  }),
  'google-sheets': google('sheets', 'v4', 'sheets', {
    ReadRange: (c, a) =>
      c.spreadsheets.values.get({
        spreadsheetId: a.spreadsheet_id,
        range: a.range,
        valueRenderOption: a.values_as,
      }),
    ReadRanges: (c, a) =>
      c.spreadsheets.values.batchGet({ spreadsheetId: a.spreadsheet_id, ranges: a.ranges }),
    AppendRows: (c, a) =>
      c.spreadsheets.values.append({
        spreadsheetId: a.spreadsheet_id,
        range: a.range,
        valueInputOption: a.input_as,
        insertDataOption: a.insert,
        requestBody: { values: a.values },
      }),
    CreateSpreadsheet: (c, a) =>
      c.spreadsheets.create({
        requestBody: {
          properties: { title: a.title },
          sheets: a.sheet_titles.map((title) => ({ properties: { title } })),
        },
      }),
    DeleteRows: (c, a) =>
      c.spreadsheets.batchUpdate({
        spreadsheetId: a.spreadsheet_id,
        requestBody: {
          requests: [
            {
              deleteDimension: {
                range: {
                  sheetId: a.sheet_id,
                  dimension: 'ROWS',
                  startIndex: a.first,
                  endIndex: a.after_last,
                },
              },
            },
          ],
        },
      }),
  }),
  'google-contacts': google('people', 'v1', 'people', {
    SearchContacts: (c, a) =>
      c.people.searchContacts({ query: a.query, pageSize: a.limit, readMask: PERSON }),
    CreateContact: (c, a) =>
      c.people.createContact({
        personFields: 'names,emailAddresses,phoneNumbers',
        requestBody: {
          names: [{ givenName: a.given_name, familyName: a.family_name }],
          emailAddresses: [{ value: a.email }],
        },
      }),
    GetContact: (c, a) =>
      c.people.get({
        resourceName: `people/${a.person_id}`,
        personFields: `${PERSON},addresses,birthdays,biographies,metadata`,
      }),
  }),
  'google-tasks': google('tasks', 'v1', 'tasks', {
    ListTasks: (c, a) =>
      c.tasks.list({
        tasklist: a.list_id,
        showCompleted: a.completed,
        showHidden: a.hidden,
        maxResults: a.limit,
      }),
    CreateTask: (c, a) =>
      c.tasks.insert({ tasklist: a.list_id, parent: a.parent_task_id, requestBody: { title: a.title } }),
  }),
  youtube: google('youtube', 'v3', 'youtube', {
    SearchVideos: (c, a) =>
      c.search.list({ part: ['snippet'], q: a.query, type: [a.type], maxResults: a.limit }),
    AddToPlaylist: (c, a) =>
      c.playlistItems.insert({
        part: ['snippet'],
        requestBody: {
          snippet: {
            playlistId: a.playlist_id,
            resourceId: { kind: 'youtube#video', videoId: a.video_id },
          },
        },
      }),
  }),
  github: {
    package: '@octokit/request',
    compare: 'exact',
    make: (library, url) => library.request.defaults({ baseUrl: url }),
    calls: {
      CreateIssue: (c, a) => c('POST /repos/{owner}/{repo}/issues', a),
      UpdateIssue: (c, { number, ...a }) =>
        c('PATCH /repos/{owner}/{repo}/issues/{issue_number}', { ...a, issue_number: number }),
      SearchCode: (c, a) => c('GET /search/code', { q: a.query }),
      GetFile: (c, a) => c('GET /repos/{owner}/{repo}/contents/{path}', a),
      CreateBranch: (c, { branch, ...a }) =>
        c('POST /repos/{owner}/{repo}/git/refs', { ...a, ref: `refs/heads/${branch}` }),
      StarRepository: (c, a) => c('PUT /user/starred/{owner}/{repo}', a),
      AddLabels: (c, { number, ...a }) =>
        c('POST /repos/{owner}/{repo}/issues/{issue_number}/labels', { ...a, issue_number: number }),
      ListCommits: (c, { limit, ...a }) => c('GET /repos/{owner}/{repo}/commits', { ...a, per_page: limit }),
    },
  },
  slack: {
    package: '@slack/web-api',
    compare: 'slack',
    make: (library, url) =>
      new library.WebClient('xoxp-test', {
        slackApiUrl: `${url}/api/`,
        retryConfig: { retries: 0 },
        logLevel: 'error',
      }),
    calls: {
      SendMessage: (c, a) => c.chat.postMessage(a),
      UpdateMessage: (c, a) => c.chat.update(a),
      ListConversations: (c, a) => c.conversations.list({ ...a, types: a.types.join() }),
      OpenConversation: (c, a) => c.conversations.open({ users: a.users.join() }),
      InviteToChannel: (c, a) => c.conversations.invite({ ...a, users: a.users.join() }),
      AddReaction: (c, a) => c.reactions.add(a),
      FindUserByEmail: (c, a) => c.users.lookupByEmail(a),
    },
  },
  notion: {
    package: '@notionhq/client',
    compare: 'exact',
    make: (library, url) => new library.Client({ auth: 'secret', baseUrl: url, retry: false }),
    calls: {
      Search: (c, a) =>
        c.search({
          query: a.query,
          page_size: a.limit,
          filter: { property: 'object', value: a.kind },
        }),
      CreateRow: (c, a) =>
        c.pages.create({
          parent: { type: 'data_source_id', data_source_id: a.data_source_id },
          properties: a.properties,
        }),
      TrashPage: (c, a) => c.pages.update({ page_id: a.page_id, in_trash: true }),
      QueryDataSource: (c, a) =>
        c.dataSources.query({ data_source_id: a.data_source_id, filter: a.filter, page_size: a.limit }),
      ListBlocks: (c, a) =>
        c.blocks.children.list({ block_id: a.block_id, start_cursor: a.cursor, page_size: a.limit }),
      AddComment: (c, a) =>
        c.comments.create({
          parent: { page_id: a.page_id },
          rich_text: [{ type: 'text', text: { content: a.text } }],
        }),
      DeleteBlock: (c, a) => c.blocks.delete({ block_id: a.block_id }),
    },
  },
}
