import type { Mutation } from '../mutation.ts'

// What a project may say and show on the pages on which its users decide.

const BRANDING = 'src/features/branding/change-branding.ts'
const CONTRAST = 'src/features/branding/contrast.ts'
const SET = 'features/branding/branding.test.ts'
const REFUSED = 'is refused, and changes nothing'
const SHADES = 'in which links cannot be read'

export const branding: readonly Mutation[] = [
  {
    rows: [],
    fault: 'an application calls itself as a provider of the project',
    file: BRANDING,
    from: 'const known = [...own, ...shipped].find',
    to: 'const known = [...own.slice(0, 0), ...shipped].find',
    test: SET,
    name: REFUSED,
  },
  {
    rows: [],
    fault: 'a provider’s name in other letters is taken',
    file: 'src/domain/look-alike.ts',
    from: "toLatin(toLatin(name).normalize('NFKD'))",
    to: 'toLatin(name)',
    test: SET,
    name: REFUSED,
  },
  {
    rows: [],
    fault: 'links may be in a colour that cannot be read on light pages',
    file: BRANDING,
    from: "if (accent !== undefined && !isReadable(accent, 'light'))",
    to: "if (accent === 'none' && !isReadable(accent, 'light'))",
    test: SET,
    name: SHADES,
  },
  {
    rows: [],
    fault: 'the colour of dark pages is compared with light ones',
    file: BRANDING,
    from: "if (accentDark !== undefined && !isReadable(accentDark, 'dark'))",
    to: "if (accentDark !== undefined && !isReadable(accentDark, 'light'))",
    test: SET,
    name: SHADES,
  },
  {
    rows: [],
    fault: 'links are taken that contrast as little as areas may',
    file: CONTRAST,
    from: 'const LEAST_TEXT_CONTRAST = 4.5',
    to: 'const LEAST_TEXT_CONTRAST = 3',
    test: SET,
    name: SHADES,
  },
  {
    rows: [],
    fault: 'links need to be read on one background of the page alone',
    file: CONTRAST,
    from: 'return BACKGROUNDS[scheme].every',
    to: 'return BACKGROUNDS[scheme].some',
    test: SET,
    name: SHADES,
  },
  {
    rows: [],
    fault: 'the text of a button has the colour that is harder to read',
    file: CONTRAST,
    from: "contrast(background, '#ffffff') >= contrast(background, '#000000')",
    to: "contrast(background, '#ffffff') < contrast(background, '#000000')",
    test: SET,
    name: 'of the text on any button is at least 4.5',
  },
  {
    rows: ['27'],
    fault: 'an image of another kind than it is called is a logo',
    file: 'src/features/branding/logo-image.ts',
    from: 'if (kind !== type)',
    to: 'if (kind === undefined)',
    test: SET,
    name: REFUSED,
  },
  {
    rows: ['29'],
    fault: 'a readonly key changes how the pages look',
    file: 'src/features/branding/operations.ts',
    from: "method: 'patch',\n  path,\n  role: 'admin',",
    to: "method: 'patch',\n  path,\n  role: 'readonly',",
    test: SET,
    name: 'only an administrator of the project changes it',
  },
  {
    rows: ['8'],
    fault: 'everything is served at the domain of a project',
    file: 'src/features/branding/hosts.ts',
    from: 'isOfUsers(new URL(request.url).pathname) ?',
    to: "isOfUsers('/health') ?",
    test: 'features/branding/own-domain.test.ts',
    name: 'only users’ pages are served at the domain',
  },
  {
    rows: [],
    fault: 'the requests of a page with a connect session are refused at the domain of its project',
    file: 'src/features/embed/routes.ts',
    from: "usersPaths: ['/embed/*', CURRENT_PATH, `${CURRENT_PATH}/*`]",
    to: "usersPaths: ['/embed/*']",
    test: 'features/branding/own-domain.test.ts',
    name: 'only users’ pages are served at the domain',
  },
]
