import { html } from 'hono/html'
import type { Translation } from '../text.ts'
import type { en } from './en.ts'

export const es: Translation<typeof en> = {
  title: 'En marcha',
  heading: 'Gatepass está en marcha',
  what: 'Pide a los usuarios una sola vez el acceso a sus cuentas, mantiene los tokens vigentes y sellados, y entrega a cada herramienta uno válido en cada llamada.',
  facts: { address: 'Dirección', version: 'Versión', mode: 'Modo' },
  development: 'desarrollo',
  production: 'producción',
  readOn: 'Seguir leyendo',
  console: 'Consola de administración',
  reference: 'Referencia de la API',
  mcp: 'Conectar un cliente MCP',
  openapi: 'Documento OpenAPI',
  health: 'Estado',
  whatNext: 'Próximos pasos',
  terminal:
    'La terminal que inició Gatepass muestra una clave de API y los comandos de una primera prueba, listos para pegar.',
  sample: (tool) =>
    html`Ejecutan la herramienta de ejemplo ${tool}, que necesita una cuenta en el proveedor de pruebas: Gatepass responde con un enlace, tú apruebas y la herramienta se ejecuta con el token.`,
  oneMachine: (command) =>
    html`El modo de desarrollo es para un solo equipo. Para que otras personas lo usen, inicia ${command}.`,
  login: {
    title: 'Iniciar sesión',
    tag: 'Solo para desarrollo',
    heading: '¿Quién eres?',
    unchecked: (setting) =>
      html`Aquí nada comprueba la respuesta. Fuera del desarrollo, los usuarios inician sesión en tu emisor o en la página de tu propia aplicación (${setting}).`,
    refused: 'Escribe un identificador de usuario de 1 a 500 caracteres.',
    userId: 'Identificador de usuario',
    go: 'Continuar',
  },
}
