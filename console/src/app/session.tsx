// Who is signed in, the environments they may see, and the dialog that lets them in again without losing the page.
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { createContext, type ReactNode, useContext, useEffect, useState } from 'react'
import { SignInForm } from '../screens/sign-in.js'
import { Failure, troubleOf } from '../ui/basics.js'
import { Dialog } from '../ui/dialog.js'
import { api, isPassing, onSignedOut, Refused, readSession, type Schemas } from './api.js'

export type WhoAmI = Schemas['WhoAmI']
export type Environment = Schemas['Environment']

interface SessionContext {
  readonly who: WhoAmI
}

const Context = createContext<SessionContext | null>(null)

/** The person or key that is signed in. */
export function useWho(): WhoAmI {
  return useContext(Context)!.who
}

const ranks = ['viewer', 'support', 'editor', 'admin']

/** What the signed-in may do in an environment: `write`, `support` (overrides and grants), `admin`. */
export function useMay(environmentId: string): { write: boolean; support: boolean; admin: boolean } {
  const { account_member: member, scopes, readonly } = useWho()
  if (member) {
    const rank = ranks.indexOf(member.console_roles[environmentId] ?? member.console_roles['*'] ?? '')
    return { support: rank >= 1, write: rank >= 2, admin: rank >= 3 }
  }
  const write = !readonly && (scopes.includes('write') || scopes.includes('admin'))
  return { write, support: write, admin: scopes.includes('admin') }
}

/** Shows the sign-in page until somebody is signed in; later a dialog over the page, which keeps all typed text. */
export function SessionGate({ children }: { readonly children: ReactNode }) {
  const queries = useQueryClient()
  const [ended, setEnded] = useState(false)
  const who = useQuery({
    queryKey: ['whoami'],
    queryFn: async () => {
      // asked first, as it refuses nobody: a browser logs every refusal as an error
      const { signed_in } = await readSession()
      if (signed_in === null) throw new Refused(401, 'Sign in')
      return api.get('/whoami', { environment: null })
    },
    retry: (_, error) => isPassing(error),
    staleTime: 60_000,
  })
  useEffect(() => onSignedOut(() => setEnded(true)), [])
  const entered = () => {
    setEnded(false)
    void queries.invalidateQueries()
  }
  const trouble = troubleOf(who)
  if (!who.data)
    return trouble && isPassing(trouble) ? (
      <main className="mx-auto max-w-xl p-6">
        <h1 className="mb-3 text-2xl font-semibold">Tollgate</h1>
        <Failure error={trouble} retry={() => void who.refetch()} />
      </main>
    ) : who.isPending ? (
      <p className="p-8 text-muted" role="status">
        Loading
      </p>
    ) : (
      <SignInForm onDone={() => void who.refetch().then(() => setEnded(false))} />
    )
  return (
    <Context.Provider value={{ who: who.data }}>
      {children}
      <Dialog open={ended} title="Your session has ended" onClose={() => setEnded(false)}>
        <p className="mb-4 text-muted">Sign in again: nothing that you typed is lost.</p>
        <SignInForm embedded onDone={entered} />
      </Dialog>
    </Context.Provider>
  )
}
