import { html } from 'hono/html'
import type { Translation } from '../text.ts'
import type { en } from './en.ts'

export const fr: Translation<typeof en> = {
  title: 'Autoriser une application',
  wants: (client) => html`${client ?? 'Une application'} souhaite utiliser vos outils`,
  loggedInAs: (user) => html`Vous êtes identifié en tant que <strong>${user}</strong>`,
  may: 'Ce qu’elle pourra faire',
  call: 'Voir vos outils et les appeler pour vous avec les comptes que vous avez connectés',
  see: 'Voir vos outils, sans les appeler',
  allTools: 'Tous les outils que ce serveur a pour vous',
  toolset: (toolset) => html`Seulement les outils de la sélection <strong>${toolset}</strong>`,
  whoAsks: 'Qui le demande',
  facts: { application: 'Application', identity: 'Identité', leadsTo: 'Vous ramène à' },
  unverified: 'Non vérifiée\u00a0: elle s’est enregistrée elle-même, sous le nom de son choix',
  verified: (host) => html`Vérifiée\u00a0: <strong>${host}</strong>`,
  program: (host) => html`Un programme sur cet ordinateur (${host})`,
  installed: (scheme) => html`Une application sur cet appareil (${scheme})`,
  warnOfHost: (host) =>
    html`N’autorisez cet accès que si vous venez d’ajouter vous-même ce serveur dans une application de <strong>${host}</strong>.`,
  warnOfProgram:
    'N’importe quel programme de cet ordinateur peut recevoir cet accès, sous n’importe quel nom. Ne l’autorisez que si vous venez de lancer vous-même la connexion. Si quelqu’un vous a envoyé un lien vers cette page, annulez.',
  allow: 'Autoriser',
  logInAsAnother: 'S’identifier avec un autre compte',
  endLater: (page) =>
    html`Vous pouvez mettre fin à l’accès à tout moment sur ${page}. L’application ne voit jamais les mots de passe ni les clés d’accès de vos comptes.`,
  none: 'Aucune application n’est connectée.',
  refusals: {
    session_not_found: {
      title: 'Cette identification a expiré',
      happened:
        'Elle a commencé il y a trop longtemps ou dans un autre navigateur, ou elle est déjà terminée.',
    },
    temporarily_unavailable: {
      title: 'Trop d’identifications sont en cours',
      happened: 'Attendez un instant, puis réessayez.',
    },
    too_many_clients: {
      title: 'Vous avez autorisé trop d’applications',
      happened: 'Sur /me/clients, mettez fin à l’accès de celles que vous n’utilisez plus.',
    },
    invalid_client: {
      title: 'Cette application n’est pas connue ici',
      happened: 'Elle n’a jamais été enregistrée ici, ou son enregistrement a expiré.',
    },
    client_document: {
      title: 'Cette application ne peut pas être identifiée',
      happened: 'Sa description n’a pas pu être lue.',
    },
    invalid_redirect_uri: {
      title: 'La demande de l’application ne peut pas être acceptée',
      happened: 'L’application demande un retour à une adresse qu’elle n’a pas enregistrée.',
    },
    other: {
      title: 'La demande de l’application ne peut pas être acceptée',
      happened:
        'L’application a envoyé une demande non valable\u00a0; vous n’avez donc pas été renvoyé vers elle.',
    },
  },
  refusedTodo:
    'Revenez à l’application et connectez-la de nouveau. Si le problème persiste, retirez ce serveur de l’application, puis ajoutez-le de nouveau.',
  unreadAt: (host) =>
    html`L’application se décrit à l’adresse <strong>${host}</strong>, et ce serveur n’a pas pu lire cette description.`,
  unreadTodo: () =>
    html`Réessayez dans une minute. Si le problème persiste, signalez-le aux personnes qui gèrent ce serveur\u00a0: il n’a peut-être pas accès à cette adresse. Avec le réglage <code>GATEPASS_MCP_<wbr>CLIENT_<wbr>DOCUMENTS=off</code>, les applications s’enregistrent elles-mêmes\u00a0; retirez alors ce serveur de l’application, puis ajoutez-le de nouveau.`,
  wantsYouAt: (host) => html`L’application veut vous envoyer vers <strong>${host}</strong>.`,
  goThere: 'Y aller, si vous connaissez cette adresse',
}
