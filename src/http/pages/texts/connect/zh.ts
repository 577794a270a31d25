import { html } from 'hono/html'
import type { App, Text, Translation } from '../text.ts'
import type { en } from './en.ts'

/** A name has a space beside it, the words "your application" have none. */
const first = (app: App): Text => (app === undefined ? '您的应用' : html`${app} `)
const inside = (app: App): Text => (app === undefined ? '您的应用' : html` ${app} `)

export const zh: Translation<typeof en> = {
  title: (provider) => `连接 ${provider}`,
  wants: (app, provider) => html`${first(app)}想要使用您的 ${provider} 账号`,
  forTool: (tool) => html`用于 ${tool}`,
  youAre: (user, app) =>
    app === undefined
      ? html`您是 <strong>${user}</strong>。`
      : html`您是 ${app} 的 <strong>${user}</strong>。`,
  forOneUser: (app) => html`此链接是为${inside(app)}的一位用户生成的。`,
  notYou: (cancel) => html`不是您？<span class="whole">请${cancel}。</span>`,
  askedAgain: '由于原有连接已失效，需要再次征求您的同意。',
  willBeAbleTo: (app) => html`${first(app)}将能够：`,
  isNew: '新增',
  alreadyAllowed: '已允许',
  sensitive: '敏感',
  levels: { read: '仅查看', write: '可更改', admin: '完全控制' },
  undescribed: (scope, provider) => html`使用 ${scope}，含义以 ${provider} 的说明为准`,
  defaults: (provider) => html`${provider} 允许任何应用做的事`,
  details: '技术详情',
  detail: { user: '用户 ID', tool: '工具', scopes: '权限范围', request: '请求' },
  warning: (app) => html`仅当您刚刚在${inside(app)}中发起此操作时才继续。如果此链接是别人发给您的，请取消。`,
  insideApp:
    '此页面是在另一个应用中打开的，有些服务会在这里拒绝登录。遇到这种情况时，请在浏览器中打开此地址：',
  continueTo: (provider) => html`前往 ${provider}`,
  cancel: '取消',
  loginFirst: (host) => html`首先会打开 ${host}，请在那里登录。`,
  next: (host, ownPage) => html`接下来会打开 ${host}；请只在那里输入密码。您可以在 ${ownPage} 终止访问。`,
  minutesLeft: (minutes) => `此链接还有 ${minutes} 分钟有效。`,
  lessThanAMinute: '此链接的有效时间不足一分钟。',
  stepOf: (step, steps) => `第 ${step} 步，共 ${steps} 步`,
  stepDone: '，已连接',
  stepToCome: '，待连接',
  suchAs: (example) => html`例如 ${example}`,
  choose: '请选择',
  valueMissing: (label) => html`请填写${label}。`,
  valueWrong: (label) => html`${label} 的格式不正确。`,
  valueWrongLike: (label, example) => html`${label} 的格式不正确，应类似 ${example}。`,
  privacy: '隐私',
  support: '帮助',
  aRemovedProvider: '已移除的服务',
}
