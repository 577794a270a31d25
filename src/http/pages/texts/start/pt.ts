import { html } from 'hono/html'
import type { Translation } from '../text.ts'
import type { en } from './en.ts'

export const pt: Translation<typeof en> = {
  title: 'Em execução',
  heading: 'O Gatepass está em execução',
  what: 'Ele pede aos usuários uma única vez o acesso às contas deles, mantém os tokens válidos e selados e entrega um token válido a cada ferramenta em cada chamada.',
  facts: { address: 'Endereço', version: 'Versão', mode: 'Modo' },
  development: 'desenvolvimento',
  production: 'produção',
  readOn: 'Leia mais',
  console: 'Console de administração',
  reference: 'Referência da API',
  mcp: 'Conectar um cliente MCP',
  openapi: 'Documento OpenAPI',
  health: 'Estado',
  whatNext: 'Próximos passos',
  terminal:
    'O terminal que iniciou o Gatepass mostra uma chave de API e os comandos de um primeiro teste, prontos para colar.',
  sample: (tool) =>
    html`Eles executam a ferramenta de exemplo ${tool}, que precisa de uma conta no provedor de testes: o Gatepass responde com um link, você aprova e a ferramenta é executada com o token.`,
  oneMachine: (command) =>
    html`O modo de desenvolvimento é para uma única máquina. Para que outras pessoas o usem, inicie ${command}.`,
  login: {
    title: 'Entrar',
    tag: 'Somente para desenvolvimento',
    heading: 'Quem é você?',
    unchecked: (setting) =>
      html`Nada verifica a resposta aqui. Fora do desenvolvimento, os usuários entram no seu emissor ou na página do seu próprio aplicativo (${setting}).`,
    refused: 'Informe um ID de usuário de 1 a 500 caracteres.',
    userId: 'ID de usuário',
    go: 'Continuar',
  },
}
