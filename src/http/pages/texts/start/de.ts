import { html } from 'hono/html'
import type { Translation } from '../text.ts'
import type { en } from './en.ts'

export const de: Translation<typeof en> = {
  title: 'In Betrieb',
  heading: 'Gatepass läuft',
  what: 'Gatepass fragt Benutzer einmal nach dem Zugriff auf ihre Konten, hält die Tokens gültig und versiegelt und gibt jedem Werkzeug bei jedem Aufruf eines davon.',
  facts: { address: 'Adresse', version: 'Version', mode: 'Modus' },
  development: 'Entwicklung',
  production: 'Produktion',
  readOn: 'Weiterlesen',
  console: 'Konsole für Betreiber',
  reference: 'API-Referenz',
  mcp: 'Einen MCP-Client verbinden',
  openapi: 'OpenAPI-Dokument',
  health: 'Zustand',
  whatNext: 'Die nächsten Schritte',
  terminal:
    'Das Terminal, in dem Gatepass gestartet wurde, zeigt einen API-Schlüssel und die Befehle für einen ersten Durchlauf, fertig zum Einfügen.',
  sample: (tool) =>
    html`Sie rufen das Beispielwerkzeug ${tool} auf, das ein Konto beim Sandbox-Anbieter braucht: Gatepass antwortet mit einem Link, Sie stimmen zu, das Werkzeug läuft mit dem Token.`,
  oneMachine: (command) =>
    html`Der Entwicklungsmodus ist für einen einzelnen Rechner gedacht. Damit andere Gatepass nutzen können, starten Sie ${command}.`,
  login: {
    title: 'Anmelden',
    tag: 'Nur für die Entwicklung',
    heading: 'Wer sind Sie?',
    unchecked: (setting) =>
      html`Die Antwort wird hier nicht geprüft. Außerhalb der Entwicklung melden sich Benutzer bei Ihrem Aussteller oder auf der eigenen Seite Ihrer Anwendung an (${setting}).`,
    refused: 'Geben Sie eine Benutzerkennung mit 1 bis 500 Zeichen ein.',
    userId: 'Benutzerkennung',
    go: 'Weiter',
  },
}
