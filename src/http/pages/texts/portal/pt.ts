import { html } from 'hono/html'
import { plural } from '../plural.ts'
import type { Translation } from '../text.ts'
import type { en } from './en.ts'

export const pt: Translation<typeof en> = {
  title: 'As suas contas ligadas',
  intro: (app) =>
    html`As ferramentas de ${app ?? 'a sua aplicação'} usam estas contas por si. Pode pôr fim a isso aqui a qualquer momento.`,
  youAre: (user, app) =>
    app === undefined
      ? html`Sessão de <strong>${user}</strong>.`
      : html`Sessão de <strong>${user}</strong> em ${app}.`,
  logout: 'Terminar sessão',
  backTo: (host) => html`Voltar a ${host}`,
  none: 'Nenhuma conta está ligada.',
  isDefault: 'Conta predefinida',
  needsYou: 'Precisa de si',
  reasons: {
    refresh_refused: (provider) => html`${provider} já não aceita este acesso.`,
    consent_withdrawn: (provider) => html`O acesso foi retirado em ${provider}.`,
    token_expired: 'O acesso expirou.',
    refresh_token_expired: 'O acesso expirou porque não foi usado durante muito tempo.',
    provider_changed: (provider) => html`A ligação a ${provider} foi configurada de novo.`,
    refresh_outcome_lost: (provider) => html`Perdeu-se uma resposta de ${provider} e, com ela, o acesso.`,
    account_changed: (provider) => html`${provider} respondeu por outra conta.`,
    unreadable: 'O acesso guardado já não pode ser lido.',
  },
  untilReconnected: 'As ferramentas não podem usar esta conta até que a volte a ligar.',
  may: 'O que as ferramentas podem fazer',
  more: (count) => plural('pt', count, { one: 'mais #', other: 'mais #' }),
  defaults: (provider) => html`O que ${provider} permite a qualquer aplicação`,
  undescribed: (scope) => html`Uma permissão que não sabemos descrever: ${scope}`,
  connectedOn: 'Ligada',
  lastUsed: 'Última utilização',
  never: 'Ainda não',
  usedBy: 'Usada por',
  moreTools: (count) => plural('pt', count, { one: 'e mais # ferramenta', other: 'e mais # ferramentas' }),
  unused: (day) => html`Sem uso desde ${day}. Se já não precisa dela, desligue-a.`,
  removedProvider: 'Um serviço que foi removido',
  reconnect: 'Voltar a ligar',
  makeDefault: 'Usar por predefinição',
  addAccount: (provider) => html`Adicionar outra conta ${provider}`,
  disconnect: 'Desligar',
  showMore: 'Mostrar mais contas',
  applications: 'Aplicações que agem por si',
  applicationsIntro: 'Estes programas veem as suas ferramentas por MCP e usam-nas por si.',
  unverified: 'não verificada',
  mayCall: 'Pode ver e usar as suas ferramentas.',
  maySee: 'Pode ver as suas ferramentas.',
  allowedOn: 'Autorizada',
  endAccess: 'Terminar o acesso',
  endAllAccess: 'Terminar o acesso de todas',
  confirmDisconnect: (provider) => html`Desligar ${provider}?`,
  confirmText: (provider, app) =>
    html`As ferramentas de ${app ?? 'a sua aplicação'} deixam de poder usar esta conta. O acesso guardado é apagado aqui, e pedimos a ${provider} que também o termine.`,
  keep: 'Manter',
  notes: {
    disconnected: (provider) => html`${provider} está desligado. O acesso terminou aqui e lá.`,
    disconnected_here: (provider) =>
      html`O acesso foi apagado aqui. ${provider} não permite terminá-lo a partir daqui: termine-o também na sua conta lá.`,
    disconnect_unconfirmed: (provider) =>
      html`O acesso foi apagado aqui. ${provider} não confirmou o fim: termine-o também na sua conta lá.`,
    made_default: (provider) => html`Esta conta ${provider} passa a ser usada por predefinição.`,
    client_ended: (application) => html`${application} já não pode agir por si.`,
    clients_ended: 'Já nenhuma aplicação age por si.',
    connected: 'A conta está ligada.',
    not_connected: 'A conta não foi ligada. Pode tentar de novo.',
    stale_form: 'Esta página esteve aberta muito tempo, por isso nada foi alterado. Tente de novo.',
  },
  data: {
    title: 'Os seus dados',
    intro: 'Veja o que é guardado sobre si, ou apague-o.',
    download: 'Transferir os seus dados',
    downloadText:
      'Um ficheiro com as suas contas, permissões, aplicações, execuções de ferramentas e o registo do que aconteceu. Não contém palavras-passe nem chaves de acesso.',
    erase: 'Apagar tudo',
    eraseText: 'Termina todos os acessos e apaga o que é guardado sobre si.',
    logInFirst: 'Para isto, confirme mais uma vez que é mesmo a sua pessoa.',
    logIn: 'Iniciar sessão de novo',
    notAllowed: (app) => html`Para fazer isto, dirija-se a ${app ?? 'a sua aplicação'}.`,
    back: 'Voltar às suas contas',
  },
  erase: {
    title: 'Apagar tudo?',
    intro: 'Isto não pode ser anulado.',
    points: [
      'Todas as contas são desligadas, e pedimos a cada serviço que termine o acesso.',
      'As aplicações que agem por si perdem o acesso.',
      'As execuções de ferramentas ficam sem o seu nome, as entradas e os resultados; as agendadas são canceladas.',
      'O registo do que aconteceu fica, porque está selado contra alterações: tem identificadores e datas, nenhum conteúdo.',
    ],
    understood: 'Quero apagar tudo.',
    button: 'Apagar tudo',
    keep: 'Manter tudo',
    done: 'Tudo foi apagado',
    doneText:
      'As suas contas estão desligadas, e o que era guardado sobre si foi apagado. A sua sessão terminou.',
    unconfirmed: 'Estes serviços não confirmaram o fim do acesso. Termine-o também na sua conta lá:',
  },
  enter: {
    title: (user, app) =>
      app === undefined ? html`Continuar como ${user}` : html`Continuar como ${user} em ${app}`,
    text: 'A página seguinte mostra as contas ligadas desta pessoa.',
    warning: (app) =>
      html`Continue apenas se for esta pessoa e se chegou aqui a partir de ${app ?? 'a sua aplicação'}. Se alguém lhe enviou esta ligação, feche esta página.`,
    button: 'Continuar',
    gone: 'Esta ligação já não funciona',
    goneText: (app) =>
      html`Já foi usada, ou o seu tempo acabou. Abra a página de novo a partir de ${app ?? 'a sua aplicação'}.`,
  },
  outside: {
    title: 'Abra esta página a partir da sua aplicação',
    text: 'Não tem sessão iniciada aqui. A sua aplicação tem uma ligação que abre esta página para si.',
    left: 'A sua sessão terminou',
    leftText: 'Feche esta janela, ou abra a página de novo.',
    again: 'Iniciar sessão',
  },
}
