import { html } from 'hono/html'
import type { Translation } from '../text.ts'
import type { en } from './en.ts'

const AGAIN = 'revenez à votre application et recommencez\u00a0: elle vous donnera un nouveau lien'

export const fr: Translation<typeof en> = {
  isConnected: (provider) => `${provider} est connecté`,
  canNowUse: (app, provider) =>
    html`${app ?? 'Votre application'} peut désormais utiliser votre compte ${provider}.`,
  anotherAccount: (before) =>
    html`Jusqu’ici, ${before} était connecté\u00a0: il le reste, mais c’est ce compte-ci qui sera utilisé désormais.`,
  whatToDo: 'Que faire',
  reason: 'Motif\u00a0:',
  forOperator: 'À l’intention des responsables de ce service',
  forToolAuthor: 'À l’intention des auteurs de l’outil',
  backTo: (app) => html`Revenir à ${app ?? 'votre application'}`,
  tryAgain: 'Réessayer',
  startAgainAt: (provider) => html`Recommencer chez ${provider}`,
  lookAgain: 'Vérifier de nouveau',
  logInAsYourself: 'S’identifier avec votre compte',
  closeWindow: 'Fermer cette fenêtre',
  closesItself:
    'Cette fenêtre se ferme d’elle-même. Si elle reste ouverte, fermez-la et revenez à votre application.',
  facts: {
    provider: 'Fournisseur',
    account: 'Compte',
    notGranted: 'Non accordé',
    askedBy: 'Demandé par',
    user: 'Utilisateur',
  },
  failures: {
    access_denied: {
      title: 'L’accès n’a pas été accordé',
      happened: 'La demande a été annulée, ou refusée chez le fournisseur.',
      todo: `Rien n’a été enregistré. Si vous ne vouliez pas refuser, ${AGAIN}.`,
    },
    expired: {
      title: 'Ce lien a expiré',
      happened: 'Le lien n’a pas été utilisé à temps.',
      todo: `Pour connecter le compte malgré tout, ${AGAIN}. Ouvrez-le peu après l’avoir reçu.`,
    },
    user_mismatch: {
      title: 'Ce lien était destiné à quelqu’un d’autre',
      happened: 'La personne identifiée n’est pas celle pour qui le lien a été créé.',
      todo: 'Rien n’a été enregistré. Si quelqu’un vous a envoyé ce lien, ne l’utilisez pas. S’il est bien à vous, identifiez-vous avec votre propre compte et demandez un nouveau lien à votre application.',
    },
    issuer_mismatch: {
      title: 'La réponse venait d’ailleurs',
      happened: 'La réponse ne venait pas du fournisseur interrogé\u00a0; elle n’a donc pas été utilisée.',
      todo: 'Rien n’a été enregistré. Revenez à votre application et recommencez. Si cela se reproduit, n’allez pas plus loin et prévenez les responsables de ce service.',
    },
    invalid_scope: {
      title: 'Ces autorisations ne sont pas disponibles',
      happened: 'Le fournisseur n’accorde pas les autorisations demandées.',
      todo: 'Recommencer ne servira à rien. Prévenez les responsables de ce service\u00a0: les autorisations de l’outil ou du fournisseur doivent être modifiées.',
    },
    invalid_client: {
      title: 'Ce service n’est pas correctement enregistré',
      happened: 'Le fournisseur n’accepte pas l’enregistrement de ce service.',
      todo: 'Vous n’y êtes pour rien. Prévenez les responsables de ce service\u00a0: l’identifiant client, le secret ou l’URI de redirection du fournisseur doit être corrigé.',
    },
    invalid_grant: {
      title: 'L’accord n’était plus valable',
      happened: 'Le fournisseur n’a pas accepté l’accord qu’il venait de donner.',
      todo: `Cela arrive quand le retour a pris trop de temps ou a été utilisé deux fois. Pour réessayer, ${AGAIN}.`,
    },
    provider_refused: {
      title: 'Le fournisseur a refusé la demande',
      happened: 'Le fournisseur a refusé la demande.',
      todo: 'Revenez à votre application et recommencez. Si le problème persiste, prévenez les responsables de ce service en indiquant le motif ci-dessous.',
    },
    provider_bad_response: {
      title: 'La réponse du fournisseur est inutilisable',
      happened: 'Le fournisseur a donné une réponse qui ne peut pas être utilisée.',
      todo: 'Revenez à votre application et recommencez. Si le problème persiste, prévenez les responsables de ce service en indiquant le motif ci-dessous.',
    },
    provider_unavailable: {
      title: 'Le fournisseur n’est pas disponible',
      happened: 'Le fournisseur n’a pas pu être joint ou rencontre lui-même un problème.',
      todo: `Vous n’y êtes pour rien. Attendez quelques minutes, puis ${AGAIN}.`,
    },
    provider_changed: {
      title: 'Les réglages du fournisseur ont changé',
      happened: 'Le fournisseur a été modifié ici entre-temps\u00a0; la réponse n’a donc pas été utilisée.',
      todo: `Pour connecter le compte avec les nouveaux réglages, ${AGAIN}.`,
    },
    account_mismatch: {
      title: 'Un autre compte a donné son accord',
      happened: 'Le compte qui a donné son accord n’est pas celui qui était demandé.',
      todo: `Rien n’a été enregistré. Pour connecter le bon compte, ${AGAIN}, puis choisissez ce compte chez le fournisseur.`,
    },
  },
  kinds: {
    completed: {
      title: 'Connecté',
      happened: 'L’accès a été accordé.',
      todo: 'Vous pouvez fermer cette fenêtre et revenir à votre application.',
    },
    failed: {
      title: 'Non connecté',
      happened: 'Le compte n’a pas pu être connecté.',
      todo: `Pour réessayer, ${AGAIN}.`,
    },
    working: {
      title: 'Finalisation…',
      happened: 'Votre accord est bien arrivé et est en cours de traitement.',
      todo: 'Il suffit d’attendre un instant.',
    },
    waiting_for_confirmation: {
      title: 'En attente de votre application',
      happened: 'Votre accord est bien arrivé. Votre application vérifie que c’est bien vous.',
      todo: 'Continuez dans votre application\u00a0; identifiez-vous si elle vous le demande. Rien n’est enregistré avant cela. Si sa page a disparu, recommencez.',
    },
    confirmed: {
      title: 'Continuez dans votre application',
      happened:
        'Votre application a confirmé que c’est bien vous qui avez donné votre accord\u00a0; la suite se passe depuis sa page.',
      todo: 'Continuez dans votre application. Rien n’est enregistré avant cela. Si sa page a disparu, recommencez.',
    },
    confirmed_elsewhere: {
      title: 'L’accord a été donné dans un autre navigateur',
      happened:
        'Votre application a confirmé que c’est bien vous, mais le bouton «\u00a0Continuer\u00a0» a été utilisé dans un autre navigateur.',
      todo: 'Rien n’a été enregistré. Si c’était vous, ouvrez de nouveau le lien dans ce navigateur et recommencez ici. Si quelqu’un vous a envoyé cette adresse, fermez cette page\u00a0: ce n’est pas votre compte qui a été approuvé.',
    },
    wrong_browser: {
      title: 'Continuez dans l’autre navigateur',
      happened:
        'La réponse du fournisseur a été ouverte dans un autre navigateur que celui où vous avez cliqué sur «\u00a0Continuer\u00a0».',
      todo: 'Rien n’a été enregistré. Revenez au navigateur où vous avez cliqué, ou ouvrez de nouveau le lien dans celui-ci et recommencez ici.',
    },
    held_elsewhere: {
      title: 'L’opération est en cours dans un autre navigateur',
      happened:
        'Le bouton «\u00a0Continuer\u00a0» a été utilisé dans un autre navigateur\u00a0; la demande n’a donc pas été annulée d’ici.',
      todo: 'Rien n’a été modifié. Si c’était vous, annulez là-bas. Sinon, fermez cette page et prévenez votre application\u00a0: quelqu’un d’autre possède ce lien.',
    },
    unknown_state: {
      title: 'Cette réponse ne correspond à aucune demande en cours',
      happened: 'La demande a été remplacée par un clic plus récent, est déjà terminée ou n’a jamais existé.',
      todo: `Rien n’a été enregistré. Si une fenêtre plus récente est ouverte, continuez-y. Sinon, ${AGAIN}.`,
    },
    wrong_provider: {
      title: 'Cette réponse est arrivée à la mauvaise adresse',
      happened: 'La réponse est arrivée à l’adresse d’un autre fournisseur que celui qui était interrogé.',
      todo: 'Rien n’a été enregistré. Revenez à votre application et recommencez. Si cela se reproduit, n’allez pas plus loin et prévenez les responsables de ce service.',
    },
    unknown_login: {
      title: 'Cette identification n’a pas commencé ici',
      happened:
        'Elle a commencé dans un autre navigateur ou il y a trop longtemps, ou elle est déjà terminée.',
      todo: 'Rien n’a été enregistré. Continuez dans le navigateur où vous avez cliqué sur «\u00a0Continuer\u00a0», ou ouvrez de nouveau le lien dans celui-ci. Si quelqu’un vous a envoyé cette adresse, fermez cette page.',
    },
    another_user: {
      title: 'Quelqu’un d’autre est identifié ici',
      happened: 'Ce lien n’a pas été créé pour la personne identifiée dans ce navigateur.',
      todo: 'Rien n’a été envoyé au fournisseur et le lien reste utilisable. S’il est à vous, identifiez-vous avec votre propre compte. Si quelqu’un vous a envoyé ce lien, ne l’utilisez pas.',
    },
    login_cancelled: {
      title: 'Vous ne vous êtes pas identifié',
      happened:
        'L’identification a été annulée ou refusée\u00a0; il n’est donc pas certain que ce soit vous.',
      todo: 'Rien n’a été enregistré et le lien reste utilisable. Pour continuer, réessayez avec votre propre compte. Si vous ne vouliez rien connecter, fermez cette page.',
    },
    login_unavailable: {
      title: 'Identification impossible pour le moment',
      happened: 'Le service d’identification n’a pas pu être joint ou rencontre lui-même un problème.',
      todo: 'Vous n’y êtes pour rien, et le lien reste utilisable. Attendez un instant et réessayez. Si le problème persiste, prévenez les responsables de ce service.',
    },
    login_failed: {
      title: 'L’identification n’a pas fonctionné',
      happened: 'Le service d’identification a donné une réponse qui ne peut pas être utilisée.',
      todo: 'Rien n’a été enregistré et le lien reste utilisable. Réessayez. Si le problème persiste, prévenez les responsables de ce service\u00a0: le motif figure dans son journal.',
    },
    not_found: {
      title: 'Cette page n’existe pas',
      happened: 'Le lien est incomplet, ou il correspond à une demande qui n’est plus conservée.',
      todo: 'Vérifiez que vous avez ouvert le lien en entier. Si c’est le cas, demandez-en un nouveau à votre application.',
    },
    opened_elsewhere: {
      title: 'Ce lien appartient à un autre navigateur',
      happened: 'Votre application a ouvert cette page dans un autre navigateur que celui-ci.',
      todo: 'Rien n’a été enregistré. Si c’est vous qui l’avez ouverte, continuez dans cet autre navigateur, ou recommencez depuis votre application dans celui-ci. Si quelqu’un vous a envoyé ce lien, fermez cette page.',
    },
    session_over: {
      title: 'Cette demande est terminée',
      happened: 'La demande de votre application est terminée, ou elle est trop ancienne.',
      todo: 'Revenez à votre application et recommencez-y.',
    },
    other_origin: {
      title: 'Cela ne venait pas de votre application',
      happened:
        'La demande venait d’un autre site que celui que l’application a indiqué\u00a0; rien n’a donc été ouvert.',
      todo: 'Revenez à votre application et recommencez-y. Si cela persiste, prévenez les responsables de l’application\u00a0: l’origine autorisée de la session doit être celle de sa page.',
    },
    foreign_click: {
      title: 'Ce clic ne vient pas de notre page',
      happened: 'Le clic ne venait pas de la page qui vous a été montrée\u00a0; rien n’a donc été fait.',
      todo: 'Ouvrez de nouveau le lien et cliquez depuis cette page.',
    },
    not_set_up: {
      title: 'Impossible de vous rediriger',
      happened: 'Le fournisseur n’est pas entièrement configuré ici.',
      todo: 'Vous n’y êtes pour rien. Montrez cette page aux responsables de ce service.',
    },
    refused_request: {
      title: 'Cette demande ne peut pas être acceptée',
      happened: 'Cette page ne comprend pas la demande.',
      todo: 'Revenez à votre application et recommencez.',
    },
    problem: {
      title: 'Un problème est survenu',
      happened: 'La demande n’a pas pu être traitée.',
      todo: 'Réessayez dans un instant. Si le problème persiste, prévenez les responsables de ce service\u00a0: le motif figure dans son journal.',
    },
  },
}
