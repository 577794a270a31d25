import { html } from 'hono/html'
import { plural } from '../plural.ts'
import type { Translation } from '../text.ts'
import type { en } from './en.ts'

export const de: Translation<typeof en> = {
  title: 'Ihre verbundenen Konten',
  intro: (app) =>
    app === undefined
      ? 'Werkzeuge Ihrer Anwendung nutzen diese Konten für Sie. Sie können das hier jederzeit beenden.'
      : html`Werkzeuge von ${app} nutzen diese Konten für Sie. Sie können das hier jederzeit beenden.`,
  youAre: (user, app) =>
    app === undefined
      ? html`Sie sind <strong>${user}</strong>.`
      : html`Sie sind <strong>${user}</strong> bei ${app}.`,
  logout: 'Abmelden',
  backTo: (host) => html`Zurück zu ${host}`,
  none: 'Es ist kein Konto verbunden.',
  isDefault: 'Standardkonto',
  needsYou: 'Bitte neu verbinden',
  reasons: {
    refresh_refused: (provider) => html`${provider} erkennt diesen Zugriff nicht mehr an.`,
    consent_withdrawn: (provider) => html`Der Zugriff wurde bei ${provider} entzogen.`,
    token_expired: 'Der Zugriff ist abgelaufen.',
    refresh_token_expired: 'Der Zugriff ist abgelaufen, weil er lange nicht genutzt wurde.',
    provider_changed: (provider) => html`Die Verbindung zu ${provider} wurde neu eingerichtet.`,
    refresh_outcome_lost: (provider) =>
      html`Eine Antwort von ${provider} ging verloren und damit auch der Zugriff.`,
    account_changed: (provider) => html`${provider} hat für ein anderes Konto geantwortet.`,
    unreadable: 'Der gespeicherte Zugriff kann nicht mehr gelesen werden.',
  },
  untilReconnected: 'Werkzeuge können dieses Konto erst wieder nutzen, wenn Sie es neu verbinden.',
  may: 'Was Werkzeuge dürfen',
  more: (count) => plural('de', count, { one: '# weitere', other: '# weitere' }),
  defaults: (provider) => html`Was ${provider} jeder Anwendung erlaubt`,
  undescribed: (scope, provider) => html`${scope} verwenden, wie ${provider} es beschreibt`,
  connectedOn: 'Verbunden',
  lastUsed: 'Zuletzt genutzt',
  never: 'Noch nicht',
  usedBy: 'Genutzt von',
  moreTools: (count) =>
    plural('de', count, { one: 'und # weiteres Werkzeug', other: 'und # weitere Werkzeuge' }),
  unused: (day) =>
    html`Seit dem ${day} nicht genutzt. Wenn Sie es nicht mehr brauchen, trennen Sie die Verbindung.`,
  removedProvider: 'Ein Dienst, der entfernt wurde',
  reconnect: 'Neu verbinden',
  makeDefault: 'Als Standard nutzen',
  addAccount: (provider) => html`Weiteres Konto bei ${provider} hinzufügen`,
  disconnect: 'Verbindung trennen',
  showMore: 'Weitere Konten zeigen',
  applications: 'Anwendungen, die für Sie handeln',
  applicationsIntro: 'Diese Programme sehen Ihre Werkzeuge über MCP und rufen sie für Sie auf.',
  unverified: 'nicht überprüft',
  applicationMay: {
    call: 'Sie darf Ihre Werkzeuge sehen und aufrufen.',
    see: 'Sie darf Ihre Werkzeuge sehen.',
    nothing: 'Sie hat keinen Zugriff, bis Sie sie wieder erlauben: Sie fragt Sie, wenn sie sich verbindet.',
  },
  allowedOn: 'Erlaubt',
  endAccess: 'Zugriff beenden',
  removeApplication: 'Entfernen',
  endAllAccess: 'Alle Zugriffe beenden',
  confirmDisconnect: (provider) => html`Verbindung zu ${provider} trennen?`,
  confirmText: (provider, app) =>
    app === undefined
      ? html`Werkzeuge Ihrer Anwendung können dieses Konto danach nicht mehr nutzen. Der gespeicherte Zugriff wird hier gelöscht, und ${provider} wird gebeten, ihn ebenfalls zu beenden.`
      : html`Werkzeuge von ${app} können dieses Konto danach nicht mehr nutzen. Der gespeicherte Zugriff wird hier gelöscht, und ${provider} wird gebeten, ihn ebenfalls zu beenden.`,
  keep: 'Behalten',
  notes: {
    disconnected: (provider) =>
      html`Die Verbindung zu ${provider} ist getrennt. Der Zugriff ist hier und dort beendet.`,
    disconnected_here: (provider) =>
      html`Der Zugriff ist hier gelöscht. ${provider} bietet keinen Weg, ihn von hier zu beenden: Beenden Sie ihn auch in Ihrem Konto bei ${provider}.`,
    disconnect_unconfirmed: (provider) =>
      html`Der Zugriff ist hier gelöscht. ${provider} hat das Ende nicht bestätigt: Beenden Sie ihn auch in Ihrem Konto bei ${provider}.`,
    disconnected_before:
      'Dieses Konto ist hier nicht mehr verbunden. Sehen Sie in Ihrem Konto beim Dienst nach, ob der Zugriff auch dort beendet ist.',
    made_default: (provider) => html`Dieses Konto bei ${provider} ist jetzt das Standardkonto.`,
    client_ended: (application) => html`${application} kann nicht mehr für Sie handeln.`,
    clients_ended: 'Keine Anwendung handelt mehr für Sie.',
    connected: 'Das Konto ist verbunden.',
    not_connected: 'Das Konto wurde nicht verbunden. Sie können es noch einmal versuchen.',
    stale_form:
      'Diese Seite war lange geöffnet, deshalb wurde nichts geändert. Versuchen Sie es noch einmal.',
  },
  data: {
    title: 'Ihre Daten',
    intro: 'Sehen Sie, was über Sie gespeichert ist, oder löschen Sie es.',
    download: 'Ihre Daten herunterladen',
    downloadText:
      'Eine Datei mit Ihren Konten, Berechtigungen, Anwendungen, Werkzeugläufen und dem Protokoll dessen, was geschah. Sie enthält keine Passwörter und keine Zugangsschlüssel.',
    erase: 'Alles löschen',
    eraseText: 'Beendet alle Zugriffe und löscht, was über Sie gespeichert ist.',
    logInFirst: 'Bestätigen Sie dafür bitte noch einmal, dass Sie es sind.',
    logIn: 'Erneut anmelden',
    notAllowed: (app) =>
      app === undefined ? 'Wenden Sie sich dafür an Ihre Anwendung.' : html`Wenden Sie sich dafür an ${app}.`,
    back: 'Zurück zu Ihren Konten',
  },
  erase: {
    title: 'Alles löschen?',
    intro: 'Das lässt sich nicht rückgängig machen.',
    points: [
      'Jedes Konto wird getrennt, und sein Dienst wird gebeten, den Zugriff zu beenden.',
      'Anwendungen, die für Sie handeln, verlieren ihren Zugriff.',
      'Werkzeugläufe bleiben ohne Ihren Namen, ihre Eingaben und ihre Ergebnisse erhalten; geplante werden abgebrochen.',
      'Das Protokoll dessen, was geschah, bleibt, weil es gegen Änderungen versiegelt ist: Es enthält Kennungen und Zeiten, keine Inhalte.',
    ],
    understood: 'Ich möchte alles löschen.',
    button: 'Alles löschen',
    keep: 'Alles behalten',
    done: 'Alles ist gelöscht',
    doneText:
      'Ihre Konten sind getrennt, und was über Sie gespeichert war, ist gelöscht. Sie sind abgemeldet.',
    unconfirmed:
      'Diese Dienste haben das Ende des Zugriffs nicht bestätigt. Beenden Sie ihn auch in Ihren Konten bei diesen Diensten:',
    disconnectedBefore:
      'Einige Konten waren kurz zuvor schon getrennt worden. Sehen Sie in Ihren Konten bei den Diensten nach, ob der Zugriff auch dort beendet ist.',
  },
  enter: {
    title: (user, app) =>
      app === undefined ? html`Weiter als ${user}` : html`Weiter als ${user} bei ${app}`,
    text: 'Die nächste Seite zeigt die Konten, die für diese Person verbunden sind.',
    warning: (app) =>
      app === undefined
        ? 'Fahren Sie nur fort, wenn Sie das sind und aus Ihrer Anwendung hierher kamen. Hat Ihnen jemand diesen Link geschickt, schließen Sie die Seite.'
        : html`Fahren Sie nur fort, wenn Sie das sind und von ${app} hierher kamen. Hat Ihnen jemand diesen Link geschickt, schließen Sie die Seite.`,
    button: 'Weiter',
    gone: 'Dieser Link gilt nicht mehr',
    goneText: (app) =>
      app === undefined
        ? 'Er wurde schon benutzt, oder seine Zeit ist um. Öffnen Sie die Seite noch einmal aus Ihrer Anwendung.'
        : html`Er wurde schon benutzt, oder seine Zeit ist um. Öffnen Sie die Seite noch einmal aus ${app}.`,
  },
  outside: {
    title: 'Öffnen Sie diese Seite aus Ihrer Anwendung',
    text: 'Sie sind hier nicht angemeldet. Ihre Anwendung hat einen Link, der diese Seite für Sie öffnet.',
    left: 'Sie sind abgemeldet',
    leftText: 'Schließen Sie dieses Fenster, oder öffnen Sie die Seite noch einmal.',
    again: 'Anmelden',
  },
}
