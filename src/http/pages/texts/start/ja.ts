import { html } from 'hono/html'
import type { Translation } from '../text.ts'
import type { en } from './en.ts'

export const ja: Translation<typeof en> = {
  title: '稼働中',
  heading: 'Gatepass は稼働しています',
  what: 'ユーザーのアカウントへのアクセスを一度だけ確認し、トークンを常に有効かつ封印された状態に保ち、ツールの呼び出しごとに有効なトークンを渡します。',
  facts: { address: 'アドレス', version: 'バージョン', mode: 'モード' },
  development: '開発',
  production: '本番',
  readOn: '関連ページ',
  console: '運用コンソール',
  reference: 'API リファレンス',
  mcp: 'MCP クライアントを接続',
  openapi: 'OpenAPI ドキュメント',
  health: '稼働状態',
  whatNext: '次にすること',
  terminal:
    'Gatepass を起動したターミナルに、API キーと、最初に試すコマンドが貼り付けられる形で表示されています。',
  sample: (tool) =>
    html`コマンドはサンプルツール ${tool} を実行します。このツールにはサンドボックスのアカウントが必要です。Gatepass がリンクを返し、あなたが承認すると、ツールがトークンを使って実行されます。`,
  oneMachine: (command) =>
    html`開発モードは 1 台のコンピューターでの利用を想定しています。ほかの人も使えるようにするには、${command} を起動してください。`,
  login: {
    title: 'ログイン',
    tag: '開発専用',
    heading: 'どなたですか？',
    unchecked: (setting) =>
      html`ここでは入力内容は確認されません。開発以外では、ユーザーはお使いの発行者、またはアプリ自身のページでログインします（${setting}）。`,
    refused: '1～500 文字のユーザー ID を入力してください。',
    userId: 'ユーザー ID',
    go: '続ける',
  },
}
