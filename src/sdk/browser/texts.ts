/** The names of the element's texts, as in its attributes `text-…`: each line of `TEXTS` has them in this order. */
const NAMES = ['waiting', 'again', 'cancel', 'completed', 'failed']

const TEXTS: Readonly<Record<string, string>> = {
  en: 'Go on in the other window.|Open again|Cancel|Connected|Not connected',
  de: 'Weiter im anderen Fenster.|Neu öffnen|Abbrechen|Verbunden|Nicht verbunden',
  fr: 'Continuez dans l’autre fenêtre.|Rouvrir|Annuler|Connecté|Non connecté',
  es: 'Sigue en la otra ventana.|Reabrir|Cancelar|Conectado|No conectado',
  pt: 'Continue na outra janela.|Reabrir|Cancelar|Conectado|Não conectado',
  ja: '別のウィンドウで続けてください|もう一度開く|中止|接続しました|未接続です',
  zh: '请在另一窗口继续|重新打开|取消|已连接|未连接',
}

/** Returns the text in a language, such as `de` or `de-AT`; in English for a language without texts. */
export function textIn(language: string, name: string): string | undefined {
  return (TEXTS[language.slice(0, 2)] ?? TEXTS.en)?.split('|')[NAMES.indexOf(name)]
}
