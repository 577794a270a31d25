import { html } from 'hono/html'
import { plural } from '../plural.ts'
import type { Translation } from '../text.ts'
import type { en } from './en.ts'

export const de: Translation<typeof en> = {
  title: (provider) => `${provider} verbinden`,
  wants: (app, provider) => html`${app ?? 'Ihre Anwendung'} möchte Ihr Konto bei ${provider} nutzen`,
  forTool: (tool) => html`für ${tool}`,
  youAre: (user, app) =>
    app === undefined
      ? html`Sie sind <strong>${user}</strong>.`
      : html`Sie sind <strong>${user}</strong> bei ${app}.`,
  forOneUser: (app) =>
    app === undefined
      ? 'Dieser Link wurde für eine bestimmte Person in Ihrer Anwendung erstellt.'
      : html`Dieser Link wurde für eine bestimmte Person bei ${app} erstellt.`,
  notYou: (cancel) => html`Das sind nicht Sie? ${cancel}.`,
  askedAgain: 'Sie werden erneut gefragt, weil die bisherige Verbindung nicht mehr funktioniert.',
  willBeAbleTo: (app) => html`${app ?? 'Ihre Anwendung'} kann danach:`,
  isNew: 'neu',
  alreadyAllowed: 'bereits erlaubt',
  sensitive: 'sensibel',
  levels: { read: 'nur ansehen', write: 'ändern', admin: 'voller Zugriff' },
  undescribed: (scope, provider) => html`${scope} verwenden, wie ${provider} es beschreibt`,
  defaults: (provider) => html`Was ${provider} jeder Anwendung erlaubt`,
  details: 'Technische Angaben',
  detail: { user: 'Benutzerkennung', tool: 'Werkzeug', scopes: 'Scopes', request: 'Anfrage' },
  warning: (app) =>
    app === undefined
      ? 'Fahren Sie nur fort, wenn Sie dies gerade in Ihrer Anwendung begonnen haben. Hat Ihnen jemand diesen Link geschickt, brechen Sie ab.'
      : html`Fahren Sie nur fort, wenn Sie dies gerade in ${app} begonnen haben. Hat Ihnen jemand diesen Link geschickt, brechen Sie ab.`,
  insideApp:
    'Diese Seite ist in einer anderen App geöffnet; manche Anbieter lehnen dort die Anmeldung ab. Öffnen Sie in diesem Fall diese Adresse in Ihrem Browser:',
  continueTo: (provider) => html`Weiter zu ${provider}`,
  cancel: 'Abbrechen',
  loginFirst: (host) => html`Zuerst öffnet sich ${host}; dort melden Sie sich an.`,
  next: (host, ownPage) =>
    html`Danach öffnet sich ${host}; geben Sie Ihr Passwort nur dort ein. Beenden können Sie den Zugriff unter ${ownPage}.`,
  minutesLeft: (minutes) =>
    plural('de', minutes, {
      one: 'Dieser Link gilt noch # Minute.',
      other: 'Dieser Link gilt noch # Minuten.',
    }),
  lessThanAMinute: 'Dieser Link gilt weniger als eine Minute.',
  stepOf: (step, steps) => `Schritt ${step} von ${steps}`,
  stepDone: ', verbunden',
  stepToCome: ', folgt noch',
  suchAs: (example) => html`Zum Beispiel ${example}`,
  choose: 'Bitte wählen',
  valueMissing: (label) => html`${label} fehlt.`,
  valueWrong: (label) => html`${label} hat nicht die richtige Form.`,
  valueWrongLike: (label, example) =>
    html`${label} hat nicht die richtige Form; richtig wäre etwa ${example}.`,
  privacy: 'Datenschutz',
  support: 'Hilfe',
  aRemovedProvider: 'ein entfernter Anbieter',
}
