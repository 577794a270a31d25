// The keys and the placeholders of the English texts, made by `npm run page-texts`.
import type { AppSentence, CountSentence, Sentence } from '../text.ts'

export interface Texts {
  readonly clients: {
    readonly title: string
    readonly wants: AppSentence
    readonly loggedInAs: Sentence<'user'>
    readonly may: string
    readonly call: string
    readonly see: string
    readonly allTools: string
    readonly toolset: Sentence<'toolset'>
    readonly whoAsks: string
    readonly facts: {
      readonly application: string
      readonly identity: string
      readonly leadsTo: string
    }
    readonly unverified: string
    readonly verified: Sentence<'host'>
    readonly program: Sentence<'host'>
    readonly installed: Sentence<'scheme'>
    readonly warnOfHost: Sentence<'host'>
    readonly warnOfProgram: string
    readonly allow: string
    readonly logInAsAnother: string
    readonly endLater: Sentence<'page'>
    readonly none: string
    readonly refusals: {
      readonly session_not_found: {
        readonly title: string
        readonly happened: string
      }
      readonly temporarily_unavailable: {
        readonly title: string
        readonly happened: string
      }
      readonly too_many_clients: {
        readonly title: string
        readonly happened: string
      }
      readonly invalid_client: {
        readonly title: string
        readonly happened: string
      }
      readonly client_document: {
        readonly title: string
        readonly happened: string
      }
      readonly invalid_redirect_uri: {
        readonly title: string
        readonly happened: string
      }
      readonly other: {
        readonly title: string
        readonly happened: string
      }
    }
    readonly refusedTodo: string
    readonly unreadAt: Sentence<'host'>
    readonly unreadTodo: Sentence<'setting'>
    readonly wantsYouAt: Sentence<'host'>
    readonly goThere: string
  }
  readonly connect: {
    readonly title: Sentence<'provider'>
    readonly wants: AppSentence<'provider'>
    readonly forTool: Sentence<'tool'>
    readonly youAre: AppSentence<'user'>
    readonly forOneUser: AppSentence
    readonly notYou: Sentence<'cancel'>
    readonly askedAgain: string
    readonly willBeAbleTo: AppSentence
    readonly isNew: string
    readonly alreadyAllowed: string
    readonly sensitive: string
    readonly levels: {
      readonly read: string
      readonly write: string
      readonly admin: string
    }
    readonly undescribed: Sentence<'scope' | 'provider'>
    readonly defaults: Sentence<'provider'>
    readonly details: string
    readonly detail: {
      readonly user: string
      readonly tool: string
      readonly scopes: string
      readonly request: string
    }
    readonly warning: AppSentence
    readonly insideApp: string
    readonly continueTo: Sentence<'provider'>
    readonly cancel: string
    readonly loginFirst: Sentence<'host'>
    readonly next: Sentence<'host' | 'ownPage'>
    readonly minutesLeft: CountSentence
    readonly lessThanAMinute: string
    readonly stepOf: Sentence<'step' | 'steps'>
    readonly stepDone: string
    readonly stepToCome: string
    readonly suchAs: Sentence<'example'>
    readonly choose: string
    readonly valueMissing: Sentence<'label'>
    readonly valueWrong: Sentence<'label'>
    readonly valueWrongLike: Sentence<'label' | 'example'>
    readonly privacy: string
    readonly support: string
    readonly aRemovedProvider: string
  }
  readonly endings: {
    readonly isConnected: Sentence<'provider'>
    readonly canNowUse: AppSentence<'provider'>
    readonly anotherAccount: Sentence<'before'>
    readonly whatToDo: string
    readonly reason: string
    readonly forOperator: string
    readonly forToolAuthor: string
    readonly backTo: AppSentence
    readonly tryAgain: string
    readonly startAgainAt: Sentence<'provider'>
    readonly lookAgain: string
    readonly logInAsYourself: string
    readonly closeWindow: string
    readonly closesItself: string
    readonly facts: {
      readonly provider: string
      readonly account: string
      readonly notGranted: string
      readonly askedBy: string
      readonly user: string
    }
    readonly failures: {
      readonly access_denied: {
        readonly title: string
        readonly happened: string
        readonly todo: string
      }
      readonly expired: {
        readonly title: string
        readonly happened: string
        readonly todo: string
      }
      readonly user_mismatch: {
        readonly title: string
        readonly happened: string
        readonly todo: string
      }
      readonly issuer_mismatch: {
        readonly title: string
        readonly happened: string
        readonly todo: string
      }
      readonly invalid_scope: {
        readonly title: string
        readonly happened: string
        readonly todo: string
      }
      readonly invalid_client: {
        readonly title: string
        readonly happened: string
        readonly todo: string
      }
      readonly invalid_grant: {
        readonly title: string
        readonly happened: string
        readonly todo: string
      }
      readonly provider_refused: {
        readonly title: string
        readonly happened: string
        readonly todo: string
      }
      readonly provider_bad_response: {
        readonly title: string
        readonly happened: string
        readonly todo: string
      }
      readonly provider_unavailable: {
        readonly title: string
        readonly happened: string
        readonly todo: string
      }
      readonly provider_changed: {
        readonly title: string
        readonly happened: string
        readonly todo: string
      }
      readonly account_mismatch: {
        readonly title: string
        readonly happened: string
        readonly todo: string
      }
    }
    readonly kinds: {
      readonly completed: {
        readonly title: string
        readonly happened: string
        readonly todo: string
      }
      readonly failed: {
        readonly title: string
        readonly happened: string
        readonly todo: string
      }
      readonly working: {
        readonly title: string
        readonly happened: string
        readonly todo: string
      }
      readonly waiting_for_confirmation: {
        readonly title: string
        readonly happened: string
        readonly todo: string
      }
      readonly confirmed: {
        readonly title: string
        readonly happened: string
        readonly todo: string
      }
      readonly confirmed_elsewhere: {
        readonly title: string
        readonly happened: string
        readonly todo: string
      }
      readonly wrong_browser: {
        readonly title: string
        readonly happened: string
        readonly todo: string
      }
      readonly held_elsewhere: {
        readonly title: string
        readonly happened: string
        readonly todo: string
      }
      readonly unknown_state: {
        readonly title: string
        readonly happened: string
        readonly todo: string
      }
      readonly wrong_provider: {
        readonly title: string
        readonly happened: string
        readonly todo: string
      }
      readonly unknown_login: {
        readonly title: string
        readonly happened: string
        readonly todo: string
      }
      readonly another_user: {
        readonly title: string
        readonly happened: string
        readonly todo: string
      }
      readonly login_cancelled: {
        readonly title: string
        readonly happened: string
        readonly todo: string
      }
      readonly login_unavailable: {
        readonly title: string
        readonly happened: string
        readonly todo: string
      }
      readonly login_failed: {
        readonly title: string
        readonly happened: string
        readonly todo: string
      }
      readonly not_found: {
        readonly title: string
        readonly happened: string
        readonly todo: string
      }
      readonly opened_elsewhere: {
        readonly title: string
        readonly happened: string
        readonly todo: string
      }
      readonly session_over: {
        readonly title: string
        readonly happened: string
        readonly todo: string
      }
      readonly other_origin: {
        readonly title: string
        readonly happened: string
        readonly todo: string
      }
      readonly foreign_click: {
        readonly title: string
        readonly happened: string
        readonly todo: string
      }
      readonly not_set_up: {
        readonly title: string
        readonly happened: string
        readonly todo: string
      }
      readonly refused_request: {
        readonly title: string
        readonly happened: string
        readonly todo: string
      }
      readonly problem: {
        readonly title: string
        readonly happened: string
        readonly todo: string
      }
    }
  }
  readonly portal: {
    readonly title: string
    readonly intro: AppSentence
    readonly youAre: AppSentence<'user'>
    readonly logout: string
    readonly backTo: Sentence<'host'>
    readonly none: string
    readonly isDefault: string
    readonly needsYou: string
    readonly reasons: {
      readonly refresh_refused: Sentence<'provider'>
      readonly consent_withdrawn: Sentence<'provider'>
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
    readonly undescribed: Sentence<'scope' | 'provider'>
    readonly connectedOn: string
    readonly lastUsed: string
    readonly never: string
    readonly usedBy: string
    readonly moreTools: CountSentence
    readonly unused: Sentence<'day'>
    readonly removedProvider: string
    readonly reconnect: string
    readonly makeDefault: string
    readonly addAccount: Sentence<'provider'>
    readonly disconnect: string
    readonly showMore: string
    readonly applications: string
    readonly applicationsIntro: string
    readonly unverified: string
    readonly applicationMay: {
      readonly call: string
      readonly see: string
      readonly nothing: string
    }
    readonly allowedOn: string
    readonly endAccess: string
    readonly removeApplication: string
    readonly endAllAccess: string
    readonly confirmDisconnect: Sentence<'provider'>
    readonly confirmText: AppSentence<'provider'>
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
      readonly stale_form: string
    }
    readonly data: {
      readonly title: string
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
  readonly start: {
    readonly title: string
    readonly heading: string
    readonly what: string
    readonly facts: {
      readonly address: string
      readonly version: string
      readonly mode: string
    }
    readonly development: string
    readonly production: string
    readonly readOn: string
    readonly console: string
    readonly reference: string
    readonly mcp: string
    readonly openapi: string
    readonly health: string
    readonly whatNext: string
    readonly terminal: string
    readonly sample: Sentence<'tool'>
    readonly oneMachine: Sentence<'command'>
    readonly login: {
      readonly title: string
      readonly tag: string
      readonly heading: string
      readonly unchecked: Sentence<'setting'>
      readonly refused: string
      readonly userId: string
      readonly go: string
    }
  }
}
