import { html } from 'hono/html'
import type { Translation } from '../text.ts'
import type { en } from './en.ts'

export const zh: Translation<typeof en> = {
  title: '运行中',
  heading: 'Gatepass 正在运行',
  what: '它只需向用户征求一次账号访问许可，使令牌保持有效并加密封存，并在每次调用时为工具提供有效的令牌。',
  facts: { address: '地址', version: '版本', mode: '模式' },
  development: '开发',
  production: '生产',
  readOn: '相关页面',
  console: '管理控制台',
  reference: 'API 参考',
  mcp: '连接 MCP 客户端',
  openapi: 'OpenAPI 文档',
  health: '运行状况',
  whatNext: '接下来怎么做',
  terminal: '启动 Gatepass 的终端会显示 API 密钥和首次运行的命令，可直接粘贴使用。',
  sample: (tool) =>
    html`这些命令会运行示例工具 ${tool}，它需要沙盒服务的账号：Gatepass 返回一个链接，您批准后，工具便使用令牌运行。`,
  oneMachine: (command) => html`开发模式仅供一台计算机使用。如需供他人使用，请启动 ${command}。`,
  login: {
    title: '登录',
    tag: '仅供开发',
    heading: '您是谁？',
    unchecked: (setting) =>
      html`此处不会核实所填内容。在开发之外，用户会在您的签发方或您应用自己的页面登录（${setting}）。`,
    refused: '请输入 1 到 500 个字符的用户 ID。',
    userId: '用户 ID',
    go: '继续',
  },
}
