import { html } from 'hono/html'
import type { App, Text, Translation } from '../text.ts'
import type { en } from './en.ts'

/** A name has a space after it, the words "your application" have none. */
const first = (app: App): Text => (app === undefined ? 'ご利用のアプリ' : html`${app} `)

export const ja: Translation<typeof en> = {
  title: (provider) => `${provider} と連携`,
  wants: (app, provider) => html`${first(app)}が、あなたの ${provider} アカウントの利用を求めています`,
  forTool: (tool) => html`使用するツール：${tool}`,
  youAre: (user, app) =>
    app === undefined
      ? html`あなたは <strong>${user}</strong> さんです。`
      : html`あなたは ${app} の <strong>${user}</strong> さんです。`,
  forOneUser: (app) => html`このリンクは、${first(app)}の特定のユーザーのために作られました。`,
  notYou: (cancel) => html`ご本人でない場合は<span class="whole">「${cancel}」</span>を選んでください。`,
  askedAgain: 'これまでの連携が使えなくなったため、もう一度お尋ねしています。',
  willBeAbleTo: (app) => html`${first(app)}は次のことができるようになります：`,
  isNew: '新規',
  alreadyAllowed: '許可済み',
  sensitive: '要注意',
  levels: { read: '閲覧のみ', write: '変更可能', admin: '完全な管理' },
  undescribed: (scope, provider) => html`${provider} の説明にある ${scope} を使う`,
  defaults: (provider) => html`${provider} がすべてのアプリに許可していること`,
  details: '技術的な詳細',
  detail: { user: 'ユーザー ID', tool: 'ツール', scopes: 'スコープ', request: 'リクエスト' },
  warning: (app) =>
    html`${first(app)}でたった今ご自身が始めた操作である場合だけ、先に進んでください。誰かからこのリンクが送られてきた場合は、キャンセルしてください。`,
  insideApp:
    'このページは別のアプリの中で開かれています。プロバイダーによってはここでのログインを受け付けません。その場合は、次のアドレスをブラウザーで開いてください。',
  continueTo: (provider) => html`${provider} に進む`,
  cancel: 'キャンセル',
  loginFirst: (host) => html`まず ${host} が開きます。そこでログインしてください。`,
  next: (host, ownPage) =>
    html`次に ${host} が開きます。パスワードはそこでだけ入力してください。アクセスは ${ownPage} で終了できます。`,
  minutesLeft: (minutes) => `このリンクはあと ${minutes} 分有効です。`,
  lessThanAMinute: 'このリンクの有効期限は残り 1 分未満です。',
  stepOf: (step, steps) => `ステップ ${step}／${steps}`,
  stepDone: '、連携済み',
  stepToCome: '、これから',
  suchAs: (example) => html`例：${example}`,
  choose: '選択してください',
  valueMissing: (label) => html`${label} を入力してください。`,
  valueWrong: (label) => html`${label} の形式が正しくありません。`,
  valueWrongLike: (label, example) => html`${label} の形式が正しくありません（例：${example}）。`,
  privacy: 'プライバシー',
  support: 'サポート',
  aRemovedProvider: '削除されたプロバイダー',
}
