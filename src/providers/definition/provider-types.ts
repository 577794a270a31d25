import { invalidMember } from '../../domain/errors.ts'
import { PROVIDER_TYPES, type Provider, type ProviderType, typeOf } from '../provider.ts'
import { writeCredentials } from './credentials-settings.ts'
import { writeMembers } from './member.ts'
import { writeOAuth1 } from './oauth1-settings.ts'
import { OAUTH2_MEMBERS } from './oauth2-settings.ts'

// Which type of entry a request or a file describes. The type's name is also that of the member with its settings.

type Described = {
  readonly type?: ProviderType | null | undefined
} & { readonly [Type in ProviderType]?: object | null | undefined }

/**
 * The type that was sent, else that of the entry that is changed or of the catalogue, else that of the settings that
 * were sent. Throws `invalid_request` for the settings of another type, and for another type of an existing entry.
 */
export function typeSent(sent: Described, before?: Provider): ProviderType {
  const found = PROVIDER_TYPES.find((type) => sent[type] != null)
  const type = sent.type ?? (before && typeOf(before)) ?? found ?? 'oauth2'
  if (before !== undefined && type !== typeOf(before))
    throw invalidMember(
      'type',
      'conflict',
      `type cannot be ${type}: the provider is of the type ${typeOf(before)}. Make another provider instead.`,
    )
  for (const other of PROVIDER_TYPES)
    if (other !== type && sent[other] != null)
      throw invalidMember(
        other,
        'conflict',
        `${other} has the settings of another type: this provider is of the type ${type}, whose settings are in ${type}.`,
      )
  return type
}

/** The settings of a provider as a definition file has them. */
export function writeDefined(provider: Provider) {
  switch (typeOf(provider)) {
    case 'credentials':
      return { type: 'credentials' as const, credentials: writeCredentials(provider) }
    case 'oauth1':
      return { type: 'oauth1' as const, oauth1: writeOAuth1(provider) }
    case 'oauth2':
      return { oauth2: writeMembers(OAUTH2_MEMBERS, provider) }
  }
}
