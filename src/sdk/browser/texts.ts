/** What the element says: the names are those of its attributes `text-…`. */
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

/** The text in the language of the page; in English where that language has none. */
export function textIn(language: string, name: string): string | undefined {
  return (TEXTS[language.slice(0, 2)] ?? TEXTS.en)?.split('|')[NAMES.indexOf(name)]
}
