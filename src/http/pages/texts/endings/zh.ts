import { html } from 'hono/html'
import type { Translation } from '../text.ts'
import type { en } from './en.ts'

const AGAIN = '请返回您的应用重新开始，它会提供新的链接'

export const zh: Translation<typeof en> = {
  isConnected: (provider) => `${provider} 已连接`,
  canNowUse: (app, provider) =>
    html`${app === undefined ? '您的应用' : html`${app} `}现在可以使用您的 ${provider} 账号了。`,
  anotherAccount: (before) => html`此前连接的是 ${before}：该连接会保留，今后将使用此账号。`,
  whatToDo: '接下来怎么做',
  reason: '原因：',
  forOperator: '致本服务的管理者',
  forToolAuthor: '致工具的作者',
  backTo: (app) => (app === undefined ? '返回您的应用' : html`返回 ${app}`),
  tryAgain: '重试',
  startAgainAt: (provider) => html`在 ${provider} 重新开始`,
  lookAgain: '再次查看',
  logInAsYourself: '用自己的账号登录',
  closeWindow: '关闭此窗口',
  closesItself: '此窗口会自动关闭。如果没有关闭，请手动关闭并返回您的应用。',
  facts: {
    provider: '服务',
    account: '账号',
    notGranted: '未授予',
    askedBy: '请求方',
    user: '用户',
  },
  failures: {
    access_denied: {
      title: '访问未获批准',
      happened: '请求已被取消，或在对方服务处被拒绝。',
      todo: `没有保存任何内容。如果您并非有意拒绝，${AGAIN}。`,
    },
    expired: {
      title: '此链接已过期',
      happened: '链接未在有效时间内使用。',
      todo: `如仍要连接，${AGAIN}。收到后请尽快打开。`,
    },
    user_mismatch: {
      title: '此链接是给别人的',
      happened: '当前登录的人不是此链接所针对的用户。',
      todo: '没有保存任何内容。如果此链接是别人发给您的，请不要使用。如果确实属于您，请用自己的账号登录，并向您的应用索取新的链接。',
    },
    issuer_mismatch: {
      title: '响应来自其他地方',
      happened: '响应并非来自所请求的服务，因此未被使用。',
      todo: '没有保存任何内容。请返回您的应用重新开始。如果再次发生，请不要继续，并告知本服务的管理者。',
    },
    invalid_scope: {
      title: '这些权限不可用',
      happened: '对方服务不提供所请求的权限。',
      todo: '重新开始没有用。请告知本服务的管理者：需要修改工具或服务配置中的权限。',
    },
    invalid_client: {
      title: '本服务未正确注册',
      happened: '对方服务不接受本服务的注册信息。',
      todo: '您没有做错什么。请告知本服务的管理者：需要更正服务配置中的客户端 ID、密钥或重定向 URI。',
    },
    invalid_grant: {
      title: '批准已失效',
      happened: '对方服务未接受它刚刚给出的批准。',
      todo: `返回耗时过长或被使用两次时会出现这种情况。如要再试一次，${AGAIN}。`,
    },
    provider_refused: {
      title: '对方服务拒绝了请求',
      happened: '对方服务拒绝了请求。',
      todo: '请返回您的应用重新开始。如果问题依旧，请告知本服务的管理者，并说明下方的原因。',
    },
    provider_bad_response: {
      title: '对方服务的响应无法使用',
      happened: '对方服务返回了无法使用的内容。',
      todo: '请返回您的应用重新开始。如果问题依旧，请告知本服务的管理者，并说明下方的原因。',
    },
    provider_unavailable: {
      title: '对方服务不可用',
      happened: '无法连接到对方服务，或对方服务自身出现问题。',
      todo: `您没有做错什么。请等待几分钟，然后${AGAIN}。`,
    },
    provider_changed: {
      title: '服务的设置已更改',
      happened: '在此期间服务的设置已被修改，因此响应未被使用。',
      todo: `如要按新设置连接，${AGAIN}。`,
    },
    account_mismatch: {
      title: '批准的是另一个账号',
      happened: '给出批准的账号不是所请求的账号。',
      todo: `没有保存任何内容。如要连接正确的账号，${AGAIN}，并在对方服务处选择该账号。`,
    },
  },
  kinds: {
    completed: {
      title: '已连接',
      happened: '访问已获批准。',
      todo: '您可以关闭此窗口，返回您的应用。',
    },
    failed: {
      title: '未连接',
      happened: '无法连接该账号。',
      todo: `如要再试一次，${AGAIN}。`,
    },
    working: {
      title: '正在完成…',
      happened: '已收到您的批准，正在处理。',
      todo: '请稍候片刻。',
    },
    waiting_for_confirmation: {
      title: '正在等待您的应用',
      happened: '已收到您的批准。您的应用正在确认是您本人。',
      todo: '请在您的应用中继续；如有要求，请在那里登录。在此之前不会保存任何内容。如果应用的页面已不在，请重新开始。',
    },
    confirmed: {
      title: '请在您的应用中继续',
      happened: '您的应用已确认是您本人批准，并会从它自己的页面带您继续。',
      todo: '请在您的应用中继续。在此之前不会保存任何内容。如果应用的页面已不在，请重新开始。',
    },
    confirmed_elsewhere: {
      title: '批准是在另一个浏览器中进行的',
      happened: '您的应用已确认是您本人，但“前往”按钮是在另一个浏览器中点击的。',
      todo: '没有保存任何内容。如果是您点击的，请在此浏览器中重新打开链接并从这里开始。如果此网址是别人发给您的，请关闭此页面：被批准的不是您的账号。',
    },
    wrong_browser: {
      title: '请在另一个浏览器中继续',
      happened: '打开对方服务响应的浏览器，不是您点击“前往”按钮的那一个。',
      todo: '没有保存任何内容。请回到您点击按钮的浏览器，或在此浏览器中重新打开链接并从这里开始。',
    },
    held_elsewhere: {
      title: '操作正在另一个浏览器中进行',
      happened: '“前往”按钮是在另一个浏览器中点击的，因此未能在此处取消请求。',
      todo: '没有更改任何内容。如果是您点击的，请在那里取消。如果不是，请关闭此页面并告知您的应用：有其他人持有此链接。',
    },
    unknown_state: {
      title: '此响应不属于任何进行中的请求',
      happened: '请求已被更新的点击取代、已经结束，或从未存在。',
      todo: `没有保存任何内容。如果您有更新的窗口，请在那里继续。否则，${AGAIN}。`,
    },
    wrong_provider: {
      title: '此响应到达了错误的地址',
      happened: '响应到达的是另一个服务的地址，而不是所请求的服务。',
      todo: '没有保存任何内容。请返回您的应用重新开始。如果再次发生，请不要继续，并告知本服务的管理者。',
    },
    unknown_login: {
      title: '此登录不是从这里开始的',
      happened: '它是在另一个浏览器中或很久以前开始的，或者已经结束。',
      todo: '没有保存任何内容。请在您点击“前往”按钮的浏览器中继续，或在此浏览器中重新打开链接。如果此网址是别人发给您的，请关闭此页面。',
    },
    another_user: {
      title: '您以另一位用户的身份登录',
      happened: '此链接不是为当前登录的用户生成的。',
      todo: '没有向对方服务发送任何内容，链接仍可使用。如果链接属于您，请用自己的账号登录。如果此链接是别人发给您的，请不要使用。',
    },
    login_cancelled: {
      title: '您尚未登录',
      happened: '登录被取消或拒绝，因此无法确定是您本人。',
      todo: '没有保存任何内容，链接仍可使用。如要继续，请重试并用自己的账号登录。如果您不打算连接任何账号，请关闭此页面。',
    },
    login_unavailable: {
      title: '目前无法登录',
      happened: '无法连接到登录服务，或登录服务自身出现问题。',
      todo: '您没有做错什么，链接仍可使用。请稍候再试。如果问题依旧，请告知本服务的管理者。',
    },
    login_failed: {
      title: '登录失败',
      happened: '登录服务返回了无法使用的内容。',
      todo: '没有保存任何内容，链接仍可使用。请重试。如果问题依旧，请告知本服务的管理者：原因记录在日志中。',
    },
    not_found: {
      title: '此页面不存在',
      happened: '链接不完整，或其所属的请求已不再保留。',
      todo: '请检查您打开的是否是完整的链接。如果是，请返回您的应用索取新的链接。',
    },
    opened_elsewhere: {
      title: '此链接属于另一个浏览器',
      happened: '您的应用是在另一个浏览器中打开此页面的，而不是在此浏览器中。',
      todo: '没有保存任何内容。如果是您本人打开的，请在那个浏览器中继续，或在此浏览器中从您的应用重新开始。如果此链接是别人发给您的，请关闭此页面。',
    },
    session_over: {
      title: '此请求已结束',
      happened: '您的应用的请求已结束，或发出的时间太久。',
      todo: '请返回您的应用，在那里重新开始。',
    },
    other_origin: {
      title: '这不是来自您的应用',
      happened: '该请求来自另一个网站，而不是应用所指定的网站，因此没有打开任何内容。',
      todo: '请返回您的应用，在那里重新开始。如果仍然如此，请告知应用的管理者：会话允许的来源必须是其页面的来源。',
    },
    foreign_click: {
      title: '此操作并非来自我们的页面',
      happened: '点击并非来自向您显示的页面，因此未执行任何操作。',
      todo: '请重新打开链接，并在那里点击。',
    },
    not_set_up: {
      title: '无法将您转到对方服务',
      happened: '对方服务在这里尚未配置完整。',
      todo: '您没有做错什么。请将此页面出示给本服务的管理者。',
    },
    refused_request: {
      title: '无法接受此请求',
      happened: '此页面无法理解该请求。',
      todo: '请返回您的应用重新开始。',
    },
    problem: {
      title: '出了点问题',
      happened: '请求未能完成。',
      todo: '请稍候再试。如果问题依旧，请告知本服务的管理者：原因记录在日志中。',
    },
  },
}
