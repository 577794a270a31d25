import { z } from '@hono/zod-openapi'
import { idText, plainText, userIdText } from './limits.ts'

/** What every way to run a tool takes besides the tool and its arguments. */
export const callMembers = {
  user_id: userIdText.nullish().openapi({ description: 'For whom; needed by tools that act for a user' }),
  account: userIdText
    .nullish()
    .openapi({ description: "Which of the user's accounts: a connection's id, an account's id or name" }),
  accounts: z
    .record(idText, userIdText)
    .nullish()
    .openapi({ description: 'The same at each of several providers, by the ids of their entries' }),
  next_uri: z.string().max(2000).nullish(),
  metadata: z
    .record(idText, plainText(2000))
    .nullish()
    .openapi({ description: 'For tools that declare it; a tool gets only what it declares' }),
  keep_content: z.boolean().nullish().openapi({
    description: 'Keep what went in and what came out in the execution history, which has neither otherwise',
  }),
}

const schema = z.object(callMembers).partial()

/** As the tools know it. */
export function readCall(body: z.output<typeof schema>) {
  const { user_id, account, accounts, next_uri, metadata, keep_content } = body
  return {
    ...(user_id != null && { userId: user_id }),
    ...(account != null && { account }),
    ...(accounts != null && { accounts }),
    ...(next_uri != null && { nextUri: next_uri }),
    ...(metadata != null && { metadata }),
    ...(keep_content != null && { keepContent: keep_content }),
  }
}
