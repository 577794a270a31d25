import { html } from 'hono/html'
import { plural } from '../plural.ts'
import type { Translation } from '../text.ts'
import type { en } from './en.ts'

export const fr: Translation<typeof en> = {
  title: (provider) => `Connecter ${provider}`,
  wants: (app, provider) => html`${app ?? 'Votre application'} souhaite utiliser votre compte ${provider}`,
  forTool: (tool) => html`pour ${tool}`,
  youAre: (user, app) =>
    app === undefined
      ? html`Vous êtes <strong>${user}</strong>.`
      : html`Vous êtes <strong>${user}</strong> chez ${app}.`,
  forOneUser: (app) =>
    app === undefined
      ? 'Ce lien a été créé pour une seule personne dans votre application.'
      : html`Ce lien a été créé pour une seule personne chez ${app}.`,
  notYou: (cancel) => html`Ce n’est pas vous\u00a0? ${cancel}.`,
  askedAgain: 'Votre accord est de nouveau demandé, car la connexion existante ne fonctionne plus.',
  willBeAbleTo: (app) => html`${app ?? 'Votre application'} pourra\u00a0:`,
  isNew: 'nouveau',
  alreadyAllowed: 'déjà autorisé',
  sensitive: 'sensible',
  levels: { read: 'consulter seulement', write: 'modifier', admin: 'contrôle total' },
  undescribed: (scope, provider) => html`Utiliser ${scope}, comme ${provider} le décrit`,
  defaults: (provider) => html`Ce que ${provider} permet à toute application`,
  details: 'Détails techniques',
  detail: { user: 'Identifiant', tool: 'Outil', scopes: 'Scopes', request: 'Demande' },
  warning: (app) =>
    app === undefined
      ? 'Ne continuez que si vous venez de lancer cette opération dans votre application. Si quelqu’un vous a envoyé ce lien, annulez.'
      : html`Ne continuez que si vous venez de lancer cette opération dans ${app}. Si quelqu’un vous a envoyé ce lien, annulez.`,
  insideApp:
    'Cette page est ouverte dans une autre application, où certains fournisseurs refusent l’identification. Dans ce cas, ouvrez cette adresse dans votre navigateur\u00a0:',
  continueTo: (provider) => html`Continuer vers ${provider}`,
  cancel: 'Annuler',
  loginFirst: (host) => html`D’abord, ${host} s’ouvre pour que vous vous identifiiez.`,
  next: (host, ownPage) =>
    html`Ensuite, ${host} s’ouvre\u00a0; ne saisissez votre mot de passe que là. Vous pouvez mettre fin à l’accès sur ${ownPage}.`,
  minutesLeft: (minutes) =>
    plural('fr', minutes, {
      one: 'Ce lien est encore valable # minute.',
      other: 'Ce lien est encore valable # minutes.',
    }),
  lessThanAMinute: 'Ce lien est encore valable moins d’une minute.',
  stepOf: (step, steps) => `Étape ${step} sur ${steps}`,
  stepDone: ', connecté',
  stepToCome: ', à venir',
  suchAs: (example) => html`Par exemple ${example}`,
  choose: 'Choisir',
  valueMissing: (label) => html`${label}\u00a0: ce champ est requis.`,
  valueWrong: (label) => html`${label}\u00a0: cette valeur n’a pas la bonne forme.`,
  valueWrongLike: (label, example) =>
    html`${label}\u00a0: cette valeur n’a pas la bonne forme\u00a0; un exemple est ${example}.`,
  privacy: 'Confidentialité',
  support: 'Assistance',
  aRemovedProvider: 'un fournisseur supprimé',
}
