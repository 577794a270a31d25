import { html } from 'hono/html'
import { plural } from '../plural.ts'
import type { App, Text, Translation } from '../text.ts'
import type { en } from './en.ts'

/** A name has a space on each side of it, the words "your application" have none. */
const of = (app: App): Text => (app === undefined ? 'ご利用のアプリ' : html` ${app} `)

export const ja: Translation<typeof en> = {
  title: '連携済みのアカウント',
  intro: (app) =>
    html`${of(app)}のツールが、あなたに代わってこれらのアカウントを使います。連携はここからいつでも終了できます。`,
  youAre: (user, app) =>
    app === undefined
      ? html`<strong>${user}</strong> さんとして表示しています。`
      : html`${app} の <strong>${user}</strong> さんとして表示しています。`,
  logout: 'ログアウト',
  backTo: (host) => html`${host} に戻る`,
  none: '連携済みのアカウントはありません。',
  isDefault: '既定のアカウント',
  needsYou: '対応が必要です',
  reasons: {
    refresh_refused: (provider) => html`${provider} がこのアクセスを受け付けなくなりました。`,
    consent_withdrawn: (provider) => html`${provider} でアクセスが取り消されました。`,
    token_expired: 'アクセスの有効期限が切れました。',
    refresh_token_expired: '長い間使われなかったため、アクセスの有効期限が切れました。',
    provider_changed: (provider) => html`${provider} との連携の設定が変更されました。`,
    refresh_outcome_lost: (provider) => html`${provider} からの応答が失われ、アクセスも失われました。`,
    account_changed: (provider) => html`${provider} が別のアカウントについて応答しました。`,
    unreadable: '保存されているアクセスを読み取れなくなりました。',
  },
  untilReconnected: 'もう一度連携するまで、ツールはこのアカウントを使えません。',
  may: 'ツールができること',
  more: (count) => plural('ja', count, { other: 'ほか # 件' }),
  defaults: (provider) => html`${provider} がすべてのアプリに許可していること`,
  undescribed: (scope, provider) => html`${provider} の説明にある ${scope} を使う`,
  connectedOn: '連携日',
  lastUsed: '最終使用',
  never: 'まだありません',
  usedBy: '使用したツール',
  moreTools: (count) => plural('ja', count, { other: 'ほか # 個のツール' }),
  unused: (day) => html`${day}から使われていません。不要であれば連携を解除してください。`,
  removedProvider: '削除されたサービス',
  reconnect: 'もう一度連携',
  makeDefault: '既定にする',
  addAccount: (provider) => html`${provider} のアカウントを追加`,
  disconnect: '連携を解除',
  showMore: 'ほかのアカウントを表示',
  applications: 'あなたに代わって動作するアプリ',
  applicationsIntro: 'これらのプログラムは MCP を通じてあなたのツールを表示し、代わりに実行します。',
  unverified: '未確認',
  applicationMay: {
    call: 'あなたのツールを表示し、実行できます。',
    see: 'あなたのツールを表示できます。',
    nothing: '再び許可するまでアクセスできません。次に接続するときに確認されます。',
  },
  allowedOn: '許可した日',
  endAccess: 'アクセスを終了',
  removeApplication: '削除',
  endAllAccess: 'すべてのアクセスを終了',
  confirmDisconnect: (provider) => html`${provider} との連携を解除しますか？`,
  confirmText: (provider, app) =>
    html`${of(app)}のツールは、このアカウントを使えなくなります。保存されているアクセスはここで削除され、${provider} にも終了を依頼します。`,
  keep: '連携したままにする',
  notes: {
    disconnected: (provider) =>
      html`${provider} との連携を解除しました。アクセスはここでも ${provider} でも終了しました。`,
    disconnected_here: (provider) =>
      html`アクセスはここでは削除されました。${provider} にはここから終了を依頼できないため、${provider} のアカウントでも終了してください。`,
    disconnect_unconfirmed: (provider) =>
      html`アクセスはここでは削除されました。${provider} から終了の確認が得られなかったため、${provider} のアカウントでも終了してください。`,
    disconnected_before:
      'このアカウントはここではもう連携されていません。サービスのアカウントでもアクセスが終了しているか確認してください。',
    made_default: (provider) => html`この ${provider} のアカウントを既定にしました。`,
    client_ended: (application) => html`${application} は、あなたに代わって動作できなくなりました。`,
    clients_ended: 'あなたに代わって動作するアプリはなくなりました。',
    connected: 'アカウントを連携しました。',
    not_connected: 'アカウントは連携されませんでした。もう一度お試しいただけます。',
    stale_form: 'このページは長い間開かれていたため、何も変更されていません。もう一度お試しください。',
  },
  data: {
    title: 'あなたのデータ',
    intro: '保存されている内容を確認したり、削除したりできます。',
    download: 'データをダウンロード',
    downloadText:
      'アカウント、権限、アプリ、ツールの実行、これまでの記録を含むファイルです。パスワードやアクセスキーは含まれません。',
    erase: 'すべて削除',
    eraseText: 'すべてのアクセスを終了し、あなたについて保存されている内容を削除します。',
    logInFirst: 'この操作には、もう一度ご本人であることの確認が必要です。',
    logIn: 'もう一度ログイン',
    notAllowed: (app) => html`この操作については、${of(app)}にお問い合わせください。`,
    back: 'アカウントに戻る',
  },
  erase: {
    title: 'すべて削除しますか？',
    intro: 'この操作は取り消せません。',
    points: [
      'すべてのアカウントの連携を解除し、各サービスにアクセスの終了を依頼します。',
      'あなたに代わって動作するアプリは、アクセスを失います。',
      'ツールの実行は、あなたの名前、入力、結果を除いて残ります。予定されている実行は取り消されます。',
      'これまでの記録は、改ざんを防ぐために封印されているため残ります。ID と時刻だけが含まれ、内容は含まれません。',
    ],
    understood: 'すべて削除します。',
    button: 'すべて削除',
    keep: '何も削除しない',
    done: 'すべて削除しました',
    doneText:
      'アカウントの連携を解除し、あなたについて保存されていた内容を削除しました。ログアウトしました。',
    unconfirmed:
      '次のサービスからは、アクセス終了の確認が得られませんでした。各サービスのアカウントでも終了してください。',
    disconnectedBefore:
      '一部のアカウントは、直前にすでに連携が解除されていました。各サービスのアカウントでもアクセスが終了しているか確認してください。',
  },
  enter: {
    title: (user, app) =>
      app === undefined ? html`${user} さんとして続ける` : html`${app} の ${user} さんとして続ける`,
    text: '次のページには、この方の連携済みアカウントが表示されます。',
    warning: (app) =>
      html`ご本人であり、${of(app)}からここに来た場合にのみ続けてください。誰かからこのリンクが送られてきた場合は、このページを閉じてください。`,
    button: '続ける',
    gone: 'このリンクは無効になりました',
    goneText: (app) =>
      html`すでに使われたか、有効期限が切れています。${of(app)}からもう一度ページを開いてください。`,
  },
  outside: {
    title: 'ご利用のアプリからこのページを開いてください',
    text: 'ここではログインしていません。ご利用のアプリに、このページを開くリンクがあります。',
    left: 'ログアウトしました',
    leftText: 'このウィンドウを閉じるか、もう一度ページを開いてください。',
    again: 'ログイン',
  },
}
