import { html } from 'hono/html'
import { plural } from '../plural.ts'
import type { Translation } from '../text.ts'
import type { en } from './en.ts'

export const fr: Translation<typeof en> = {
  title: 'Vos comptes connectés',
  intro: (app) =>
    html`Des outils de ${app ?? 'votre application'} utilisent ces comptes pour vous. Vous pouvez y mettre fin ici à tout moment.`,
  youAre: (user, app) =>
    app === undefined
      ? html`Vous êtes <strong>${user}</strong>.`
      : html`Vous êtes <strong>${user}</strong> chez ${app}.`,
  logout: 'Fermer la session',
  backTo: (host) => html`Retour à ${host}`,
  none: 'Aucun compte n’est connecté.',
  isDefault: 'Compte par défaut',
  needsYou: 'À reconnecter',
  reasons: {
    refresh_refused: (provider) => html`${provider} n’accepte plus cet accès.`,
    consent_withdrawn: (provider) => html`L’accès a été retiré chez ${provider}.`,
    token_expired: 'L’accès a expiré.',
    refresh_token_expired: 'L’accès a expiré, car il n’a pas servi pendant longtemps.',
    provider_changed: (provider) => html`La connexion à ${provider} a été reconfigurée.`,
    refresh_outcome_lost: (provider) => html`Une réponse de ${provider} s’est perdue, et l’accès avec elle.`,
    account_changed: (provider) => html`${provider} a répondu pour un autre compte.`,
    unreadable: 'L’accès enregistré ne peut plus être lu.',
  },
  untilReconnected: 'Les outils ne peuvent pas utiliser ce compte tant que vous ne l’avez pas reconnecté.',
  may: 'Ce que les outils peuvent faire',
  more: (count) => plural('fr', count, { one: '# autre', other: '# autres' }),
  defaults: (provider) => html`Ce que ${provider} permet à toute application`,
  undescribed: (scope, provider) => html`Utiliser ${scope}, comme ${provider} le décrit`,
  connectedOn: 'Connecté',
  lastUsed: 'Dernière utilisation',
  never: 'Pas encore',
  usedBy: 'Utilisé par',
  moreTools: (count) => plural('fr', count, { one: 'et # autre outil', other: 'et # autres outils' }),
  unused: (day) => html`Pas utilisé depuis le ${day}. Si vous n’en avez plus besoin, déconnectez-le.`,
  removedProvider: 'Un service qui a été retiré',
  reconnect: 'Reconnecter',
  makeDefault: 'Utiliser par défaut',
  addAccount: (provider) => html`Ajouter un autre compte ${provider}`,
  disconnect: 'Déconnecter',
  showMore: 'Afficher d’autres comptes',
  applications: 'Applications qui agissent pour vous',
  applicationsIntro: 'Ces programmes voient vos outils par MCP et les appellent pour vous.',
  unverified: 'non vérifiée',
  applicationMay: {
    call: 'Elle peut voir et appeler vos outils.',
    see: 'Elle peut voir vos outils.',
    nothing:
      'Elle n’a plus accès tant que vous ne l’autorisez pas à nouveau\u00a0: elle vous le demandera en se connectant.',
  },
  allowedOn: 'Autorisée',
  endAccess: 'Mettre fin à l’accès',
  removeApplication: 'Retirer',
  endAllAccess: 'Mettre fin à l’accès de toutes',
  confirmDisconnect: (provider) => html`Déconnecter ${provider}\u00a0?`,
  confirmText: (provider, app) =>
    html`Les outils de ${app ?? 'votre application'} ne pourront plus utiliser ce compte. L’accès enregistré est effacé ici, et nous demandons à ${provider} d’y mettre fin aussi.`,
  keep: 'Conserver',
  notes: {
    disconnected: (provider) => html`${provider} est déconnecté. L’accès a pris fin des deux côtés.`,
    disconnected_here: (provider) =>
      html`L’accès est effacé ici. ${provider} ne permet pas d’y mettre fin d’ici\u00a0: faites-le aussi dans votre compte ${provider}.`,
    disconnect_unconfirmed: (provider) =>
      html`L’accès est effacé ici. ${provider} n’a pas confirmé sa fin\u00a0: mettez-y fin aussi dans votre compte ${provider}.`,
    disconnected_before:
      'Ce compte n’est plus connecté ici. Vérifiez dans votre compte auprès du service si l’accès y a pris fin aussi.',
    made_default: (provider) => html`Ce compte ${provider} est désormais utilisé par défaut.`,
    client_ended: (application) => html`${application} ne peut plus agir pour vous.`,
    clients_ended: 'Plus aucune application n’agit pour vous.',
    connected: 'Le compte est connecté.',
    not_connected: 'Le compte n’a pas été connecté. Vous pouvez réessayer.',
    stale_form: 'Cette page est restée longtemps ouverte, donc rien n’a été modifié. Réessayez.',
  },
  data: {
    title: 'Vos données',
    intro: 'Consultez ce qui est conservé à votre sujet, ou effacez-le.',
    download: 'Télécharger vos données',
    downloadText:
      'Un fichier avec vos comptes, autorisations, applications, exécutions d’outils et le journal de ce qui s’est passé. Il ne contient ni mot de passe ni clé d’accès.',
    erase: 'Tout effacer',
    eraseText: 'Met fin à tous les accès et efface ce qui est conservé à votre sujet.',
    logInFirst: 'Pour cela, confirmez encore une fois que c’est bien vous.',
    logIn: 'S’identifier de nouveau',
    notAllowed: (app) => html`Pour cela, adressez-vous à ${app ?? 'votre application'}.`,
    back: 'Retour à vos comptes',
  },
  erase: {
    title: 'Tout effacer\u00a0?',
    intro: 'Cette action est irréversible.',
    points: [
      'Chaque compte est déconnecté, et nous demandons à son service de mettre fin à l’accès.',
      'Les applications qui agissent pour vous perdent leur accès.',
      'Les exécutions d’outils sont conservées sans votre nom, leurs entrées ni leurs résultats\u00a0; celles qui sont prévues sont annulées.',
      'Le journal de ce qui s’est passé reste, car il est scellé contre toute modification\u00a0: il contient des identifiants et des dates, aucun contenu.',
    ],
    understood: 'Je veux tout effacer.',
    button: 'Tout effacer',
    keep: 'Tout conserver',
    done: 'Tout est effacé',
    doneText:
      'Vos comptes sont déconnectés, et ce qui était conservé à votre sujet est effacé. Votre session est fermée.',
    unconfirmed:
      'Ces services n’ont pas confirmé la fin de l’accès. Mettez-y fin aussi dans votre compte auprès de chacun\u00a0:',
    disconnectedBefore:
      'Certains comptes venaient déjà d’être déconnectés. Vérifiez dans votre compte auprès de chaque service si l’accès y a pris fin aussi.',
  },
  enter: {
    title: (user, app) =>
      app === undefined
        ? html`Continuer en tant que ${user}`
        : html`Continuer en tant que ${user} chez ${app}`,
    text: 'La page suivante montre les comptes connectés pour cette personne.',
    warning: (app) =>
      html`Ne continuez que s’il s’agit de vous et que vous venez de ${app ?? 'votre application'}. Si quelqu’un vous a envoyé ce lien, fermez cette page.`,
    button: 'Continuer',
    gone: 'Ce lien n’est plus valable',
    goneText: (app) =>
      html`Il a déjà servi, ou son délai est passé. Ouvrez de nouveau la page depuis ${app ?? 'votre application'}.`,
  },
  outside: {
    title: 'Ouvrez cette page depuis votre application',
    text: 'Vous n’êtes pas identifié ici. Votre application a un lien qui ouvre cette page pour vous.',
    left: 'Votre session est fermée',
    leftText: 'Fermez cette fenêtre, ou ouvrez de nouveau la page.',
    again: 'S’identifier',
  },
}
