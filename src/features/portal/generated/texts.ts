// The keys and the placeholders of the English texts, made by `npm run page-texts`.
import type { AppSentence, CountSentence, Sentence } from '../../../http/pages/texts/text.ts'

export interface PortalTexts {
  readonly title: string
  readonly intro: AppSentence
  readonly youAre: AppSentence<'user'>
  readonly backTo: Sentence<'host'>
  readonly none: string
  readonly isDefault: string
  readonly needsYou: string
  readonly reasons: {
    readonly refresh_refused: Sentence<'provider'>
    readonly consent_withdrawn: Sentence<'provider'>
    readonly credential_refused: Sentence<'provider'>
    readonly installation_removed: Sentence<'provider'>
    readonly token_expired: string
    readonly refresh_token_expired: string
    readonly provider_changed: Sentence<'provider'>
    readonly refresh_outcome_lost: Sentence<'provider'>
    readonly account_changed: Sentence<'provider'>
    readonly unreadable: string
  }
  readonly untilReconnected: string
  readonly may: string
  readonly more: CountSentence
  readonly defaults: Sentence<'provider'>
  readonly byKey: string
  readonly undescribed: Sentence<'scope' | 'provider'>
  readonly connectedOn: string
  readonly usedBy: string
  readonly moreTools: CountSentence
  readonly unused: Sentence<'day'>
  readonly removedProvider: string
  readonly reconnect: string
  readonly makeDefault: string
  readonly addAccount: Sentence<'provider'>
  readonly disconnect: string
  readonly showMore: string
  readonly shared: {
    readonly title: string
    readonly intro: AppSentence
    readonly belongs: string
  }
  readonly endAllAccess: string
  readonly confirmDisconnect: Sentence<'provider'>
  readonly confirmText: AppSentence<'provider'>
  readonly keyStays: Sentence<'provider'>
  readonly installationStays: Sentence<'provider'>
  readonly keep: string
  readonly notes: {
    readonly disconnected: Sentence<'name'>
    readonly disconnected_here: Sentence<'name'>
    readonly disconnect_unconfirmed: Sentence<'name'>
    readonly disconnected_before: string
    readonly made_default: Sentence<'name'>
    readonly client_ended: Sentence<'name'>
    readonly clients_ended: string
    readonly connected: string
    readonly not_connected: string
    readonly approval_removed: string
    readonly agent_unblocked: string
    readonly stale_form: string
  }
  readonly data: {
    readonly title: string
    readonly open: string
    readonly intro: string
    readonly download: string
    readonly downloadText: string
    readonly erase: string
    readonly eraseText: string
    readonly logInFirst: string
    readonly logIn: string
    readonly notAllowed: AppSentence
    readonly back: string
  }
  readonly erase: {
    readonly title: string
    readonly intro: string
    readonly points: readonly string[]
    readonly sharedStay: string
    readonly understood: string
    readonly button: string
    readonly keep: string
    readonly done: string
    readonly doneText: string
    readonly unconfirmed: string
    readonly disconnectedBefore: string
  }
  readonly enter: {
    readonly title: AppSentence<'user'>
    readonly text: string
    readonly warning: AppSentence
    readonly button: string
    readonly gone: string
    readonly goneText: AppSentence
  }
  readonly outside: {
    readonly title: string
    readonly text: string
    readonly left: string
    readonly leftText: string
    readonly again: string
  }
}
