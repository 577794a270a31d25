import { html } from 'hono/html'
import type { Translation } from '../text.ts'
import type { en } from './en.ts'

export const fr: Translation<typeof en> = {
  title: 'En service',
  heading: 'Gatepass est en service',
  what: 'Gatepass demande une seule fois aux utilisateurs l’accès à leurs comptes, garde les jetons à jour et scellés, et en remet un valable à chaque outil à chaque appel.',
  facts: { address: 'Adresse', version: 'Version', mode: 'Mode' },
  development: 'développement',
  production: 'production',
  readOn: 'Pour en savoir plus',
  console: 'Console de l’exploitant',
  reference: 'Référence de l’API',
  mcp: 'Connecter un client MCP',
  openapi: 'Document OpenAPI',
  health: 'État',
  whatNext: 'Prochaines étapes',
  terminal:
    'Le terminal qui a lancé Gatepass affiche une clé d’API et les commandes d’un premier essai, prêtes à coller.',
  sample: (tool) =>
    html`Elles exécutent l’outil d’exemple ${tool}, qui a besoin d’un compte chez le fournisseur de test\u00a0: Gatepass répond par un lien, vous donnez votre accord, l’outil s’exécute avec le jeton.`,
  oneMachine: (command) =>
    html`Le mode développement est prévu pour une seule machine. Pour que d’autres l’utilisent, lancez ${command}.`,
  login: {
    title: 'Identification',
    tag: 'Développement uniquement',
    heading: 'Qui êtes-vous\u00a0?',
    unchecked: (setting) =>
      html`Rien ne vérifie la réponse ici. En dehors du développement, les utilisateurs s’identifient chez votre émetteur ou sur la page de votre application (${setting}).`,
    refused: 'Saisissez un identifiant d’utilisateur de 1 à 500 caractères.',
    userId: 'Identifiant d’utilisateur',
    go: 'Continuer',
  },
}
