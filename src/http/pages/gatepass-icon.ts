/** A gate with a keyhole; also the favicon, hence a colour that stands on light and dark. */
export const gatepassIcon = `<svg xmlns="http://www.w3.org/2000/svg" width="24" height="24" viewBox="0 0 24 24" fill="none" stroke="#1b87c0" stroke-width="2" stroke-linecap="round" stroke-linejoin="round"><path d="M4 21V11a8 8 0 0 1 16 0v10z"/><circle cx="12" cy="12" r="2"/><path d="M12 14v3"/></svg>`
