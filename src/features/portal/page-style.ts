import { ownStyle } from '../../http/pages/assets.ts'

export const portalStyle = ownStyle('portal.css', new URL('./portal.css', import.meta.url))
