import { html } from 'hono/html'
import type { Translation } from '../text.ts'
import type { en } from './en.ts'

export const pt: Translation<typeof en> = {
  title: 'Permitir um aplicativo',
  wants: (client) => html`${client ?? 'Um aplicativo'} quer usar suas ferramentas`,
  loggedInAs: (user) => html`Você entrou como <strong>${user}</strong>`,
  may: 'O que ele poderá fazer',
  call: 'Ver suas ferramentas e usá-las por você com as contas que você conectou',
  see: 'Ver suas ferramentas, sem usá-las',
  allTools: 'Todas as ferramentas que este servidor tem para você',
  toolset: (toolset) => html`Somente as ferramentas da seleção <strong>${toolset}</strong>`,
  whoAsks: 'Quem está pedindo',
  facts: { application: 'Aplicativo', identity: 'Identidade', leadsTo: 'Leva de volta a' },
  unverified: 'Não verificado: registrou a si mesmo, com um nome à escolha dele',
  verified: (host) => html`Verificado: <strong>${host}</strong>`,
  program: (host) => html`Um programa neste computador (${host})`,
  installed: (scheme) => html`Um aplicativo neste dispositivo (${scheme})`,
  warnOfHost: (host) =>
    html`Só permita se você mesmo acabou de adicionar este servidor em um aplicativo de <strong>${host}</strong>.`,
  warnOfProgram:
    'Qualquer programa neste computador pode receber este acesso, com qualquer nome. Só permita se você mesmo acabou de iniciar a conexão. Se alguém enviou a você um link para esta página, cancele.',
  allow: 'Permitir',
  logInAsAnother: 'Entrar com outro usuário',
  endLater: (page) =>
    html`Você pode encerrar o acesso a qualquer momento em ${page}. O aplicativo nunca vê as senhas nem as chaves de acesso das suas contas.`,
  none: 'Nenhum aplicativo está conectado.',
  refusals: {
    session_not_found: {
      title: 'Este login expirou',
      happened: 'Ele começou há tempo demais ou em outro navegador, ou já terminou.',
    },
    temporarily_unavailable: {
      title: 'Há logins demais em andamento',
      happened: 'Espere um momento e tente de novo.',
    },
    too_many_clients: {
      title: 'Você permitiu aplicativos demais',
      happened: 'Em /me/clients, encerre o acesso de alguns que você não usa mais.',
    },
    invalid_client: {
      title: 'Este aplicativo não é conhecido aqui',
      happened: 'Ele nunca foi registrado aqui, ou o registro dele expirou.',
    },
    client_document: {
      title: 'Este aplicativo não pode ser identificado',
      happened: 'Não foi possível ler a descrição dele.',
    },
    invalid_redirect_uri: {
      title: 'O pedido do aplicativo não pode ser aceito',
      happened: 'O aplicativo pede a volta para um endereço que ele não registrou.',
    },
    other: {
      title: 'O pedido do aplicativo não pode ser aceito',
      happened: 'O aplicativo enviou um pedido inválido, por isso você não foi levado de volta a ele.',
    },
  },
  refusedTodo:
    'Volte ao aplicativo e conecte de novo. Se continuar assim, remova este servidor do aplicativo e adicione-o outra vez.',
  unreadAt: (host) =>
    html`O aplicativo se descreve em <strong>${host}</strong>, e este servidor não conseguiu ler essa descrição.`,
  unreadTodo: () =>
    html`Tente de novo em um minuto. Se continuar assim, avise quem administra este servidor: talvez ele não tenha acesso a esse endereço. Com a configuração <code>GATEPASS_MCP_<wbr>CLIENT_<wbr>DOCUMENTS=off</code>, os aplicativos se registram por conta própria; depois, remova este servidor do aplicativo e adicione-o outra vez.`,
  wantsYouAt: (host) => html`O aplicativo quer levar você para <strong>${host}</strong>.`,
  goThere: 'Ir até lá, se você conhece o endereço',
}
