import { html } from 'hono/html'
import type { App, Text } from '../text.ts'

// The pages about MCP clients: whether one may act for the user, which do, and why a request of one is refused.

export const en = {
  title: 'Allow an application',
  wants: (client: App): Text => html`${client ?? 'An application'} wants to use your tools`,
  loggedInAs: (user: Text): Text => html`You are logged in as <strong>${user}</strong>`,
  may: 'What it may do',
  call: 'See your tools, and call them for you with the accounts that you have connected',
  see: 'See your tools, without calling them',
  allTools: 'All tools that this server has for you',
  toolset: (toolset: Text): Text => html`Only the tools of the toolset <strong>${toolset}</strong>`,
  whoAsks: 'Who asks',
  facts: { application: 'Application', identity: 'Identity', leadsTo: 'Leads back to' },
  unverified: 'Unverified: it registered itself, under a name of its choice',
  verified: (host: Text): Text => html`Verified: <strong>${host}</strong>`,
  program: (host: Text): Text => html`A program on this computer (${host})`,
  installed: (scheme: Text): Text => html`An application on this device (${scheme})`,
  warnOfHost: (host: Text): Text =>
    html`Allow this only if you have just added this server to an application of <strong>${host}</strong> yourself.`,
  warnOfProgram:
    'Any program on this computer can receive this access, under any name. Allow it only if you have just started the connection yourself. If someone sent you a link to this page, choose Cancel.',
  allow: 'Allow',
  logInAsAnother: 'Log in as another user',
  endLater: (page: Text): Text =>
    html`You can end the access at any time at ${page}. The application never sees the passwords or access keys of your accounts.`,
  none: 'No application is connected.',
  refusals: {
    session_not_found: {
      title: 'This login has expired',
      happened: 'It was started too long ago or in another browser, or it is over already.',
    },
    temporarily_unavailable: {
      title: 'Too many logins are under way',
      happened: 'Wait a moment, then try again.',
    },
    too_many_clients: {
      title: 'You have allowed too many applications',
      happened: 'End the access of some that you do not use any more, at /me/clients.',
    },
    invalid_client: {
      title: 'This application is not known here',
      happened: 'It was never registered here, or its registration has expired.',
    },
    client_document: {
      title: 'This application cannot be identified',
      happened: 'Its description could not be read.',
    },
    invalid_redirect_uri: {
      title: 'The application’s request cannot be accepted',
      happened: 'The application asks to be sent to an address that it has not registered.',
    },
    other: {
      title: 'The application’s request cannot be accepted',
      happened: 'The application sent a request that is not valid, so you were not sent back to it.',
    },
  },
  refusedTodo:
    'Go back to the application and connect again. If it happens again, remove this server from the application and add it once more.',
  unreadAt: (host: Text): Text =>
    html`The application describes itself at <strong>${host}</strong>, and this server could not read that description.`,
  unreadTodo: (): Text =>
    html`Try again in a minute. If it happens again, tell those who run this server: it may have no access to that address. With the setting <code>GATEPASS_MCP_<wbr>CLIENT_<wbr>DOCUMENTS=off</code> applications register themselves instead; then remove this server from the application and add it once more.`,
  wantsYouAt: (host: Text): Text => html`The application wants you to go to <strong>${host}</strong>.`,
  goThere: 'Go there, if you know it',
}
