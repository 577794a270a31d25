import { html } from 'hono/html'
import { plural } from '../plural.ts'
import type { Translation } from '../text.ts'
import type { en } from './en.ts'

export const pt: Translation<typeof en> = {
  title: (provider) => `Conectar ${provider}`,
  wants: (app, provider) => html`${app ?? 'Seu aplicativo'} quer usar sua conta ${provider}`,
  forTool: (tool) => html`para ${tool}`,
  youAre: (user, app) =>
    app === undefined
      ? html`Você é <strong>${user}</strong>.`
      : html`Você é <strong>${user}</strong> em ${app}.`,
  forOneUser: (app) =>
    app === undefined
      ? 'Este link foi criado para uma única pessoa no seu aplicativo.'
      : html`Este link foi criado para uma única pessoa em ${app}.`,
  notYou: (cancel) => html`Não é você? ${cancel}.`,
  askedAgain: 'Você está vendo este pedido de novo porque a conexão que tinha não funciona mais.',
  willBeAbleTo: (app) => html`${app ?? 'Seu aplicativo'} poderá:`,
  isNew: 'novo',
  alreadyAllowed: 'já permitido',
  sensitive: 'sensível',
  levels: { read: 'só ver', write: 'fazer alterações', admin: 'controle total' },
  undescribed: (scope, provider) => html`Usar ${scope}, como ${provider} descreve`,
  defaults: (provider) => html`O que ${provider} permite a qualquer aplicativo`,
  details: 'Detalhes técnicos',
  detail: { user: 'Identificador', tool: 'Ferramenta', scopes: 'Scopes', request: 'Pedido' },
  warning: (app) =>
    app === undefined
      ? 'Só continue se você acabou de iniciar isto no seu aplicativo. Se alguém enviou este link a você, cancele.'
      : html`Só continue se você acabou de iniciar isto em ${app}. Se alguém enviou este link a você, cancele.`,
  insideApp:
    'Esta página está aberta dentro de outro aplicativo, onde alguns provedores recusam o login. Se isso acontecer, abra este endereço no seu navegador:',
  continueTo: (provider) => html`Continuar para ${provider}`,
  cancel: 'Cancelar',
  loginFirst: (host) => html`Primeiro, ${host} será aberto para você entrar.`,
  next: (host, ownPage) =>
    html`Em seguida, ${host} será aberto; digite sua senha somente lá. Você pode encerrar o acesso em ${ownPage}.`,
  minutesLeft: (minutes) =>
    plural('pt', minutes, {
      one: 'Este link vale por mais # minuto.',
      other: 'Este link vale por mais # minutos.',
    }),
  lessThanAMinute: 'Este link vale por menos de um minuto.',
  stepOf: (step, steps) => `Etapa ${step} de ${steps}`,
  stepDone: ', conectado',
  stepToCome: ', a seguir',
  suchAs: (example) => html`Por exemplo, ${example}`,
  choose: 'Escolha',
  valueMissing: (label) => html`${label}: este dado é necessário.`,
  valueWrong: (label) => html`${label}: este dado não está na forma correta.`,
  valueWrongLike: (label, example) =>
    html`${label}: este dado não está na forma correta; um exemplo é ${example}.`,
  privacy: 'Privacidade',
  support: 'Ajuda',
  aRemovedProvider: 'um provedor removido',
}
