import { html } from 'hono/html'
import type { Translation } from '../text.ts'
import type { en } from './en.ts'

const AGAIN =
  'gehen Sie zu Ihrer Anwendung zurück und beginnen Sie dort von vorn: Sie erhalten einen neuen Link'

export const de: Translation<typeof en> = {
  isConnected: (provider) => `${provider} ist verbunden`,
  canNowUse: (app, provider) => html`${app ?? 'Ihre Anwendung'} kann jetzt Ihr Konto bei ${provider} nutzen.`,
  anotherAccount: (before) =>
    html`Bisher war ${before} verbunden. Diese Verbindung bleibt bestehen, verwendet wird ab jetzt das neue Konto.`,
  whatToDo: 'Was Sie tun können',
  reason: 'Grund:',
  forOperator: 'Für die Betreiber dieses Dienstes',
  forToolAuthor: 'Für die Entwickler des Werkzeugs',
  backTo: (app) => (app === undefined ? 'Zurück zu Ihrer Anwendung' : html`Zurück zu ${app}`),
  tryAgain: 'Erneut versuchen',
  startAgainAt: (provider) => html`Bei ${provider} von vorn beginnen`,
  lookAgain: 'Erneut nachsehen',
  logInAsYourself: 'Mit dem eigenen Konto anmelden',
  closeWindow: 'Fenster schließen',
  closesItself:
    'Dieses Fenster schließt sich von selbst. Wenn es offen bleibt, schließen Sie es und gehen Sie zurück zu Ihrer Anwendung.',
  facts: {
    provider: 'Anbieter',
    account: 'Konto',
    notGranted: 'Nicht erteilt',
    askedBy: 'Angefragt von',
    user: 'Benutzer',
  },
  failures: {
    access_denied: {
      title: 'Der Zugriff wurde nicht erlaubt',
      happened: 'Die Anfrage wurde abgebrochen oder beim Anbieter abgelehnt.',
      todo: `Es wurde nichts gespeichert. Wollten Sie nicht ablehnen, ${AGAIN}.`,
    },
    expired: {
      title: 'Dieser Link ist abgelaufen',
      happened: 'Der Link wurde nicht rechtzeitig benutzt.',
      todo: `Um doch noch zu verbinden, ${AGAIN}. Öffnen Sie ihn bald nach Erhalt.`,
    },
    user_mismatch: {
      title: 'Dieser Link war für jemand anderen bestimmt',
      happened: 'Die angemeldete Person ist nicht die, für die der Link erstellt wurde.',
      todo: 'Es wurde nichts gespeichert. Hat Ihnen jemand diesen Link geschickt, benutzen Sie ihn nicht. Gehört er Ihnen, melden Sie sich mit Ihrem eigenen Konto an und lassen Sie sich von Ihrer Anwendung einen neuen Link geben.',
    },
    issuer_mismatch: {
      title: 'Die Antwort kam von anderer Stelle',
      happened: 'Die Antwort stammt nicht von dem Anbieter, der gefragt wurde. Sie wurde nicht verwendet.',
      todo: 'Es wurde nichts gespeichert. Gehen Sie zu Ihrer Anwendung zurück und beginnen Sie von vorn. Geschieht es noch einmal, machen Sie nicht weiter und verständigen Sie die Betreiber dieses Dienstes.',
    },
    invalid_scope: {
      title: 'Diese Berechtigungen sind nicht verfügbar',
      happened: 'Der Anbieter erteilt die angefragten Berechtigungen nicht.',
      todo: 'Ein neuer Versuch hilft nicht. Verständigen Sie die Betreiber dieses Dienstes: Die Berechtigungen des Werkzeugs oder des Anbieters müssen geändert werden.',
    },
    invalid_client: {
      title: 'Dieser Dienst ist nicht richtig registriert',
      happened: 'Der Anbieter akzeptiert die Registrierung dieses Dienstes nicht.',
      todo: 'Sie haben nichts falsch gemacht. Verständigen Sie die Betreiber dieses Dienstes: Client-ID, Client-Secret oder Redirect-URI des Anbieters müssen berichtigt werden.',
    },
    invalid_grant: {
      title: 'Die Zustimmung war nicht mehr gültig',
      happened: 'Der Anbieter hat die eben erteilte Zustimmung nicht angenommen.',
      todo: `Das geschieht, wenn der Rückweg zu lange dauert oder zweimal benutzt wird. Um es noch einmal zu versuchen, ${AGAIN}.`,
    },
    provider_refused: {
      title: 'Der Anbieter hat die Anfrage abgelehnt',
      happened: 'Der Anbieter hat die Anfrage abgelehnt.',
      todo: 'Gehen Sie zu Ihrer Anwendung zurück und beginnen Sie von vorn. Bleibt es dabei, verständigen Sie die Betreiber dieses Dienstes und nennen Sie den Grund, der unten steht.',
    },
    provider_bad_response: {
      title: 'Die Antwort des Anbieters war unbrauchbar',
      happened: 'Der Anbieter hat etwas geantwortet, das sich nicht verwenden lässt.',
      todo: 'Gehen Sie zu Ihrer Anwendung zurück und beginnen Sie von vorn. Bleibt es dabei, verständigen Sie die Betreiber dieses Dienstes und nennen Sie den Grund, der unten steht.',
    },
    provider_unavailable: {
      title: 'Der Anbieter ist nicht erreichbar',
      happened: 'Der Anbieter war nicht erreichbar oder hat selbst eine Störung.',
      todo: `Sie haben nichts falsch gemacht. Warten Sie einige Minuten; danach ${AGAIN}.`,
    },
    provider_changed: {
      title: 'Die Einstellungen des Anbieters wurden geändert',
      happened: 'Der Anbieter wurde hier zwischenzeitlich geändert, daher wurde die Antwort nicht verwendet.',
      todo: `Um mit den neuen Einstellungen zu verbinden, ${AGAIN}.`,
    },
    account_mismatch: {
      title: 'Ein anderes Konto hat zugestimmt',
      happened: 'Das Konto, das zugestimmt hat, ist nicht das angefragte.',
      todo: `Es wurde nichts gespeichert. Um das richtige Konto zu verbinden, ${AGAIN}, und wählen Sie beim Anbieter dieses Konto.`,
    },
  },
  kinds: {
    completed: {
      title: 'Verbunden',
      happened: 'Der Zugriff wurde erlaubt.',
      todo: 'Sie können dieses Fenster schließen und zu Ihrer Anwendung zurückkehren.',
    },
    failed: {
      title: 'Nicht verbunden',
      happened: 'Das Konto konnte nicht verbunden werden.',
      todo: `Um es noch einmal zu versuchen, ${AGAIN}.`,
    },
    working: {
      title: 'Wird abgeschlossen\u00a0…',
      happened: 'Ihre Zustimmung ist angekommen und wird gerade verarbeitet.',
      todo: 'Sie müssen nur einen Moment warten.',
    },
    waiting_for_confirmation: {
      title: 'Warten auf Ihre Anwendung',
      happened: 'Ihre Zustimmung ist angekommen. Ihre Anwendung prüft, ob Sie es sind.',
      todo: 'Machen Sie in Ihrer Anwendung weiter und melden Sie sich dort an, wenn sie es verlangt. Vorher wird nichts gespeichert. Ist ihre Seite nicht mehr da, beginnen Sie von vorn.',
    },
    confirmed: {
      title: 'Machen Sie in Ihrer Anwendung weiter',
      happened:
        'Ihre Anwendung hat bestätigt, dass Sie zugestimmt haben, und leitet Sie von ihrer Seite aus weiter.',
      todo: 'Machen Sie in Ihrer Anwendung weiter. Vorher wird nichts gespeichert. Ist ihre Seite nicht mehr da, beginnen Sie von vorn.',
    },
    confirmed_elsewhere: {
      title: 'Die Zustimmung kam aus einem anderen Browser',
      happened:
        'Ihre Anwendung hat bestätigt, dass Sie es sind. „Weiter“ wurde aber in einem anderen Browser angeklickt.',
      todo: 'Es wurde nichts gespeichert. Haben Sie selbst geklickt, öffnen Sie den Link in diesem Browser und beginnen Sie hier. Hat Ihnen jemand die Adresse geschickt, schließen Sie diese Seite: Es war nicht Ihr Konto, dem zugestimmt wurde.',
    },
    wrong_browser: {
      title: 'Bitte machen Sie im anderen Browser weiter',
      happened:
        'Die Antwort des Anbieters wurde in einem anderen Browser geöffnet als dem, in dem Sie auf „Weiter“ geklickt haben.',
      todo: 'Es wurde nichts gespeichert. Gehen Sie in den Browser zurück, in dem Sie geklickt haben, oder öffnen Sie den Link in diesem und beginnen Sie hier.',
    },
    held_elsewhere: {
      title: 'Der Vorgang läuft in einem anderen Browser',
      happened:
        '„Weiter“ wurde in einem anderen Browser angeklickt, daher wurde von hier aus nichts abgebrochen.',
      todo: 'Es wurde nichts geändert. Haben Sie selbst geklickt, brechen Sie dort ab. Andernfalls schließen Sie diese Seite und verständigen Sie Ihre Anwendung: Jemand anderes hat diesen Link.',
    },
    unknown_state: {
      title: 'Diese Antwort gehört zu keiner offenen Anfrage',
      happened:
        'Die Anfrage wurde durch einen neueren Klick beendet, ist schon vorbei oder hat nie bestanden.',
      todo: `Es wurde nichts gespeichert. Haben Sie ein neueres Fenster, machen Sie dort weiter. Sonst ${AGAIN}.`,
    },
    wrong_provider: {
      title: 'Diese Antwort kam an die falsche Adresse',
      happened: 'Die Antwort kam an der Adresse eines anderen Anbieters an als dem, der gefragt wurde.',
      todo: 'Es wurde nichts gespeichert. Gehen Sie zu Ihrer Anwendung zurück und beginnen Sie von vorn. Geschieht es noch einmal, machen Sie nicht weiter und verständigen Sie die Betreiber dieses Dienstes.',
    },
    unknown_login: {
      title: 'Diese Anmeldung wurde nicht hier begonnen',
      happened:
        'Sie wurde in einem anderen Browser oder vor zu langer Zeit begonnen, oder sie ist schon vorbei.',
      todo: 'Es wurde nichts gespeichert. Machen Sie in dem Browser weiter, in dem Sie auf „Weiter“ geklickt haben, oder öffnen Sie den Link in diesem. Hat Ihnen jemand diese Adresse geschickt, schließen Sie diese Seite.',
    },
    another_user: {
      title: 'Hier ist jemand anderes angemeldet',
      happened: 'Dieser Link wurde nicht für die Person erstellt, die hier angemeldet ist.',
      todo: 'An den Anbieter wurde nichts gesendet, und der Link kann noch benutzt werden. Gehört er Ihnen, melden Sie sich mit Ihrem eigenen Konto an. Hat Ihnen jemand diesen Link geschickt, benutzen Sie ihn nicht.',
    },
    login_cancelled: {
      title: 'Sie haben sich nicht angemeldet',
      happened: 'Die Anmeldung wurde abgebrochen oder abgelehnt. Daher ist nicht sicher, dass Sie es sind.',
      todo: 'Es wurde nichts gespeichert, und der Link kann noch benutzt werden. Versuchen Sie es erneut und melden Sie sich mit Ihrem eigenen Konto an. Wollten Sie gar nichts verbinden, schließen Sie diese Seite.',
    },
    login_unavailable: {
      title: 'Die Anmeldung ist gerade nicht möglich',
      happened: 'Der Dienst, bei dem Sie sich anmelden, war nicht erreichbar oder hat selbst eine Störung.',
      todo: 'Sie haben nichts falsch gemacht, und der Link kann noch benutzt werden. Warten Sie einen Moment und versuchen Sie es erneut. Bleibt es dabei, verständigen Sie die Betreiber dieses Dienstes.',
    },
    login_failed: {
      title: 'Die Anmeldung hat nicht funktioniert',
      happened:
        'Der Dienst, bei dem Sie sich anmelden, hat etwas geantwortet, das sich nicht verwenden lässt.',
      todo: 'Es wurde nichts gespeichert, und der Link kann noch benutzt werden. Versuchen Sie es erneut. Bleibt es dabei, verständigen Sie die Betreiber dieses Dienstes: Der Grund steht in ihrem Protokoll.',
    },
    not_found: {
      title: 'Diese Seite gibt es nicht',
      happened: 'Der Link ist unvollständig oder gehört zu einer Anfrage, die nicht mehr aufbewahrt wird.',
      todo: 'Prüfen Sie, ob Sie den ganzen Link geöffnet haben. Wenn ja, lassen Sie sich von Ihrer Anwendung einen neuen geben.',
    },
    opened_elsewhere: {
      title: 'Dieser Link gehört zu einem anderen Browser',
      happened: 'Ihre Anwendung hat diese Seite in einem anderen Browser als diesem geöffnet.',
      todo: 'Es wurde nichts gespeichert. Haben Sie sie selbst geöffnet, machen Sie in jenem Browser weiter oder beginnen Sie in diesem von Ihrer Anwendung aus von vorn. Hat Ihnen jemand diesen Link geschickt, schließen Sie diese Seite.',
    },
    session_over: {
      title: 'Diese Anfrage ist beendet',
      happened: 'Die Anfrage Ihrer Anwendung ist beendet oder zu alt.',
      todo: 'Gehen Sie zu Ihrer Anwendung zurück und beginnen Sie dort von vorn.',
    },
    other_origin: {
      title: 'Das kam nicht von Ihrer Anwendung',
      happened:
        'Die Anfrage kam von einer anderen Website als der, die die Anwendung genannt hat. Deshalb wurde nichts geöffnet.',
      todo: 'Gehen Sie zu Ihrer Anwendung zurück und beginnen Sie dort von vorn. Bleibt es dabei, verständigen Sie die Betreiber der Anwendung: Der erlaubte Ursprung der Sitzung muss der Ursprung ihrer Seite sein.',
    },
    foreign_click: {
      title: 'Das kam nicht von unserer Seite',
      happened:
        'Der Klick kam nicht von der Seite, die Ihnen gezeigt wurde. Deshalb wurde nichts unternommen.',
      todo: 'Öffnen Sie den Link noch einmal und klicken Sie dort.',
    },
    not_set_up: {
      title: 'Sie können nicht weitergeleitet werden',
      happened: 'Der Anbieter ist hier nicht vollständig eingerichtet.',
      todo: 'Sie haben nichts falsch gemacht. Zeigen Sie diese Seite den Betreibern dieses Dienstes.',
    },
    refused_request: {
      title: 'Diese Anfrage kann nicht angenommen werden',
      happened: 'Diese Seite versteht die Anfrage nicht.',
      todo: 'Gehen Sie zu Ihrer Anwendung zurück und beginnen Sie von vorn.',
    },
    problem: {
      title: 'Etwas ist schiefgegangen',
      happened: 'Die Anfrage konnte nicht ausgeführt werden.',
      todo: 'Versuchen Sie es gleich noch einmal. Bleibt es dabei, verständigen Sie die Betreiber dieses Dienstes: Der Grund steht in ihrem Protokoll.',
    },
  },
}
