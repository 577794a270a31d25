import { html } from 'hono/html'
import type { Translation } from '../text.ts'
import type { en } from './en.ts'

export const es: Translation<typeof en> = {
  title: 'Permitir una aplicación',
  wants: (client) => html`${client ?? 'Una aplicación'} quiere usar tus herramientas`,
  loggedInAs: (user) => html`Has iniciado sesión como <strong>${user}</strong>`,
  may: 'Lo que podrá hacer',
  call: 'Ver tus herramientas y usarlas por ti con las cuentas que has conectado',
  see: 'Ver tus herramientas, sin usarlas',
  allTools: 'Todas las herramientas que este servidor tiene para ti',
  toolset: (toolset) => html`Solo las herramientas de la selección <strong>${toolset}</strong>`,
  whoAsks: 'Quién lo pide',
  facts: { application: 'Aplicación', identity: 'Identidad', leadsTo: 'Te lleva de vuelta a' },
  unverified: 'Sin verificar: se registró sola, con el nombre que quiso',
  verified: (host) => html`Verificada: <strong>${host}</strong>`,
  program: (host) => html`Un programa de este equipo (${host})`,
  installed: (scheme) => html`Una aplicación de este dispositivo (${scheme})`,
  warnOfHost: (host) =>
    html`Permítelo solo si acabas de añadir tú mismo este servidor en una aplicación de <strong>${host}</strong>.`,
  warnOfProgram:
    'Cualquier programa de este equipo puede recibir este acceso, con cualquier nombre. Permítelo solo si acabas de iniciar tú la conexión. Si alguien te envió un enlace a esta página, cancela.',
  allow: 'Permitir',
  logInAsAnother: 'Iniciar sesión con otro usuario',
  endLater: (page) =>
    html`Puedes retirar el acceso en cualquier momento en ${page}. La aplicación nunca ve las contraseñas ni las claves de acceso de tus cuentas.`,
  none: 'No hay ninguna aplicación conectada.',
  refusals: {
    session_not_found: {
      title: 'Este inicio de sesión ha caducado',
      happened: 'Empezó hace demasiado tiempo o en otro navegador, o ya terminó.',
    },
    temporarily_unavailable: {
      title: 'Hay demasiados inicios de sesión en curso',
      happened: 'Espera un momento e inténtalo de nuevo.',
    },
    too_many_clients: {
      title: 'Has permitido demasiadas aplicaciones',
      happened: 'Retira en /me/clients el acceso de algunas que ya no uses.',
    },
    invalid_client: {
      title: 'Esta aplicación no se conoce aquí',
      happened: 'Nunca se registró aquí, o su registro ha caducado.',
    },
    client_document: {
      title: 'No se puede identificar esta aplicación',
      happened: 'No se pudo leer su descripción.',
    },
    invalid_redirect_uri: {
      title: 'La solicitud de la aplicación no se puede aceptar',
      happened: 'La aplicación pide volver a una dirección que no ha registrado.',
    },
    other: {
      title: 'La solicitud de la aplicación no se puede aceptar',
      happened: 'La aplicación envió una solicitud no válida, así que no se te llevó de vuelta a ella.',
    },
  },
  refusedTodo:
    'Vuelve a la aplicación y conéctala de nuevo. Si sigue igual, quita este servidor de la aplicación y añádelo otra vez.',
  unreadAt: (host) =>
    html`La aplicación se describe en <strong>${host}</strong>, y este servidor no pudo leer esa descripción.`,
  unreadTodo: () =>
    html`Inténtalo de nuevo en un minuto. Si sigue igual, díselo a quienes administran este servidor: quizá no tenga acceso a esa dirección. Con el ajuste <code>GATEPASS_MCP_<wbr>CLIENT_<wbr>DOCUMENTS=off</code> las aplicaciones se registran por sí mismas; quita después este servidor de la aplicación y añádelo otra vez.`,
  wantsYouAt: (host) => html`La aplicación quiere llevarte a <strong>${host}</strong>.`,
  goThere: 'Ir allí, si conoces la dirección',
}
