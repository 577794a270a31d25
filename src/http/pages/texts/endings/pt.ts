import { html } from 'hono/html'
import type { Translation } from '../text.ts'
import type { en } from './en.ts'

const AGAIN = 'volte ao seu aplicativo e comece de novo: ele dará a você um novo link'

export const pt: Translation<typeof en> = {
  isConnected: (provider) => `${provider} está conectado`,
  canNowUse: (app, provider) => html`${app ?? 'Seu aplicativo'} já pode usar sua conta ${provider}.`,
  anotherAccount: (before) =>
    html`Até agora, ${before} estava conectada: ela continua conectada, mas esta conta será usada de agora em diante.`,
  whatToDo: 'O que fazer',
  reason: 'Motivo:',
  forOperator: 'Para quem administra este serviço',
  forToolAuthor: 'Para quem criou a ferramenta',
  backTo: (app) => (app === undefined ? 'Voltar ao seu aplicativo' : html`Voltar para ${app}`),
  tryAgain: 'Tentar novamente',
  startAgainAt: (provider) => html`Começar de novo em ${provider}`,
  lookAgain: 'Verificar de novo',
  logInAsYourself: 'Entrar com a sua conta',
  closeWindow: 'Fechar esta janela',
  closesItself: 'Esta janela se fecha sozinha. Se continuar aberta, feche-a e volte ao seu aplicativo.',
  facts: {
    provider: 'Provedor',
    account: 'Conta',
    notGranted: 'Não concedido',
    askedBy: 'Pedido por',
    user: 'Usuário',
  },
  failures: {
    access_denied: {
      title: 'O acesso não foi aprovado',
      happened: 'O pedido foi cancelado ou recusado no provedor.',
      todo: `Nada foi salvo. Se você não queria recusar, ${AGAIN}.`,
    },
    expired: {
      title: 'Este link expirou',
      happened: 'O link não foi usado a tempo.',
      todo: `Para conectar mesmo assim, ${AGAIN}. Abra-o logo depois de recebê-lo.`,
    },
    user_mismatch: {
      title: 'Este link era para outra pessoa',
      happened: 'A pessoa que entrou não é aquela para quem o link foi criado.',
      todo: 'Nada foi salvo. Se alguém enviou este link a você, não o use. Se ele é seu, entre com a sua própria conta e peça um novo link ao seu aplicativo.',
    },
    issuer_mismatch: {
      title: 'A resposta veio de outro lugar',
      happened: 'A resposta não veio do provedor consultado, por isso não foi usada.',
      todo: 'Nada foi salvo. Volte ao seu aplicativo e comece de novo. Se acontecer outra vez, não continue e avise quem administra este serviço.',
    },
    invalid_scope: {
      title: 'Estas permissões não estão disponíveis',
      happened: 'O provedor não concede as permissões pedidas.',
      todo: 'Começar de novo não vai ajudar. Avise quem administra este serviço: as permissões da ferramenta ou do provedor precisam ser alteradas.',
    },
    invalid_client: {
      title: 'Este serviço não está registrado corretamente',
      happened: 'O provedor não aceita o registro deste serviço.',
      todo: 'Você não fez nada de errado. Avise quem administra este serviço: o ID de cliente, o segredo ou a URI de redirecionamento do provedor precisa ser corrigido.',
    },
    invalid_grant: {
      title: 'A aprovação não era mais válida',
      happened: 'O provedor não aceitou a aprovação que acabara de dar.',
      todo: `Isso acontece quando a volta demora demais ou é usada duas vezes. Para tentar mais uma vez, ${AGAIN}.`,
    },
    provider_refused: {
      title: 'O provedor recusou o pedido',
      happened: 'O provedor recusou o pedido.',
      todo: 'Volte ao seu aplicativo e comece de novo. Se continuar assim, avise quem administra este serviço e informe o motivo abaixo.',
    },
    provider_bad_response: {
      title: 'A resposta do provedor não pôde ser usada',
      happened: 'O provedor respondeu algo que não pôde ser usado.',
      todo: 'Volte ao seu aplicativo e comece de novo. Se continuar assim, avise quem administra este serviço e informe o motivo abaixo.',
    },
    provider_unavailable: {
      title: 'O provedor não está disponível',
      happened: 'Não foi possível contatar o provedor, ou ele está com um problema.',
      todo: `Você não fez nada de errado. Espere alguns minutos; depois, ${AGAIN}.`,
    },
    provider_changed: {
      title: 'As configurações do provedor mudaram',
      happened: 'O provedor foi alterado aqui nesse meio-tempo, por isso a resposta não foi usada.',
      todo: `Para conectar com as novas configurações, ${AGAIN}.`,
    },
    account_mismatch: {
      title: 'Outra conta aprovou',
      happened: 'A conta que aprovou não é a que foi pedida.',
      todo: `Nada foi salvo. Para conectar a conta certa, ${AGAIN}, e escolha essa conta no provedor.`,
    },
  },
  kinds: {
    completed: {
      title: 'Conectado',
      happened: 'O acesso foi aprovado.',
      todo: 'Você pode fechar esta janela e voltar ao seu aplicativo.',
    },
    failed: {
      title: 'Não conectado',
      happened: 'Não foi possível conectar a conta.',
      todo: `Para tentar mais uma vez, ${AGAIN}.`,
    },
    working: {
      title: 'Finalizando…',
      happened: 'Sua aprovação chegou e está sendo processada.',
      todo: 'Basta esperar um momento.',
    },
    waiting_for_confirmation: {
      title: 'Aguardando o seu aplicativo',
      happened: 'Sua aprovação chegou. Seu aplicativo está confirmando que é você.',
      todo: 'Continue no seu aplicativo; entre lá, se ele pedir. Nada é salvo antes disso. Se a página dele sumiu, comece de novo.',
    },
    confirmed: {
      title: 'Continue no seu aplicativo',
      happened:
        'Seu aplicativo confirmou que foi você quem aprovou e leva você adiante a partir da própria página.',
      todo: 'Continue no seu aplicativo. Nada é salvo antes disso. Se a página dele sumiu, comece de novo.',
    },
    confirmed_elsewhere: {
      title: 'A aprovação veio de outro navegador',
      happened: 'Seu aplicativo confirmou que é você, mas “Continuar” foi clicado em outro navegador.',
      todo: 'Nada foi salvo. Se foi você quem clicou, abra o link de novo neste navegador e comece aqui. Se alguém enviou este endereço a você, feche esta página: não foi a sua conta que foi aprovada.',
    },
    wrong_browser: {
      title: 'Continue no outro navegador',
      happened:
        'A resposta do provedor foi aberta em um navegador diferente daquele em que você clicou em “Continuar”.',
      todo: 'Nada foi salvo. Volte ao navegador em que você clicou, ou abra o link de novo neste e comece aqui.',
    },
    held_elsewhere: {
      title: 'Isto está em andamento em outro navegador',
      happened: '“Continuar” foi clicado em outro navegador, por isso nada foi cancelado a partir deste.',
      todo: 'Nada foi alterado. Se foi você quem clicou, cancele lá. Se não, feche esta página e avise o seu aplicativo: outra pessoa tem este link.',
    },
    unknown_state: {
      title: 'Esta resposta não pertence a nenhum pedido aberto',
      happened: 'O pedido foi encerrado por um clique mais recente, já terminou ou nunca existiu.',
      todo: `Nada foi salvo. Se você tem uma janela mais recente, continue nela. Caso contrário, ${AGAIN}.`,
    },
    wrong_provider: {
      title: 'Esta resposta chegou ao endereço errado',
      happened: 'A resposta chegou ao endereço de um provedor diferente daquele que foi consultado.',
      todo: 'Nada foi salvo. Volte ao seu aplicativo e comece de novo. Se acontecer outra vez, não continue e avise quem administra este serviço.',
    },
    unknown_login: {
      title: 'Este login não começou aqui',
      happened: 'Ele começou em outro navegador ou há tempo demais, ou já terminou.',
      todo: 'Nada foi salvo. Continue no navegador em que você clicou em “Continuar”, ou abra o link de novo neste. Se alguém enviou este endereço a você, feche esta página.',
    },
    another_user: {
      title: 'Outra pessoa entrou neste navegador',
      happened: 'Este link não foi criado para a pessoa que entrou aqui.',
      todo: 'Nada foi enviado ao provedor, e o link ainda pode ser usado. Se ele é seu, entre com a sua própria conta. Se alguém enviou este link a você, não o use.',
    },
    login_cancelled: {
      title: 'Você não entrou',
      happened: 'O login foi cancelado ou recusado, por isso não é certo que seja você.',
      todo: 'Nada foi salvo, e o link ainda pode ser usado. Para continuar, tente de novo e entre com a sua própria conta. Se você não queria conectar nada, feche esta página.',
    },
    login_unavailable: {
      title: 'Não é possível entrar agora',
      happened: 'Não foi possível contatar o serviço de login, ou ele está com um problema.',
      todo: 'Você não fez nada de errado, e o link ainda pode ser usado. Espere um momento e tente de novo. Se continuar assim, avise quem administra este serviço.',
    },
    login_failed: {
      title: 'O login não funcionou',
      happened: 'O serviço de login respondeu algo que não pôde ser usado.',
      todo: 'Nada foi salvo, e o link ainda pode ser usado. Tente de novo. Se continuar assim, avise quem administra este serviço: o motivo está no registro dele.',
    },
    not_found: {
      title: 'Esta página não existe',
      happened: 'O link está incompleto ou pertence a um pedido que não é mais guardado.',
      todo: 'Verifique se você abriu o link inteiro. Se abriu, peça um novo ao seu aplicativo.',
    },
    opened_elsewhere: {
      title: 'Este link pertence a outro navegador',
      happened: 'O seu aplicativo abriu esta página em outro navegador, não neste.',
      todo: 'Nada foi salvo. Se foi você quem a abriu, continue naquele navegador ou comece de novo a partir do seu aplicativo neste. Se alguém enviou este link a você, feche esta página.',
    },
    session_over: {
      title: 'Este pedido terminou',
      happened: 'O pedido do seu aplicativo terminou ou é antigo demais.',
      todo: 'Volte ao seu aplicativo e comece de novo por lá.',
    },
    other_origin: {
      title: 'Isto não veio do seu aplicativo',
      happened:
        'O pedido veio de um site diferente daquele que o aplicativo indicou, por isso nada foi aberto.',
      todo: 'Volte ao seu aplicativo e comece de novo por lá. Se continuar assim, avise quem administra o aplicativo: a origem permitida da sessão precisa ser a da página dele.',
    },
    foreign_click: {
      title: 'Isto não veio da nossa página',
      happened: 'O clique não veio da página que foi mostrada a você, por isso nada foi feito.',
      todo: 'Abra o link de novo e clique lá.',
    },
    not_set_up: {
      title: 'Não é possível levar você ao provedor',
      happened: 'O provedor não está totalmente configurado aqui.',
      todo: 'Você não fez nada de errado. Mostre esta página a quem administra este serviço.',
    },
    refused_request: {
      title: 'Este pedido não pode ser aceito',
      happened: 'Esta página não entende o pedido.',
      todo: 'Volte ao seu aplicativo e comece de novo.',
    },
    problem: {
      title: 'Algo deu errado',
      happened: 'Não foi possível executar o pedido.',
      todo: 'Tente de novo em um momento. Se continuar assim, avise quem administra este serviço: o motivo está no registro dele.',
    },
  },
}
