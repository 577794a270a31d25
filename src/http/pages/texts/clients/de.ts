import { html } from 'hono/html'
import type { Translation } from '../text.ts'
import type { en } from './en.ts'

export const de: Translation<typeof en> = {
  title: 'Eine Anwendung zulassen',
  wants: (client) => html`${client ?? 'Eine Anwendung'} möchte Ihre Werkzeuge nutzen`,
  loggedInAs: (user) => html`Sie sind angemeldet als <strong>${user}</strong>`,
  may: 'Was sie darf',
  call: 'Ihre Werkzeuge sehen und sie mit den Konten, die Sie verbunden haben, für Sie aufrufen',
  see: 'Ihre Werkzeuge sehen, ohne sie aufzurufen',
  allTools: 'Alle Werkzeuge, die dieser Server für Sie hat',
  toolset: (toolset) => html`Nur die Werkzeuge der Auswahl <strong>${toolset}</strong>`,
  whoAsks: 'Wer fragt',
  facts: { application: 'Anwendung', identity: 'Identität', leadsTo: 'Führt zurück zu' },
  unverified: 'Nicht überprüft: Sie hat sich selbst registriert, unter einem Namen ihrer Wahl',
  verified: (host) => html`Überprüft: <strong>${host}</strong>`,
  program: (host) => html`Ein Programm auf diesem Computer (${host})`,
  installed: (scheme) => html`Eine Anwendung auf diesem Gerät (${scheme})`,
  warnOfHost: (host) =>
    html`Erlauben Sie dies nur, wenn Sie diesen Server gerade selbst bei einer Anwendung von <strong>${host}</strong> hinzugefügt haben.`,
  warnOfProgram:
    'Jedes Programm auf diesem Computer kann diesen Zugriff erhalten, unter jedem Namen. Erlauben Sie ihn nur, wenn Sie die Verbindung gerade selbst begonnen haben. Hat Ihnen jemand einen Link zu dieser Seite geschickt, brechen Sie ab.',
  allow: 'Erlauben',
  logInAsAnother: 'Mit einem anderen Benutzer anmelden',
  endLater: (page) =>
    html`Sie können den Zugriff jederzeit unter ${page} beenden. Passwörter und Zugangsschlüssel Ihrer Konten sieht die Anwendung nie.`,
  none: 'Es ist keine Anwendung verbunden.',
  refusals: {
    session_not_found: {
      title: 'Diese Anmeldung ist abgelaufen',
      happened:
        'Sie wurde vor zu langer Zeit oder in einem anderen Browser begonnen, oder sie ist schon vorbei.',
    },
    temporarily_unavailable: {
      title: 'Gerade laufen zu viele Anmeldungen',
      happened: 'Warten Sie einen Moment und versuchen Sie es dann erneut.',
    },
    too_many_clients: {
      title: 'Sie haben zu viele Anwendungen zugelassen',
      happened: 'Beenden Sie unter /me/clients den Zugriff einiger, die Sie nicht mehr nutzen.',
    },
    invalid_client: {
      title: 'Diese Anwendung ist hier nicht bekannt',
      happened: 'Sie wurde hier nie registriert, oder ihre Registrierung ist abgelaufen.',
    },
    client_document: {
      title: 'Diese Anwendung kann nicht erkannt werden',
      happened: 'Ihre Beschreibung war nicht lesbar.',
    },
    invalid_redirect_uri: {
      title: 'Die Anfrage der Anwendung kann nicht angenommen werden',
      happened: 'Die Anwendung will an eine Adresse zurück, die sie nicht registriert hat.',
    },
    other: {
      title: 'Die Anfrage der Anwendung kann nicht angenommen werden',
      happened:
        'Die Anwendung hat eine ungültige Anfrage gesendet. Deshalb wurden Sie nicht zu ihr zurückgeleitet.',
    },
  },
  refusedTodo:
    'Gehen Sie zur Anwendung zurück und verbinden Sie sie erneut. Bleibt es dabei, entfernen Sie diesen Server aus der Anwendung und fügen Sie ihn wieder hinzu.',
  unreadAt: (host) =>
    html`Die Anwendung beschreibt sich unter <strong>${host}</strong>, und dieser Server konnte diese Beschreibung nicht lesen.`,
  unreadTodo: () =>
    html`Versuchen Sie es in einer Minute noch einmal. Bleibt es dabei, sagen Sie es denen, die diesen Server betreiben: Vielleicht erreicht er diese Adresse nicht. Mit der Einstellung <code>GATEPASS_MCP_<wbr>CLIENT_<wbr>DOCUMENTS=off</code> registrieren sich Anwendungen stattdessen selbst; entfernen Sie dann diesen Server aus der Anwendung und fügen Sie ihn wieder hinzu.`,
  wantsYouAt: (host) => html`Die Anwendung möchte Sie zu <strong>${host}</strong> leiten.`,
  goThere: 'Dorthin gehen, falls Sie die Adresse kennen',
}
