import { html } from 'hono/html'
import { plural } from '../plural.ts'
import type { App, Text } from '../text.ts'

// The user's own page: what is connected, and how to end it.

export const en = {
  title: 'Your connected accounts',
  intro: (app: App): Text =>
    html`Tools of ${app ?? 'your application'} use these accounts for you. You can end that here at any time.`,
  youAre: (user: Text, app: App): Text =>
    app === undefined
      ? html`You are <strong>${user}</strong>.`
      : html`You are <strong>${user}</strong> at ${app}.`,
  logout: 'Log out',
  backTo: (host: Text): Text => html`Back to ${host}`,
  none: 'No account is connected.',
  isDefault: 'Used by default',
  needsYou: 'Needs you',
  reasons: {
    refresh_refused: (provider: Text): Text => html`${provider} no longer accepts this access.`,
    consent_withdrawn: (provider: Text): Text => html`The access was withdrawn at ${provider}.`,
    token_expired: 'The access has expired.',
    refresh_token_expired: 'The access has expired, because it was not used for a long time.',
    provider_changed: (provider: Text): Text => html`The settings for ${provider} were changed here.`,
    refresh_outcome_lost: (provider: Text): Text =>
      html`An answer of ${provider} was lost, and with it the access.`,
    account_changed: (provider: Text): Text => html`${provider} answered for another account.`,
    unreadable: 'The stored access cannot be read any more.',
  },
  untilReconnected: 'Tools cannot use this account until you reconnect it.',
  may: 'What tools may do',
  more: (count: number): string => plural('en', count, { one: '# more', other: '# more' }),
  defaults: (provider: Text): Text => html`What ${provider} allows every application`,
  undescribed: (scope: Text, provider: Text): Text => html`Use ${scope}, as ${provider} describes it`,
  connectedOn: 'Connected',
  lastUsed: 'Last used',
  never: 'Not yet',
  usedBy: 'Used by',
  moreTools: (count: number): string =>
    plural('en', count, { one: 'and # more tool', other: 'and # more tools' }),
  unused: (day: string): Text => html`Not used since ${day}. If you do not need it any more, disconnect it.`,
  removedProvider: 'A service that was removed',
  reconnect: 'Reconnect',
  makeDefault: 'Use by default',
  addAccount: (provider: Text): Text => html`Add another ${provider} account`,
  disconnect: 'Disconnect',
  showMore: 'Show more accounts',
  applications: 'Applications that act for you',
  applicationsIntro: 'These programs see your tools over MCP and call them for you.',
  unverified: 'not verified',
  applicationMay: {
    call: 'It may see and call your tools.',
    see: 'It may see your tools.',
    nothing: 'It has no access until you allow it again: it asks you when it connects.',
  },
  allowedOn: 'Allowed',
  endAccess: 'End access',
  removeApplication: 'Remove',
  endAllAccess: 'End the access of all',
  confirmDisconnect: (provider: Text): Text => html`Disconnect ${provider}?`,
  confirmText: (provider: Text, app: App): Text =>
    html`Tools of ${app ?? 'your application'} can no longer use this account. What is stored of the access is deleted here, and ${provider} is asked to end it too.`,
  keep: 'Keep it',
  notes: {
    disconnected: (provider: Text): Text =>
      html`${provider} is disconnected. The access has ended here and there.`,
    disconnected_here: (provider: Text): Text =>
      html`The access is deleted here. ${provider} cannot be told to end it, so end it in your account there too.`,
    disconnect_unconfirmed: (provider: Text): Text =>
      html`The access is deleted here. ${provider} did not confirm its end, so end it in your account there too.`,
    disconnected_before:
      'This account is no longer connected here. Look in your account at the service whether the access has ended there too.',
    made_default: (provider: Text): Text => html`This ${provider} account is used by default from now on.`,
    client_ended: (application: Text): Text => html`${application} can no longer act for you.`,
    clients_ended: 'No application acts for you any more.',
    connected: 'The account is connected.',
    not_connected: 'The account was not connected. You can try again.',
    stale_form: 'This page was open for a long time, so nothing was changed. Try again.',
  },
  data: {
    title: 'Your data',
    intro: 'See what is kept about you, or delete it.',
    download: 'Download your data',
    downloadText:
      'A file with your accounts, permissions, applications, runs of tools and the record of what happened. It has no passwords and no access keys.',
    erase: 'Delete everything',
    eraseText: 'Ends all access and deletes what is kept about you.',
    logInFirst: 'For this, show once more that it is you.',
    logIn: 'Log in again',
    notAllowed: (app: App): Text => html`To do this, ask ${app ?? 'your application'}.`,
    back: 'Back to your accounts',
  },
  erase: {
    title: 'Delete everything?',
    intro: 'This cannot be undone.',
    points: [
      'Every account is disconnected, and its service is asked to end the access.',
      'Applications that act for you lose their access.',
      'Runs of tools are kept without your name, their inputs and their results; scheduled ones are cancelled.',
      'The record of what happened stays, because it is sealed against changes: it has ids and times, no content.',
    ],
    understood: 'I want to delete all of it.',
    button: 'Delete everything',
    keep: 'Keep everything',
    done: 'Everything is deleted',
    doneText: 'Your accounts are disconnected, and what was kept about you is deleted. You are logged out.',
    unconfirmed:
      'These services did not confirm that the access has ended. End it in your account there too:',
    disconnectedBefore:
      'Some accounts were disconnected just before. Look in your account at each service whether the access has ended there too.',
  },
  enter: {
    title: (user: Text, app: App): Text =>
      app === undefined ? html`Continue as ${user}` : html`Continue as ${user} at ${app}`,
    text: 'The next page shows the accounts that are connected for this person.',
    warning: (app: App): Text =>
      html`Only go on if this is you and you came here from ${app ?? 'your application'}. If somebody sent you this link, close this page.`,
    button: 'Continue',
    gone: 'This link does not work any more',
    goneText: (app: App): Text =>
      html`It was used already, or its time is over. Open the page from ${app ?? 'your application'} again.`,
  },
  outside: {
    title: 'Open this page from your application',
    text: 'You are not logged in here. Your application has a link that opens this page for you.',
    left: 'You are logged out',
    leftText: 'Close this window, or open the page again.',
    again: 'Log in',
  },
}
