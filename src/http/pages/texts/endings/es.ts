import { html } from 'hono/html'
import type { Translation } from '../text.ts'
import type { en } from './en.ts'

const AGAIN = 'vuelve a tu aplicación y empieza de nuevo: te dará otro enlace'

export const es: Translation<typeof en> = {
  isConnected: (provider) => `${provider} está conectado`,
  canNowUse: (app, provider) => html`${app ?? 'Tu aplicación'} ya puede usar tu cuenta de ${provider}.`,
  anotherAccount: (before) =>
    html`Hasta ahora estaba conectada ${before}: sigue conectada, pero desde ahora se usa esta cuenta.`,
  whatToDo: 'Qué puedes hacer',
  reason: 'Motivo:',
  forOperator: 'Para quienes administran este servicio',
  forToolAuthor: 'Para quienes crearon la herramienta',
  backTo: (app) => html`Volver a ${app ?? 'tu aplicación'}`,
  tryAgain: 'Intentar de nuevo',
  startAgainAt: (provider) => html`Empezar de nuevo en ${provider}`,
  lookAgain: 'Comprobar de nuevo',
  logInAsYourself: 'Iniciar sesión con tu cuenta',
  closeWindow: 'Cerrar esta ventana',
  closesItself: 'Esta ventana se cierra sola. Si sigue abierta, ciérrala y vuelve a tu aplicación.',
  facts: {
    provider: 'Proveedor',
    account: 'Cuenta',
    notGranted: 'No concedido',
    askedBy: 'Solicitado por',
    user: 'Usuario',
  },
  failures: {
    access_denied: {
      title: 'No se aprobó el acceso',
      happened: 'La solicitud se canceló, o el proveedor la rechazó.',
      todo: `No se guardó nada. Si no querías rechazarla, ${AGAIN}.`,
    },
    expired: {
      title: 'Este enlace ha caducado',
      happened: 'El enlace no se usó a tiempo.',
      todo: `Si aún quieres conectar la cuenta, ${AGAIN}. Ábrelo poco después de recibirlo.`,
    },
    user_mismatch: {
      title: 'Este enlace era para otra persona',
      happened: 'Quien ha iniciado sesión no es la persona para la que se creó el enlace.',
      todo: 'No se guardó nada. Si alguien te envió este enlace, no lo uses. Si es tuyo, inicia sesión con tu propia cuenta y pide un enlace nuevo a tu aplicación.',
    },
    issuer_mismatch: {
      title: 'La respuesta vino de otro lugar',
      happened: 'La respuesta no vino del proveedor al que se preguntó, así que no se usó.',
      todo: 'No se guardó nada. Vuelve a tu aplicación y empieza de nuevo. Si ocurre otra vez, no sigas y avisa a quienes administran este servicio.',
    },
    invalid_scope: {
      title: 'Estos permisos no están disponibles',
      happened: 'El proveedor no concede los permisos que se pidieron.',
      todo: 'Empezar de nuevo no servirá. Avisa a quienes administran este servicio: hay que cambiar los permisos de la herramienta o del proveedor.',
    },
    invalid_client: {
      title: 'Este servicio no está bien registrado',
      happened: 'El proveedor no acepta el registro de este servicio.',
      todo: 'No has hecho nada mal. Avisa a quienes administran este servicio: hay que corregir el identificador de cliente, el secreto o la URI de redirección del proveedor.',
    },
    invalid_grant: {
      title: 'La aprobación ya no era válida',
      happened: 'El proveedor no aceptó la aprobación que acababa de dar.',
      todo: `Ocurre cuando el regreso tarda demasiado o se usa dos veces. Para intentarlo otra vez, ${AGAIN}.`,
    },
    provider_refused: {
      title: 'El proveedor rechazó la solicitud',
      happened: 'El proveedor rechazó la solicitud.',
      todo: 'Vuelve a tu aplicación y empieza de nuevo. Si sigue igual, avisa a quienes administran este servicio e indica el motivo que aparece abajo.',
    },
    provider_bad_response: {
      title: 'La respuesta del proveedor no sirve',
      happened: 'El proveedor respondió algo que no se puede usar.',
      todo: 'Vuelve a tu aplicación y empieza de nuevo. Si sigue igual, avisa a quienes administran este servicio e indica el motivo que aparece abajo.',
    },
    provider_unavailable: {
      title: 'El proveedor no está disponible',
      happened: 'No se pudo contactar con el proveedor, o tiene un problema propio.',
      todo: `No has hecho nada mal. Espera unos minutos; después, ${AGAIN}.`,
    },
    provider_changed: {
      title: 'La configuración del proveedor ha cambiado',
      happened: 'El proveedor se modificó aquí mientras tanto, así que la respuesta no se usó.',
      todo: `Para conectar con la nueva configuración, ${AGAIN}.`,
    },
    account_mismatch: {
      title: 'Aprobó otra cuenta',
      happened: 'La cuenta que aprobó no es la que se pidió.',
      todo: `No se guardó nada. Para conectar la cuenta correcta, ${AGAIN}, y elige esa cuenta en el proveedor.`,
    },
  },
  kinds: {
    completed: {
      title: 'Conectado',
      happened: 'El acceso se aprobó.',
      todo: 'Puedes cerrar esta ventana y volver a tu aplicación.',
    },
    failed: {
      title: 'No conectado',
      happened: 'No se pudo conectar la cuenta.',
      todo: `Para intentarlo otra vez, ${AGAIN}.`,
    },
    working: {
      title: 'Terminando…',
      happened: 'Tu aprobación ha llegado y se está procesando.',
      todo: 'Solo tienes que esperar un momento.',
    },
    waiting_for_confirmation: {
      title: 'Esperando a tu aplicación',
      happened: 'Tu aprobación ha llegado. Tu aplicación está comprobando que eres tú.',
      todo: 'Sigue en tu aplicación; inicia sesión allí si te lo pide. Antes de eso no se guarda nada. Si su página ya no está, empieza de nuevo.',
    },
    confirmed: {
      title: 'Sigue en tu aplicación',
      happened:
        'Tu aplicación ha confirmado que fuiste tú quien aprobó, y te lleva adelante desde su propia página.',
      todo: 'Sigue en tu aplicación. Antes de eso no se guarda nada. Si su página ya no está, empieza de nuevo.',
    },
    confirmed_elsewhere: {
      title: 'Se aprobó en otro navegador',
      happened: 'Tu aplicación ha confirmado que eres tú, pero «Continuar» se pulsó en otro navegador.',
      todo: 'No se guardó nada. Si lo pulsaste tú, abre el enlace otra vez en este navegador y empieza aquí. Si alguien te envió la dirección, cierra esta página: no fue tu cuenta la que se aprobó.',
    },
    wrong_browser: {
      title: 'Sigue en el otro navegador',
      happened:
        'La respuesta del proveedor se abrió en un navegador distinto de aquel en el que pulsaste «Continuar».',
      todo: 'No se guardó nada. Vuelve al navegador en el que pulsaste, o abre el enlace otra vez en este y empieza aquí.',
    },
    held_elsewhere: {
      title: 'Esto está en curso en otro navegador',
      happened: '«Continuar» se pulsó en otro navegador, así que desde aquí no se canceló nada.',
      todo: 'No se cambió nada. Si lo pulsaste tú, cancela allí. Si no, cierra esta página y avisa a tu aplicación: otra persona tiene este enlace.',
    },
    unknown_state: {
      title: 'Esta respuesta no corresponde a ninguna solicitud abierta',
      happened: 'La solicitud terminó por un clic más reciente, ya acabó o nunca existió.',
      todo: `No se guardó nada. Si tienes una ventana más reciente, sigue allí. Si no, ${AGAIN}.`,
    },
    wrong_provider: {
      title: 'Esta respuesta llegó a la dirección equivocada',
      happened: 'La respuesta llegó a la dirección de un proveedor distinto de aquel al que se preguntó.',
      todo: 'No se guardó nada. Vuelve a tu aplicación y empieza de nuevo. Si ocurre otra vez, no sigas y avisa a quienes administran este servicio.',
    },
    unknown_login: {
      title: 'Este inicio de sesión no empezó aquí',
      happened: 'Empezó en otro navegador o hace demasiado tiempo, o ya terminó.',
      todo: 'No se guardó nada. Sigue en el navegador en el que pulsaste «Continuar», o abre el enlace otra vez en este. Si alguien te envió esta dirección, cierra esta página.',
    },
    another_user: {
      title: 'Aquí ha iniciado sesión otra persona',
      happened: 'Este enlace no se creó para quien ha iniciado sesión en este navegador.',
      todo: 'No se envió nada al proveedor, y el enlace aún sirve. Si es tuyo, inicia sesión con tu propia cuenta. Si alguien te envió este enlace, no lo uses.',
    },
    login_cancelled: {
      title: 'No has iniciado sesión',
      happened: 'El inicio de sesión se canceló o se rechazó, así que no es seguro que seas tú.',
      todo: 'No se guardó nada, y el enlace aún sirve. Para seguir, inténtalo de nuevo con tu propia cuenta. Si no querías conectar nada, cierra esta página.',
    },
    login_unavailable: {
      title: 'Ahora no puedes iniciar sesión',
      happened: 'No se pudo contactar con el servicio de inicio de sesión, o tiene un problema propio.',
      todo: 'No has hecho nada mal, y el enlace aún sirve. Espera un momento e inténtalo de nuevo. Si sigue igual, avisa a quienes administran este servicio.',
    },
    login_failed: {
      title: 'El inicio de sesión no funcionó',
      happened: 'El servicio de inicio de sesión respondió algo que no se puede usar.',
      todo: 'No se guardó nada, y el enlace aún sirve. Inténtalo de nuevo. Si sigue igual, avisa a quienes administran este servicio: el motivo está en su registro.',
    },
    not_found: {
      title: 'Esta página no existe',
      happened: 'El enlace está incompleto, o es de una solicitud que ya no se conserva.',
      todo: 'Comprueba que abriste el enlace completo. Si es así, pide uno nuevo a tu aplicación.',
    },
    opened_elsewhere: {
      title: 'Este enlace pertenece a otro navegador',
      happened: 'Tu aplicación abrió esta página en un navegador distinto de este.',
      todo: 'No se guardó nada. Si la abriste tú, sigue en aquel navegador o empieza de nuevo desde tu aplicación en este. Si alguien te envió este enlace, cierra esta página.',
    },
    session_over: {
      title: 'Esta solicitud ha terminado',
      happened: 'La solicitud de tu aplicación ha terminado o es demasiado antigua.',
      todo: 'Vuelve a tu aplicación y empieza de nuevo allí.',
    },
    other_origin: {
      title: 'Esto no vino de tu aplicación',
      happened:
        'La solicitud venía de un sitio distinto del que la aplicación ha indicado, así que no se abrió nada.',
      todo: 'Vuelve a tu aplicación y empieza de nuevo allí. Si sigue igual, avisa a quienes administran la aplicación: el origen permitido de la sesión debe ser el de su página.',
    },
    foreign_click: {
      title: 'Esto no vino de nuestra página',
      happened: 'El clic no vino de la página que se te mostró, así que no se hizo nada.',
      todo: 'Abre el enlace otra vez y pulsa allí.',
    },
    not_set_up: {
      title: 'No podemos llevarte al proveedor',
      happened: 'El proveedor no está configurado del todo aquí.',
      todo: 'No has hecho nada mal. Muestra esta página a quienes administran este servicio.',
    },
    refused_request: {
      title: 'Esta solicitud no se puede aceptar',
      happened: 'Esta página no entiende la solicitud.',
      todo: 'Vuelve a tu aplicación y empieza de nuevo.',
    },
    problem: {
      title: 'Algo ha salido mal',
      happened: 'No se pudo llevar a cabo la solicitud.',
      todo: 'Inténtalo de nuevo en un momento. Si sigue igual, avisa a quienes administran este servicio: el motivo está en su registro.',
    },
  },
}
