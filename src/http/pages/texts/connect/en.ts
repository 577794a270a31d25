import { html } from 'hono/html'
import { plural } from '../plural.ts'
import type { App, Text } from '../text.ts'

// The connect page: who asks for which access, for whom, and what happens next.

export const en = {
  title: (provider: string): string => `Connect ${provider}`,
  wants: (app: App, provider: Text): Text =>
    html`${app ?? 'Your application'} wants to use your ${provider} account`,
  forTool: (tool: Text): Text => html`for ${tool}`,
  youAre: (user: Text, app: App): Text =>
    app === undefined
      ? html`You are <strong>${user}</strong>.`
      : html`You are <strong>${user}</strong> at ${app}.`,
  forOneUser: (app: App): Text => html`This link was made for one user of ${app ?? 'your application'}.`,
  notYou: (cancel: Text): Text => html`Not you? ${cancel}.`,
  askedAgain: 'You are asked again, because the connection that you had does not work any more.',
  willBeAbleTo: (app: App): Text => html`${app ?? 'Your application'} will be able to:`,
  isNew: 'new',
  alreadyAllowed: 'already allowed',
  sensitive: 'sensitive',
  levels: { read: 'only look', write: 'make changes', admin: 'full control' },
  undescribed: (scope: Text, provider: Text): Text => html`Use ${scope}, as ${provider} describes it`,
  defaults: (provider: Text): Text => html`What ${provider} allows every application`,
  details: 'Technical details',
  detail: { user: 'User id', tool: 'Tool', scopes: 'Scopes', request: 'Request' },
  warning: (app: App): Text =>
    html`Only go on if you just started this in ${app ?? 'your application'}. If somebody sent you this link, cancel.`,
  insideApp:
    'This page is open inside another app, where some providers refuse the login. If that happens, open this address in your browser:',
  continueTo: (provider: Text): Text => html`Continue to ${provider}`,
  cancel: 'Cancel',
  loginFirst: (host: Text): Text => html`First, ${host} opens, where you log in.`,
  next: (host: Text, ownPage: Text): Text =>
    html`Next, ${host} opens; type your password only there. End access at ${ownPage}.`,
  minutesLeft: (minutes: number): string =>
    plural('en', minutes, {
      one: 'This link works for # more minute.',
      other: 'This link works for # more minutes.',
    }),
  lessThanAMinute: 'This link works for less than a minute more.',
  stepOf: (step: number, steps: number): string => `Step ${step} of ${steps}`,
  stepDone: ', connected',
  stepToCome: ', to come',
  suchAs: (example: Text): Text => html`Such as ${example}`,
  choose: 'Choose',
  valueMissing: (label: Text): Text => html`${label} is needed.`,
  valueWrong: (label: Text): Text => html`${label} is not in the right form.`,
  valueWrongLike: (label: Text, example: Text): Text =>
    html`${label} is not in the right form; it looks like ${example}.`,
  privacy: 'Privacy',
  support: 'Support',
  aRemovedProvider: 'a removed provider',
}
