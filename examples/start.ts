import { Gatepass } from '@gatepass/sdk'

const ada = new Gatepass().as('ada')
for await (const { name, description } of ada.tools.list()) console.log(name, description)

const profile = await ada.tools.run(
  'Sandbox_Profile',
  { greeting: 'Good morning' },
  {
    consent: ({ url }) => console.log(`Please open ${url} and approve.`),
  },
)
console.log(profile)
