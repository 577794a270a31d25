import { html } from 'hono/html'
import { plural } from '../plural.ts'
import type { App, Text, Translation } from '../text.ts'
import type { en } from './en.ts'

/** A name has a space on each side of it, the words "your application" have none. */
const of = (app: App): Text => (app === undefined ? '您的应用' : html` ${app} `)

export const zh: Translation<typeof en> = {
  title: '您已连接的账号',
  intro: (app) => html`${of(app)}的工具会代您使用这些账号。您可以随时在此终止。`,
  youAre: (user, app) =>
    app === undefined
      ? html`当前用户：<strong>${user}</strong>。`
      : html`当前用户：${app} 的 <strong>${user}</strong>。`,
  logout: '退出登录',
  backTo: (host) => html`返回 ${host}`,
  none: '没有已连接的账号。',
  isDefault: '默认账号',
  needsYou: '需要您处理',
  reasons: {
    refresh_refused: (provider) => html`${provider} 不再接受此访问权限。`,
    consent_withdrawn: (provider) => html`访问权限已在 ${provider} 被撤销。`,
    token_expired: '访问权限已过期。',
    refresh_token_expired: '访问权限因长期未使用而过期。',
    provider_changed: (provider) => html`与 ${provider} 的连接已重新设置。`,
    refresh_outcome_lost: (provider) => html`${provider} 的一次响应丢失，访问权限也随之失效。`,
    account_changed: (provider) => html`${provider} 返回的是另一个账号。`,
    unreadable: '已保存的访问权限无法再读取。',
  },
  untilReconnected: '在您重新连接之前，工具无法使用此账号。',
  may: '工具可以做什么',
  more: (count) => plural('zh', count, { other: '另外 # 项' }),
  defaults: (provider) => html`${provider} 允许所有应用做的事`,
  undescribed: (scope, provider) => html`使用 ${scope}，含义以 ${provider} 的说明为准`,
  connectedOn: '连接时间',
  lastUsed: '上次使用',
  never: '尚未使用',
  usedBy: '使用它的工具',
  moreTools: (count) => plural('zh', count, { other: '以及另外 # 个工具' }),
  unused: (day) => html`自 ${day} 起未使用。如果不再需要，请断开连接。`,
  removedProvider: '已移除的服务',
  reconnect: '重新连接',
  makeDefault: '设为默认',
  addAccount: (provider) => html`添加另一个 ${provider} 账号`,
  disconnect: '断开连接',
  showMore: '显示更多账号',
  applications: '代您操作的应用',
  applicationsIntro: '这些程序通过 MCP 查看您的工具，并代您调用。',
  unverified: '未经验证',
  applicationMay: {
    call: '它可以查看并调用您的工具。',
    see: '它可以查看您的工具。',
    nothing: '在您再次允许之前，它没有访问权限：它连接时会询问您。',
  },
  allowedOn: '允许时间',
  endAccess: '终止访问',
  removeApplication: '移除',
  endAllAccess: '终止所有应用的访问',
  confirmDisconnect: (provider) => html`断开 ${provider}？`,
  confirmText: (provider, app) =>
    html`${of(app)}的工具将无法再使用此账号。此处保存的访问权限会被删除，我们也会请求 ${provider} 终止它。`,
  keep: '保留',
  notes: {
    disconnected: (provider) => html`${provider} 已断开连接。访问权限在此处和 ${provider} 均已终止。`,
    disconnected_here: (provider) =>
      html`访问权限已在此处删除。${provider} 不支持从这里终止，请同时在您的 ${provider} 账号中终止。`,
    disconnect_unconfirmed: (provider) =>
      html`访问权限已在此处删除。${provider} 未确认终止，请同时在您的 ${provider} 账号中终止。`,
    disconnected_before: '此账号在此处已不再连接。请在该服务的账号中确认访问权限是否也已终止。',
    made_default: (provider) => html`此 ${provider} 账号现已设为默认。`,
    client_ended: (application) => html`${application} 不能再代您操作。`,
    clients_ended: '已没有应用代您操作。',
    connected: '账号已连接。',
    not_connected: '账号未能连接。您可以重试。',
    stale_form: '此页面打开时间过长，因此没有做任何更改。请重试。',
  },
  data: {
    title: '您的数据',
    intro: '查看所保存的与您有关的内容，或将其删除。',
    download: '下载您的数据',
    downloadText: '一个包含您的账号、权限、应用、工具运行和事件记录的文件，不含密码和访问密钥。',
    erase: '全部删除',
    eraseText: '终止所有访问，并删除所保存的与您有关的内容。',
    logInFirst: '执行此操作前，请再次证明是您本人。',
    logIn: '重新登录',
    notAllowed: (app) => html`如需执行此操作，请联系${of(app)}。`,
    back: '返回您的账号',
  },
  erase: {
    title: '全部删除？',
    intro: '此操作无法撤消。',
    points: [
      '所有账号都会断开连接，并请求各服务终止访问。',
      '代您操作的应用将失去访问权限。',
      '工具运行记录会保留，但不含您的姓名、输入和结果；已计划的运行会被取消。',
      '事件记录会保留，因为它经过防篡改封存：其中只有标识和时间，没有内容。',
    ],
    understood: '我要全部删除。',
    button: '全部删除',
    keep: '全部保留',
    done: '已全部删除',
    doneText: '您的账号已断开连接，所保存的与您有关的内容已删除。您已退出登录。',
    unconfirmed: '以下服务未确认访问已终止。请同时在各服务的账号中终止：',
    disconnectedBefore: '部分账号在此之前刚刚断开连接。请在各服务的账号中确认访问权限是否也已终止。',
  },
  enter: {
    title: (user, app) =>
      app === undefined ? html`以 ${user} 的身份继续` : html`以 ${app} 的 ${user} 的身份继续`,
    text: '下一页会显示此人已连接的账号。',
    warning: (app) =>
      html`只有当这是您本人，并且您是从${of(app)}来到这里时，才继续。如果此链接是别人发给您的，请关闭此页面。`,
    button: '继续',
    gone: '此链接已失效',
    goneText: (app) => html`它已被使用或已过期。请从${of(app)}重新打开此页面。`,
  },
  outside: {
    title: '请从您的应用打开此页面',
    text: '您尚未在此登录。您的应用有一个链接，可为您打开此页面。',
    left: '您已退出登录',
    leftText: '请关闭此窗口，或重新打开此页面。',
    again: '登录',
  },
}
