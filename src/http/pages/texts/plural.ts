type Forms = { readonly other: string } & { readonly [form in Intl.LDMLPluralRule]?: string }

/** The form of a sentence for this number, by the rules of the language (CLDR); `#` becomes the number. */
export function plural(language: string, count: number, forms: Forms): string {
  const form = forms[new Intl.PluralRules(language).select(count)] ?? forms.other
  return form.replace('#', new Intl.NumberFormat(language).format(count))
}
