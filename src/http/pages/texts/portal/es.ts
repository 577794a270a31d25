import { html } from 'hono/html'
import { plural } from '../plural.ts'
import type { Translation } from '../text.ts'
import type { en } from './en.ts'

export const es: Translation<typeof en> = {
  title: 'Tus cuentas conectadas',
  intro: (app) =>
    html`Las herramientas de ${app ?? 'tu aplicación'} usan estas cuentas por ti. Puedes retirarles el acceso aquí en cualquier momento.`,
  youAre: (user, app) =>
    app === undefined ? html`Eres <strong>${user}</strong>.` : html`Eres <strong>${user}</strong> en ${app}.`,
  logout: 'Cerrar sesión',
  backTo: (host) => html`Volver a ${host}`,
  none: 'No hay ninguna cuenta conectada.',
  isDefault: 'Cuenta predeterminada',
  needsYou: 'Necesita tu atención',
  reasons: {
    refresh_refused: (provider) => html`${provider} ya no acepta este acceso.`,
    consent_withdrawn: (provider) => html`El acceso se retiró en ${provider}.`,
    token_expired: 'El acceso ha caducado.',
    refresh_token_expired: 'El acceso ha caducado porque no se usó durante mucho tiempo.',
    provider_changed: (provider) => html`La conexión con ${provider} se configuró de nuevo.`,
    refresh_outcome_lost: (provider) => html`Se perdió una respuesta de ${provider} y, con ella, el acceso.`,
    account_changed: (provider) => html`${provider} respondió por otra cuenta.`,
    unreadable: 'El acceso guardado ya no se puede leer.',
  },
  untilReconnected: 'Las herramientas no podrán usar esta cuenta hasta que la vuelvas a conectar.',
  may: 'Lo que pueden hacer las herramientas',
  more: (count) => plural('es', count, { one: '# más', other: '# más' }),
  defaults: (provider) => html`Lo que ${provider} permite a cualquier aplicación`,
  undescribed: (scope, provider) => html`Usar ${scope}, como lo describe ${provider}`,
  connectedOn: 'Conectada',
  lastUsed: 'Último uso',
  never: 'Todavía no',
  usedBy: 'La usan',
  moreTools: (count) => plural('es', count, { one: 'y # herramienta más', other: 'y # herramientas más' }),
  unused: (day) => html`Sin uso desde el ${day}. Si ya no la necesitas, desconéctala.`,
  removedProvider: 'Un servicio que se eliminó',
  reconnect: 'Volver a conectar',
  makeDefault: 'Usar de forma predeterminada',
  addAccount: (provider) => html`Añadir otra cuenta de ${provider}`,
  disconnect: 'Desconectar',
  showMore: 'Mostrar más cuentas',
  applications: 'Aplicaciones que actúan por ti',
  applicationsIntro: 'Estos programas ven tus herramientas mediante MCP y las usan por ti.',
  unverified: 'sin verificar',
  applicationMay: {
    call: 'Puede ver y usar tus herramientas.',
    see: 'Puede ver tus herramientas.',
    nothing: 'No tiene acceso hasta que la permitas de nuevo: te lo preguntará cuando se conecte.',
  },
  allowedOn: 'Permitida',
  endAccess: 'Retirar el acceso',
  removeApplication: 'Quitar',
  endAllAccess: 'Retirar el acceso a todas',
  confirmDisconnect: (provider) => html`¿Desconectar ${provider}?`,
  confirmText: (provider, app) =>
    html`Las herramientas de ${app ?? 'tu aplicación'} ya no podrán usar esta cuenta. El acceso guardado se borra aquí, y pedimos a ${provider} que también le ponga fin.`,
  keep: 'Conservar',
  notes: {
    disconnected: (provider) => html`${provider} está desconectado. El acceso terminó aquí y allí.`,
    disconnected_here: (provider) =>
      html`El acceso se borró aquí. ${provider} no permite retirarlo desde aquí: retíralo también en tu cuenta de ${provider}.`,
    disconnect_unconfirmed: (provider) =>
      html`El acceso se borró aquí. ${provider} no confirmó que haya terminado: retíralo también en tu cuenta de ${provider}.`,
    disconnected_before:
      'Esta cuenta ya no está conectada aquí. Comprueba en tu cuenta del servicio si el acceso terminó también allí.',
    made_default: (provider) => html`Esta cuenta de ${provider} es ahora la predeterminada.`,
    client_ended: (application) => html`${application} ya no puede actuar por ti.`,
    clients_ended: 'Ya ninguna aplicación actúa por ti.',
    connected: 'La cuenta está conectada.',
    not_connected: 'La cuenta no se conectó. Puedes intentarlo de nuevo.',
    stale_form: 'Esta página estuvo abierta mucho tiempo, así que no se cambió nada. Inténtalo de nuevo.',
  },
  data: {
    title: 'Tus datos',
    intro: 'Consulta lo que se guarda sobre ti o bórralo.',
    download: 'Descargar tus datos',
    downloadText:
      'Un archivo con tus cuentas, permisos, aplicaciones, ejecuciones de herramientas y el registro de lo ocurrido. No contiene contraseñas ni claves de acceso.',
    erase: 'Borrar todo',
    eraseText: 'Retira todos los accesos y borra lo que se guarda sobre ti.',
    logInFirst: 'Para esto, confirma una vez más que eres tú.',
    logIn: 'Iniciar sesión de nuevo',
    notAllowed: (app) => html`Para hacer esto, pídelo en ${app ?? 'tu aplicación'}.`,
    back: 'Volver a tus cuentas',
  },
  erase: {
    title: '¿Borrar todo?',
    intro: 'Esta acción no se puede deshacer.',
    points: [
      'Se desconectan todas las cuentas y se pide a cada servicio que ponga fin al acceso.',
      'Las aplicaciones que actúan por ti pierden el acceso.',
      'Las ejecuciones de herramientas se conservan sin tu nombre, sus entradas ni sus resultados; las programadas se cancelan.',
      'El registro de lo ocurrido se conserva porque está sellado contra cambios: tiene identificadores y fechas, ningún contenido.',
    ],
    understood: 'Quiero borrarlo todo.',
    button: 'Borrar todo',
    keep: 'Conservar todo',
    done: 'Todo está borrado',
    doneText:
      'Tus cuentas están desconectadas y lo que se guardaba sobre ti está borrado. Tu sesión se ha cerrado.',
    unconfirmed:
      'Estos servicios no confirmaron que el acceso haya terminado. Retíralo también en tu cuenta de cada uno:',
    disconnectedBefore:
      'Algunas cuentas ya se habían desconectado justo antes. Comprueba en tu cuenta de cada servicio si el acceso terminó también allí.',
  },
  enter: {
    title: (user, app) =>
      app === undefined ? html`Continuar como ${user}` : html`Continuar como ${user} en ${app}`,
    text: 'La página siguiente muestra las cuentas conectadas de esta persona.',
    warning: (app) =>
      html`Continúa solo si eres tú y has llegado aquí desde ${app ?? 'tu aplicación'}. Si alguien te envió este enlace, cierra esta página.`,
    button: 'Continuar',
    gone: 'Este enlace ya no sirve',
    goneText: (app) =>
      html`Ya se usó o ha caducado. Abre la página otra vez desde ${app ?? 'tu aplicación'}.`,
  },
  outside: {
    title: 'Abre esta página desde tu aplicación',
    text: 'No has iniciado sesión aquí. Tu aplicación tiene un enlace que abre esta página para ti.',
    left: 'Has cerrado la sesión',
    leftText: 'Cierra esta ventana o abre la página de nuevo.',
    again: 'Iniciar sesión',
  },
}
