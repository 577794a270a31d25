import { html } from 'hono/html'
import { plural } from '../plural.ts'
import type { Translation } from '../text.ts'
import type { en } from './en.ts'

export const es: Translation<typeof en> = {
  title: (provider) => `Conectar ${provider}`,
  wants: (app, provider) => html`${app ?? 'Tu aplicación'} quiere usar tu cuenta de ${provider}`,
  forTool: (tool) => html`para ${tool}`,
  youAre: (user, app) =>
    app === undefined ? html`Eres <strong>${user}</strong>.` : html`Eres <strong>${user}</strong> en ${app}.`,
  forOneUser: (app) => html`Este enlace se creó para una sola persona de ${app ?? 'tu aplicación'}.`,
  notYou: (cancel) => html`¿No eres tú? ${cancel}.`,
  askedAgain: 'Te lo pedimos de nuevo porque la conexión que tenías ya no funciona.',
  willBeAbleTo: (app) => html`${app ?? 'Tu aplicación'} podrá:`,
  isNew: 'nuevo',
  alreadyAllowed: 'ya permitido',
  sensitive: 'sensible',
  levels: { read: 'solo ver', write: 'hacer cambios', admin: 'control total' },
  undescribed: (scope, provider) => html`Usar ${scope}, como lo describe ${provider}`,
  defaults: (provider) => html`Lo que ${provider} permite a cualquier aplicación`,
  details: 'Detalles técnicos',
  detail: { user: 'Identificador', tool: 'Herramienta', scopes: 'Scopes', request: 'Solicitud' },
  warning: (app) =>
    html`Continúa solo si acabas de iniciar esto en ${app ?? 'tu aplicación'}. Si alguien te envió este enlace, cancela.`,
  insideApp:
    'Esta página está abierta dentro de otra aplicación, donde algunos proveedores rechazan el inicio de sesión. Si ocurre, abre esta dirección en tu navegador:',
  continueTo: (provider) => html`Continuar a ${provider}`,
  cancel: 'Cancelar',
  loginFirst: (host) => html`Primero se abre ${host}, donde inicias sesión.`,
  next: (host, ownPage) =>
    html`Después se abre ${host}; escribe tu contraseña solo allí. Puedes retirar el acceso en ${ownPage}.`,
  minutesLeft: (minutes) =>
    plural('es', minutes, {
      one: 'Este enlace sirve durante # minuto más.',
      other: 'Este enlace sirve durante # minutos más.',
    }),
  lessThanAMinute: 'Este enlace sirve durante menos de un minuto más.',
  stepOf: (step, steps) => `Paso ${step} de ${steps}`,
  stepDone: ', conectado',
  stepToCome: ', pendiente',
  suchAs: (example) => html`Por ejemplo, ${example}`,
  choose: 'Elige',
  valueMissing: (label) => html`${label}: este dato es necesario.`,
  valueWrong: (label) => html`${label}: este dato no tiene la forma correcta.`,
  valueWrongLike: (label, example) =>
    html`${label}: este dato no tiene la forma correcta; un ejemplo es ${example}.`,
  privacy: 'Privacidad',
  support: 'Ayuda',
  aRemovedProvider: 'un proveedor eliminado',
}
