import { html } from 'hono/html'
import type { Translation } from '../text.ts'
import type { en } from './en.ts'

export const zh: Translation<typeof en> = {
  title: '允许应用',
  wants: (client) => html`${client === undefined ? '某个应用' : html`${client} `}想要使用您的工具`,
  loggedInAs: (user) => html`当前登录用户：<strong>${user}</strong>`,
  may: '它可以做什么',
  call: '查看您的工具，并使用您已连接的账号代您调用',
  see: '查看您的工具，但不调用',
  allTools: '此服务器为您提供的所有工具',
  toolset: (toolset) => html`仅限工具集 <strong>${toolset}</strong> 中的工具`,
  whoAsks: '请求方',
  facts: { application: '应用', identity: '身份', leadsTo: '返回到' },
  unverified: '未经验证：它自行注册，名称由它自己选定',
  verified: (host) => html`已验证：<strong>${host}</strong>`,
  program: (host) => html`此计算机上的程序（${host}）`,
  installed: (scheme) => html`此设备上的应用（${scheme}）`,
  warnOfHost: (host) => html`仅当您刚刚亲自在 <strong>${host}</strong> 的应用中添加了此服务器时才允许。`,
  warnOfProgram:
    '此计算机上的任何程序都可以用任意名称获得此访问权限。仅当您刚刚亲自发起此连接时才允许。如果本页面的链接是别人发给您的，请取消。',
  allow: '允许',
  logInAsAnother: '以其他用户登录',
  endLater: (page) => html`您可以随时在 ${page} 终止访问。应用永远不会看到您账号的密码和访问密钥。`,
  none: '没有已连接的应用。',
  refusals: {
    session_not_found: {
      title: '此登录已过期',
      happened: '它开始的时间太久、是在另一个浏览器中开始的，或者已经结束。',
    },
    temporarily_unavailable: {
      title: '正在进行的登录过多',
      happened: '请稍候再试。',
    },
    too_many_clients: {
      title: '您允许的应用过多',
      happened: '请在 /me/clients 终止不再使用的应用的访问。',
    },
    invalid_client: {
      title: '此应用在这里未注册',
      happened: '它从未在这里注册，或其注册已过期。',
    },
    client_document: {
      title: '无法识别此应用',
      happened: '无法读取它的说明。',
    },
    invalid_redirect_uri: {
      title: '无法接受该应用的请求',
      happened: '应用要求返回到一个它未注册的地址。',
    },
    other: {
      title: '无法接受该应用的请求',
      happened: '应用发送的请求无效，因此没有将您带回应用。',
    },
  },
  refusedTodo: '请返回应用重新连接。如果问题依旧，请从应用中移除此服务器，然后重新添加。',
  unreadAt: (host) => html`该应用的说明位于 <strong>${host}</strong>，但此服务器无法读取。`,
  unreadTodo: () =>
    html`请一分钟后重试。如果问题依旧，请告知此服务器的管理者：服务器可能无法访问该地址。设置 <code>GATEPASS_MCP_<wbr>CLIENT_<wbr>DOCUMENTS=off</code> 后，应用会改为自行注册；然后请从应用中移除此服务器，并重新添加。`,
  wantsYouAt: (host) => html`应用想要将您带到 <strong>${host}</strong>。`,
  goThere: '如果您认识该地址，可前往',
}
