import { html } from 'hono/html'
import { plural } from '../plural.ts'
import type { Translation } from '../text.ts'
import type { en } from './en.ts'

export const pt: Translation<typeof en> = {
  title: 'Suas contas conectadas',
  intro: (app) =>
    app === undefined
      ? 'As ferramentas do seu aplicativo usam estas contas por você. Você pode encerrar o acesso aqui a qualquer momento.'
      : html`As ferramentas de ${app} usam estas contas por você. Você pode encerrar o acesso aqui a qualquer momento.`,
  youAre: (user, app) =>
    app === undefined
      ? html`Você é <strong>${user}</strong>.`
      : html`Você é <strong>${user}</strong> em ${app}.`,
  logout: 'Sair',
  backTo: (host) => html`Voltar para ${host}`,
  none: 'Nenhuma conta está conectada.',
  isDefault: 'Conta padrão',
  needsYou: 'Precisa de você',
  reasons: {
    refresh_refused: (provider) => html`${provider} não aceita mais este acesso.`,
    consent_withdrawn: (provider) => html`O acesso foi retirado em ${provider}.`,
    token_expired: 'O acesso expirou.',
    refresh_token_expired: 'O acesso expirou porque ficou muito tempo sem uso.',
    provider_changed: (provider) => html`A conexão com ${provider} foi configurada de novo.`,
    refresh_outcome_lost: (provider) => html`Uma resposta de ${provider} se perdeu e, com ela, o acesso.`,
    account_changed: (provider) => html`${provider} respondeu por outra conta.`,
    unreadable: 'O acesso salvo não pode mais ser lido.',
  },
  untilReconnected: 'As ferramentas não poderão usar esta conta até que você a reconecte.',
  may: 'O que as ferramentas podem fazer',
  more: (count) => plural('pt', count, { one: 'mais #', other: 'mais #' }),
  defaults: (provider) => html`O que ${provider} permite a qualquer aplicativo`,
  undescribed: (scope, provider) => html`Usar ${scope}, como ${provider} descreve`,
  connectedOn: 'Conectada',
  lastUsed: 'Último uso',
  never: 'Ainda não',
  usedBy: 'Usada por',
  moreTools: (count) => plural('pt', count, { one: 'e mais # ferramenta', other: 'e mais # ferramentas' }),
  unused: (day) => html`Sem uso desde ${day}. Se você não precisa mais dela, desconecte-a.`,
  removedProvider: 'Um serviço que foi removido',
  reconnect: 'Reconectar',
  makeDefault: 'Usar como padrão',
  addAccount: (provider) => html`Adicionar outra conta ${provider}`,
  disconnect: 'Desconectar',
  showMore: 'Mostrar mais contas',
  applications: 'Aplicativos que agem por você',
  applicationsIntro: 'Estes programas veem suas ferramentas por MCP e as usam por você.',
  unverified: 'não verificado',
  applicationMay: {
    call: 'Pode ver e usar suas ferramentas.',
    see: 'Pode ver suas ferramentas.',
    nothing: 'Não tem acesso até você permitir de novo: ele pergunta quando se conectar.',
  },
  allowedOn: 'Permitido',
  endAccess: 'Encerrar o acesso',
  removeApplication: 'Remover',
  endAllAccess: 'Encerrar o acesso de todos',
  confirmDisconnect: (provider) => html`Desconectar ${provider}?`,
  confirmText: (provider, app) =>
    app === undefined
      ? html`As ferramentas do seu aplicativo não poderão mais usar esta conta. O acesso salvo é apagado aqui, e pedimos a ${provider} que também o encerre.`
      : html`As ferramentas de ${app} não poderão mais usar esta conta. O acesso salvo é apagado aqui, e pedimos a ${provider} que também o encerre.`,
  keep: 'Manter',
  notes: {
    disconnected: (provider) => html`${provider} está desconectado. O acesso foi encerrado aqui e lá.`,
    disconnected_here: (provider) =>
      html`O acesso foi apagado aqui. ${provider} não permite encerrá-lo daqui: encerre-o também na sua conta ${provider}.`,
    disconnect_unconfirmed: (provider) =>
      html`O acesso foi apagado aqui. ${provider} não confirmou o encerramento: encerre-o também na sua conta ${provider}.`,
    disconnected_before:
      'Esta conta não está mais conectada aqui. Verifique na sua conta do serviço se o acesso foi encerrado lá também.',
    made_default: (provider) => html`Esta conta ${provider} agora é a padrão.`,
    client_ended: (application) => html`${application} não pode mais agir por você.`,
    clients_ended: 'Nenhum aplicativo age mais por você.',
    connected: 'A conta está conectada.',
    not_connected: 'A conta não foi conectada. Você pode tentar de novo.',
    stale_form: 'Esta página ficou aberta por muito tempo, por isso nada foi alterado. Tente de novo.',
  },
  data: {
    title: 'Seus dados',
    intro: 'Veja o que é guardado sobre você ou apague.',
    download: 'Baixar seus dados',
    downloadText:
      'Um arquivo com suas contas, permissões, aplicativos, execuções de ferramentas e o registro do que aconteceu. Ele não contém senhas nem chaves de acesso.',
    erase: 'Apagar tudo',
    eraseText: 'Encerra todos os acessos e apaga o que é guardado sobre você.',
    logInFirst: 'Para isso, confirme mais uma vez que é você.',
    logIn: 'Entrar de novo',
    notAllowed: (app) =>
      app === undefined
        ? 'Para fazer isso, recorra ao seu aplicativo.'
        : html`Para fazer isso, recorra a ${app}.`,
    back: 'Voltar às suas contas',
  },
  erase: {
    title: 'Apagar tudo?',
    intro: 'Isso não pode ser desfeito.',
    points: [
      'Todas as contas são desconectadas, e pedimos a cada serviço que encerre o acesso.',
      'Os aplicativos que agem por você perdem o acesso.',
      'As execuções de ferramentas são mantidas sem o seu nome, as entradas e os resultados; as agendadas são canceladas.',
      'O registro do que aconteceu é mantido porque está selado contra alterações: ele tem identificadores e datas, nenhum conteúdo.',
    ],
    understood: 'Quero apagar tudo.',
    button: 'Apagar tudo',
    keep: 'Manter tudo',
    done: 'Tudo foi apagado',
    doneText: 'Suas contas foram desconectadas, e o que era guardado sobre você foi apagado. Você saiu.',
    unconfirmed:
      'Estes serviços não confirmaram o encerramento do acesso. Encerre-o também na sua conta em cada um:',
    disconnectedBefore:
      'Algumas contas já tinham sido desconectadas pouco antes. Verifique na sua conta em cada serviço se o acesso foi encerrado lá também.',
  },
  enter: {
    title: (user, app) =>
      app === undefined ? html`Continuar como ${user}` : html`Continuar como ${user} em ${app}`,
    text: 'A próxima página mostra as contas conectadas desta pessoa.',
    warning: (app) =>
      app === undefined
        ? 'Só continue se esta pessoa é você e se você veio do seu aplicativo. Se alguém enviou este link a você, feche esta página.'
        : html`Só continue se esta pessoa é você e se você veio de ${app}. Se alguém enviou este link a você, feche esta página.`,
    button: 'Continuar',
    gone: 'Este link não funciona mais',
    goneText: (app) =>
      app === undefined
        ? 'Ele já foi usado ou expirou. Abra a página de novo a partir do seu aplicativo.'
        : html`Ele já foi usado ou expirou. Abra a página de novo a partir de ${app}.`,
  },
  outside: {
    title: 'Abra esta página a partir do seu aplicativo',
    text: 'Você não entrou aqui. Seu aplicativo tem um link que abre esta página para você.',
    left: 'Você saiu',
    leftText: 'Feche esta janela ou abra a página de novo.',
    again: 'Entrar',
  },
}
