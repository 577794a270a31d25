import { html } from 'hono/html'
import { plural } from '../plural.ts'
import type { Translation } from '../text.ts'
import type { en } from './en.ts'

export const es: Translation<typeof en> = {
  title: 'Sus cuentas conectadas',
  intro: (app) =>
    html`Las herramientas de ${app ?? 'su aplicación'} usan estas cuentas en su nombre. Puede ponerle fin aquí en cualquier momento.`,
  youAre: (user, app) =>
    app === undefined
      ? html`Usted es <strong>${user}</strong>.`
      : html`Usted es <strong>${user}</strong> en ${app}.`,
  logout: 'Cerrar sesión',
  backTo: (host) => html`Volver a ${host}`,
  none: 'No hay ninguna cuenta conectada.',
  isDefault: 'Cuenta predeterminada',
  needsYou: 'Requiere su atención',
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
  untilReconnected: 'Las herramientas no pueden usar esta cuenta hasta que la vuelva a conectar.',
  may: 'Lo que pueden hacer las herramientas',
  more: (count) => plural('es', count, { one: '# más', other: '# más' }),
  defaults: (provider) => html`Lo que ${provider} permite a cualquier aplicación`,
  undescribed: (scope) => html`Un permiso que no podemos describir: ${scope}`,
  connectedOn: 'Conectada',
  lastUsed: 'Último uso',
  never: 'Todavía no',
  usedBy: 'La usan',
  moreTools: (count) => plural('es', count, { one: 'y # herramienta más', other: 'y # herramientas más' }),
  unused: (day) => html`Sin uso desde el ${day}. Si ya no la necesita, desconéctela.`,
  removedProvider: 'Un servicio que se eliminó',
  reconnect: 'Volver a conectar',
  makeDefault: 'Usar de forma predeterminada',
  addAccount: (provider) => html`Añadir otra cuenta de ${provider}`,
  disconnect: 'Desconectar',
  showMore: 'Mostrar más cuentas',
  applications: 'Aplicaciones que actúan en su nombre',
  applicationsIntro: 'Estos programas ven sus herramientas por MCP y las usan en su nombre.',
  unverified: 'sin verificar',
  mayCall: 'Puede ver y usar sus herramientas.',
  maySee: 'Puede ver sus herramientas.',
  allowedOn: 'Permitida',
  endAccess: 'Terminar el acceso',
  endAllAccess: 'Terminar el acceso de todas',
  confirmDisconnect: (provider) => html`¿Desconectar ${provider}?`,
  confirmText: (provider, app) =>
    html`Las herramientas de ${app ?? 'su aplicación'} ya no podrán usar esta cuenta. El acceso guardado se borra aquí, y pedimos a ${provider} que también le ponga fin.`,
  keep: 'Conservar',
  notes: {
    disconnected: (provider) => html`${provider} está desconectado. El acceso terminó aquí y allí.`,
    disconnected_here: (provider) =>
      html`El acceso se borró aquí. ${provider} no permite terminarlo desde aquí: hágalo también en su cuenta de allí.`,
    disconnect_unconfirmed: (provider) =>
      html`El acceso se borró aquí. ${provider} no confirmó que haya terminado: termínelo también en su cuenta de allí.`,
    made_default: (provider) => html`Esta cuenta de ${provider} es ahora la predeterminada.`,
    client_ended: (application) => html`${application} ya no puede actuar en su nombre.`,
    clients_ended: 'Ninguna aplicación actúa ya en su nombre.',
    connected: 'La cuenta está conectada.',
    not_connected: 'La cuenta no se conectó. Puede intentarlo de nuevo.',
    stale_form: 'Esta página estuvo abierta mucho tiempo, así que no se cambió nada. Inténtelo de nuevo.',
  },
  data: {
    title: 'Sus datos',
    intro: 'Consulte lo que se guarda sobre usted o bórrelo.',
    download: 'Descargar sus datos',
    downloadText:
      'Un archivo con sus cuentas, permisos, aplicaciones, ejecuciones de herramientas y el registro de lo ocurrido. No contiene contraseñas ni claves de acceso.',
    erase: 'Borrar todo',
    eraseText: 'Termina todos los accesos y borra lo que se guarda sobre usted.',
    logInFirst: 'Para esto, confirme una vez más que es usted.',
    logIn: 'Iniciar sesión de nuevo',
    notAllowed: (app) => html`Para hacer esto, diríjase a ${app ?? 'su aplicación'}.`,
    back: 'Volver a sus cuentas',
  },
  erase: {
    title: '¿Borrar todo?',
    intro: 'Esta acción no se puede deshacer.',
    points: [
      'Se desconectan todas las cuentas y se pide a cada servicio que termine el acceso.',
      'Las aplicaciones que actúan en su nombre pierden el acceso.',
      'Las ejecuciones de herramientas se conservan sin su nombre, sus entradas ni sus resultados; las programadas se cancelan.',
      'El registro de lo ocurrido se conserva porque está sellado contra cambios: tiene identificadores y fechas, ningún contenido.',
    ],
    understood: 'Quiero borrarlo todo.',
    button: 'Borrar todo',
    keep: 'Conservar todo',
    done: 'Todo está borrado',
    doneText:
      'Sus cuentas están desconectadas y lo que se guardaba sobre usted está borrado. Su sesión se ha cerrado.',
    unconfirmed:
      'Estos servicios no confirmaron que el acceso haya terminado. Termínelo también en su cuenta de allí:',
  },
  enter: {
    title: (user, app) =>
      app === undefined ? html`Continuar como ${user}` : html`Continuar como ${user} en ${app}`,
    text: 'La página siguiente muestra las cuentas conectadas de esta persona.',
    warning: (app) =>
      html`Continúe solo si es usted y ha llegado aquí desde ${app ?? 'su aplicación'}. Si alguien le envió este enlace, cierre esta página.`,
    button: 'Continuar',
    gone: 'Este enlace ya no sirve',
    goneText: (app) =>
      html`Ya se usó o se acabó su tiempo. Abra la página otra vez desde ${app ?? 'su aplicación'}.`,
  },
  outside: {
    title: 'Abra esta página desde su aplicación',
    text: 'No ha iniciado sesión aquí. Su aplicación tiene un enlace que abre esta página para usted.',
    left: 'Ha cerrado la sesión',
    leftText: 'Cierre esta ventana o abra la página de nuevo.',
    again: 'Iniciar sesión',
  },
}
