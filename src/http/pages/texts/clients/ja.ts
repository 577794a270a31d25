import { html } from 'hono/html'
import type { Translation } from '../text.ts'
import type { en } from './en.ts'

export const ja: Translation<typeof en> = {
  title: 'アプリを許可',
  wants: (client) =>
    html`${client === undefined ? 'あるアプリ' : html`${client} `}が、あなたのツールの利用を求めています`,
  loggedInAs: (user) => html`<strong>${user}</strong> さんとしてログインしています`,
  may: 'このアプリができること',
  call: 'あなたのツールを表示し、連携済みのアカウントを使って代わりに実行する',
  see: 'あなたのツールを表示する（実行はしない）',
  allTools: 'このサーバーがあなたに提供するすべてのツール',
  toolset: (toolset) => html`ツールセット <strong>${toolset}</strong> のツールのみ`,
  whoAsks: '依頼元',
  facts: { application: 'アプリ', identity: '身元', leadsTo: '戻り先' },
  unverified: '未確認：自分で選んだ名前で、自ら登録したアプリです',
  verified: (host) => html`確認済み：<strong>${host}</strong>`,
  program: (host) => html`このコンピューター上のプログラム（${host}）`,
  installed: (scheme) => html`このデバイス上のアプリ（${scheme}）`,
  warnOfHost: (host) =>
    html`たった今ご自身で <strong>${host}</strong> のアプリにこのサーバーを追加した場合だけ、許可してください。`,
  warnOfProgram:
    'このコンピューター上のどのプログラムも、任意の名前でこのアクセスを受け取れます。たった今ご自身で接続を始めた場合だけ、許可してください。誰かからこのページへのリンクが送られてきた場合は、キャンセルしてください。',
  allow: '許可',
  logInAsAnother: '別のユーザーでログイン',
  endLater: (page) =>
    html`アクセスは ${page} でいつでも終了できます。アカウントのパスワードやアクセスキーがアプリに渡ることはありません。`,
  none: '許可しているアプリはありません。',
  refusals: {
    session_not_found: {
      title: 'このログインは期限切れです',
      happened: '時間が経ちすぎているか、別のブラウザーで始められたか、すでに終わっています。',
    },
    temporarily_unavailable: {
      title: 'ログインが混み合っています',
      happened: '少し待ってから、もう一度お試しください。',
    },
    too_many_clients: {
      title: '許可したアプリが多すぎます',
      happened: '/me/clients で、使わなくなったアプリのアクセスを終了してください。',
    },
    invalid_client: {
      title: 'このアプリは登録されていません',
      happened: 'ここに登録されたことがないか、登録の有効期限が切れています。',
    },
    client_document: {
      title: 'このアプリを確認できません',
      happened: 'アプリの説明を読み取れませんでした。',
    },
    invalid_redirect_uri: {
      title: 'アプリのリクエストを受け付けられません',
      happened: 'アプリが、登録していないアドレスへの移動を求めています。',
    },
    other: {
      title: 'アプリのリクエストを受け付けられません',
      happened: 'アプリのリクエストが正しくないため、アプリには戻りませんでした。',
    },
  },
  refusedTodo:
    'アプリに戻って、もう一度接続してください。続く場合は、アプリからこのサーバーを削除し、追加し直してください。',
  unreadAt: (host) =>
    html`アプリの説明は <strong>${host}</strong> にありますが、このサーバーはそれを読み取れませんでした。`,
  unreadTodo: () =>
    html`1 分ほど待ってから、もう一度お試しください。続く場合は、このサーバーの管理者にお知らせください。サーバーがそのアドレスに接続できない可能性があります。設定 <code>GATEPASS_MCP_<wbr>CLIENT_<wbr>DOCUMENTS=off</code> にすると、アプリは代わりに自分で登録します。その後、アプリからこのサーバーを削除し、追加し直してください。`,
  wantsYouAt: (host) => html`アプリは <strong>${host}</strong> への移動を求めています。`,
  goThere: 'ご存じのアドレスであれば、移動する',
}
