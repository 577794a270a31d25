import { html } from 'hono/html'
import type { FailureReason } from '../../../../domain/authorization.ts'
import type { EndingKind } from '../../ending-kinds.ts'
import type { App, Ending, Text } from '../text.ts'

// The pages at the end of an authorization: what happened, and what to do next.

const AGAIN = 'go back to your application and start again: it gives you a new link'

export const en = {
  isConnected: (provider: string): string => `${provider} is connected`,
  canNowUse: (app: App, provider: Text): Text =>
    html`${app ?? 'Your application'} can now use your ${provider} account.`,
  anotherAccount: (before: Text): Text =>
    html`Until now ${before} was connected: it stays connected, and this account is used from now on.`,
  whatToDo: 'What to do',
  reason: 'Reason:',
  forOperator: 'For the operator of this service',
  forToolAuthor: 'For the author of the tool',
  backTo: (app: App): Text => html`Back to ${app ?? 'your application'}`,
  tryAgain: 'Try again',
  startAgainAt: (provider: Text): Text => html`Start again at ${provider}`,
  lookAgain: 'Look again',
  logInAsYourself: 'Log in as yourself',
  closeWindow: 'Close this window',
  closesItself: 'This window closes itself. If it stays open, close it and go back to your application.',
  facts: {
    provider: 'Provider',
    account: 'Account',
    notGranted: 'Not granted',
    askedBy: 'Asked by',
    user: 'User',
  },
  failures: {
    access_denied: {
      title: 'Access was not approved',
      happened: 'The request was cancelled, or refused at the provider.',
      todo: `Nothing was stored. If you did not mean to refuse, ${AGAIN}.`,
    },
    expired: {
      title: 'This link has expired',
      happened: 'The link was not used in time.',
      todo: `To connect after all, ${AGAIN}. Open it soon after you get it.`,
    },
    user_mismatch: {
      title: 'This link was meant for someone else',
      happened: 'The person who is signed in is not the user for whom the link was made.',
      todo: 'Nothing was stored. If someone sent you this link, do not use it. If it is yours, sign in as yourself and ask your application for a new link.',
    },
    issuer_mismatch: {
      title: 'The answer came from somewhere else',
      happened: 'The answer did not come from the provider that was asked, so it was not used.',
      todo: 'Nothing was stored. Go back to your application and start again. If it happens twice, tell the operator of this service and do not go on.',
    },
    invalid_scope: {
      title: 'These permissions are not available',
      happened: 'The provider does not give the permissions that were asked for.',
      todo: 'Starting again will not help. Tell the operator of this service: the permissions of the tool or of the provider entry have to be changed.',
    },
    invalid_client: {
      title: 'This service is not registered properly',
      happened: 'The provider does not accept this service’s registration.',
      todo: 'You did nothing wrong. Tell the operator of this service: the client id, the secret or the redirect URI of the provider entry has to be corrected.',
    },
    invalid_grant: {
      title: 'The approval was not valid any more',
      happened: 'The provider did not accept the approval that it had just given.',
      todo: `This happens when the way back took too long or was used twice. To try once more, ${AGAIN}.`,
    },
    provider_refused: {
      title: 'The provider refused the request',
      happened: 'The provider refused the request.',
      todo: 'Go back to your application and start again. If it happens again, tell the operator of this service and name the reason below.',
    },
    provider_bad_response: {
      title: 'The provider’s answer could not be used',
      happened: 'The provider answered with something that could not be used.',
      todo: 'Go back to your application and start again. If it happens again, tell the operator of this service and name the reason below.',
    },
    provider_unavailable: {
      title: 'The provider is not available',
      happened: 'The provider could not be reached or has a problem of its own.',
      todo: `You did nothing wrong. Wait a few minutes, then ${AGAIN}.`,
    },
    provider_changed: {
      title: 'The provider’s settings have changed',
      happened: 'The provider was changed here while you were away, so the answer was not used.',
      todo: `To connect with the new settings, ${AGAIN}.`,
    },
    account_mismatch: {
      title: 'Another account approved',
      happened: 'The account that approved is not the one that was asked for.',
      todo: `Nothing was stored. To connect the right account, ${AGAIN}, and choose that account at the provider.`,
    },
  } satisfies Record<FailureReason, Ending>,
  kinds: {
    completed: {
      title: 'Connected',
      happened: 'Access was approved.',
      todo: 'You may close this window and go back to your application.',
    },
    failed: {
      title: 'Not connected',
      happened: 'The account could not be connected.',
      todo: `To try once more, ${AGAIN}.`,
    },
    working: {
      title: 'Finishing…',
      happened: 'Your approval has arrived and is being finished.',
      todo: 'Nothing to do but wait a moment.',
    },
    waiting_for_confirmation: {
      title: 'Waiting for your application',
      happened: 'Your approval has arrived. Your application is making sure that it is you.',
      todo: 'Go on in your application; sign in there if it asks you to. Nothing is stored before that. If its page is gone, start again.',
    },
    confirmed: {
      title: 'Go on in your application',
      happened:
        'Your application has confirmed that it was you who approved, and sends you on from its own page.',
      todo: 'Go on in your application. Nothing is stored before that. If its page is gone, start again.',
    },
    confirmed_elsewhere: {
      title: 'This was approved in another browser',
      happened:
        'Your application has confirmed that it is you, but “Continue” was clicked in another browser than this one.',
      todo: 'Nothing was stored. If it was you who clicked, open the link again in this browser and start here. If someone sent you the address, close this page: it was not your account that was approved.',
    },
    wrong_browser: {
      title: 'Please go on in the other browser',
      happened:
        'The provider’s answer was opened in another browser than the one in which you clicked “Continue”.',
      todo: 'Nothing was stored. Go back to the browser in which you clicked, or open the link again in this one and start here.',
    },
    held_elsewhere: {
      title: 'This is under way in another browser',
      happened: '“Continue” was clicked in another browser, so the request was not cancelled from this one.',
      todo: 'Nothing was changed. If it was you who clicked, cancel there. If not, close this page and tell your application: somebody else has this link.',
    },
    unknown_state: {
      title: 'This answer belongs to no open request',
      happened: 'The request was ended by a newer click, is over already, or never existed.',
      todo: `Nothing was stored. If you have a newer window, go on there. Otherwise ${AGAIN}.`,
    },
    wrong_provider: {
      title: 'This answer came to the wrong address',
      happened: 'The answer came back at the address of another provider than the one that was asked.',
      todo: 'Nothing was stored. Go back to your application and start again. If it happens twice, tell the operator of this service and do not go on.',
    },
    unknown_login: {
      title: 'This login was not started here',
      happened: 'It was started in another browser or too long ago, or it is over already.',
      todo: 'Nothing was stored. Go on in the browser in which you clicked “Continue”, or open the link again in this one. If someone sent you this address, close this page.',
    },
    another_user: {
      title: 'You are logged in as another user',
      happened: 'This link was made for someone else than the user who is logged in here.',
      todo: 'Nothing was sent to the provider, and the link can still be used. If it is yours, log in as yourself. If someone sent you this link, do not use it.',
    },
    login_cancelled: {
      title: 'You did not log in',
      happened: 'The login was cancelled or refused, so it is not certain that this is you.',
      todo: 'Nothing was stored, and the link can still be used. To go on, try again and log in as yourself. If you did not mean to connect anything, close this page.',
    },
    login_unavailable: {
      title: 'You cannot log in right now',
      happened: 'The service where you log in could not be reached or has a problem of its own.',
      todo: 'You did nothing wrong, and the link can still be used. Wait a moment and try again. If it happens again, tell the operator of this service.',
    },
    login_failed: {
      title: 'The login did not work',
      happened: 'The service where you log in answered with something that could not be used.',
      todo: 'Nothing was stored, and the link can still be used. Try again. If it happens again, tell the operator of this service: the reason is in its log.',
    },
    not_found: {
      title: 'This page does not exist',
      happened: 'The link is incomplete, or it belongs to a request that is no longer kept.',
      todo: 'Check that you opened the whole link. If you did, go back to your application and ask for a new one.',
    },
    opened_elsewhere: {
      title: 'This link belongs to another browser',
      happened: 'Your application opened this page in another browser than this one.',
      todo: 'Nothing was stored. If it was you who opened it, go on in that browser, or start again from your application in this one. If someone sent you this link, close this page.',
    },
    session_over: {
      title: 'This request is over',
      happened: 'The request of your application has ended, or it was made too long ago.',
      todo: 'Go back to your application and start again there.',
    },
    other_origin: {
      title: 'This did not come from your application',
      happened:
        'The request came from another site than the one that the application has named, so nothing was opened.',
      todo: 'Go back to your application and start again there. If it happens again, tell the operator of the application: the allowed origin of the session has to be the origin of its page.',
    },
    foreign_click: {
      title: 'This did not come from our page',
      happened: 'The click did not come from the page that you were shown, so nothing was done.',
      todo: 'Open the link again and click there.',
    },
    not_set_up: {
      title: 'You cannot be sent on',
      happened: 'The provider is not set up completely here.',
      todo: 'You did nothing wrong. Show this page to the operator of this service.',
    },
    refused_request: {
      title: 'This request cannot be taken',
      happened: 'The request is not one that this page understands.',
      todo: 'Go back to your application and start again.',
    },
    problem: {
      title: 'Something went wrong',
      happened: 'The request could not be carried out.',
      todo: 'Try again in a moment. If it happens again, tell the operator of this service: the reason is in its log.',
    },
  } satisfies Record<EndingKind, Ending>,
}
