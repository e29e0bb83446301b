// Deletion for the whole account: features, flags and plans. Every environment loses them.
import { useWho } from '../app/session.js'
import { type Act, useAct } from '../ui/act.js'
import { withCompanyNames } from './company-names.js'

/** Ask before something of the account is deleted. Its name has to be typed where the account has a production environment. */
export function useDelete() {
  const act = useAct()
  const { environments } = useWho()
  const isInProduction = environments.some(one => one.environment_type === 'production')
  return ({
    name,
    verb = 'Delete',
    run,
    ...rest
  }: Pick<Act, 'run' | 'note' | 'leave' | 'differences'> & {
    readonly name: string
    readonly verb?: 'Delete' | 'Archive'
  }) =>
    void act({
      ...rest,
      title: `${verb} ${name}`,
      verb,
      danger: true,
      run: () => run().catch(withCompanyNames),
      ...(isInProduction && { typed: name }),
      done: `${name} was ${verb.toLowerCase()}d`,
    })
}
